/**
 * @file group.hpp
 * The rows of more than two ranks: pairs of ranks at once, one rank that answers several, and exchanges with
 * neighbours.
 */
#pragma once

#include "twosided/pair.hpp"

namespace rma::bench {

inline constexpr std::array<std::size_t, 3> kGroupSizes = {8, 4096, 65536};

/** The first half of the ranks sends to the second half, each rank to one, all at the same time. */
inline void pairs_suite(MpiMeasure& measure) {
  const MpiMember& member = measure.backend();
  const int pairs = member.size() / 2;
  if (pairs < 2) return;
  Link link;
  if (member.rank() < 2 * pairs) {
    link.first = member.rank() < pairs;
    link.partner = link.first ? member.rank() + pairs : member.rank() - pairs;
    link.source = link.partner;
  }
  const Memory memory(kGroupSizes.back());
  for (const std::size_t bytes : kGroupSizes) {
    const RowName name{"pairs", "twosided pairs " + size_text(bytes) + " " + ranks_text(2 * pairs), "",
                       bytes};
    const Messages messages(link, bytes, memory.sent(bytes, false), memory.received(bytes, false));
    Stream stream(messages, kWindow);
    if (!measure.agree(name, stream.is_right(member.rank()))) continue;
    measure.together(
        name, [&](std::size_t) { stream(); }, stream.operations() * static_cast<std::size_t>(pairs));
  }
}

/** Rank 0 gets a message from each of its peers in turn, and answers it. The others wait. */
class Answers {
 public:
  Answers(const MpiMember& member, const Memory& memory, int peers, std::size_t bytes)
      : rank_(member.rank()) {
    const auto add = [&](int partner) {
      const Link link{MPI_COMM_WORLD, partner, partner, rank_ != 0};
      exchanges_.emplace_back(
          Messages(link, bytes, memory.sent(bytes, false), memory.received(bytes, false)));
    };
    if (rank_ == 0) {
      for (int peer = 1; peer <= peers; ++peer) add(peer);
    } else if (rank_ <= peers) {
      add(0);
    }
  }
  void operator()() {
    for (PingPong& exchange : exchanges_) exchange();
  }
  bool is_right() {
    bool right = true;
    for (PingPong& exchange : exchanges_) right = exchange.is_right(rank_) && right;
    return right;
  }

 private:
  int rank_;
  std::vector<PingPong> exchanges_;
};

/** The plain row of such a job has one peer, so that only the number of active peers differs. */
inline void peers_suite(MpiMeasure& measure) {
  const MpiMember& member = measure.backend();
  const int most = member.size() - 1;
  if (most < 2) return;
  const Memory memory(kGroupSizes.back());
  for (const std::size_t bytes : kGroupSizes) {
    for (const int peers : {1, most}) {
      const RowName name{"peers",
                         "twosided latency " + size_text(bytes) + " of " + std::to_string(peers) +
                             (peers == 1 ? " peer" : " peers"),
                         "", bytes};
      Answers answers(member, memory, peers, bytes);
      if (!measure.agree(name, answers.is_right())) continue;
      measure.together(
          name, [&](std::size_t) { answers(); }, 2 * static_cast<std::size_t>(peers));
    }
  }
}

/** Every rank sends to the next one and receives from the one before. */
inline void exchange_suite(MpiMeasure& measure) {
  const MpiMember& member = measure.backend();
  const int rank = member.rank();
  const int next = (rank + 1) % member.size();
  const int before = (rank + member.size() - 1) % member.size();
  const Memory memory(kGroupSizes.back());
  for (const std::size_t bytes : kGroupSizes) {
    Rotation sent = memory.sent(bytes, false);
    Rotation received = memory.received(bytes, false);
    const RowName name{"exchange", "twosided exchange " + size_text(bytes) + " " + ranks_text(member.size()),
                       "", bytes};
    const int count = static_cast<int>(bytes);
    const auto exchange = [&](std::size_t) {
      MPI_Sendrecv(sent.next(), count, MPI_BYTE, next, kTag, received.next(), count, MPI_BYTE, before, kTag,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    };
    sent.fill(1, rank);
    received.clear(1);
    exchange(0);
    if (measure.agree(name, received.holds(1, before))) measure.together(name, exchange);
  }
}

}  // namespace rma::bench
