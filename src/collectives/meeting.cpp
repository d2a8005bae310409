#include "collectives/meeting.hpp"

#include <new>

#include "collectives/mail_block.hpp"

namespace rma {
namespace {

/// The acquire pairs with the release in Carrier::put.
std::uint64_t read(std::uint64_t& word) {
  return std::atomic_ref<std::uint64_t>(word).load(std::memory_order_acquire);
}

/// Returns the verdict that says more about one team. A member that cannot take part (any code but
/// RMA_ERR_PEER_LOST) fails the meeting for all members, so that verdict takes precedence over
/// RMA_ERR_PEER_LOST.
Verdict worse(const Verdict& one, const Verdict& other) {
  if (one.ok() || (one.code == RMA_ERR_PEER_LOST && !other.ok())) return other;
  return one;
}

}  // namespace

Meeting::Outcome Meeting::meet(const TeamKey& key, std::span<const int> ranks, int member, const Card& mine) {
  const int members = static_cast<int>(ranks.size());
  Outcome outcome = {.verdict = Verdict::of(mine.verdict), .id = mine.id, .blocks = {}};
  // Reserves all the memory that is needed here. A member without memory goes on too, to tell the others.
  if (Status status = unless_exhausted([&] {
        outcome.blocks.reserve(2 * static_cast<std::size_t>(MailBlock::distances(members)));
        return Status();
      });
      !status.ok()) {
    outcome.verdict = worse(outcome.verdict, {.code = status.code(), .rank = rank_});
  }
  // Step k: each member tells the members at a distance of 2^k, in both directions, what it knows so far.
  // After all steps every member knows of every other, as in a dissemination barrier. A member that fails
  // goes on, so that the others learn of it.
  for (int k = 0; k < MailBlock::distances(members); ++k) {
    const int distance = 1 << k;
    const std::array partners = {(member + distance) % members, (member - distance + members) % members};
    const Card known = {.block = mine.block, .verdict = outcome.verdict.word(), .id = outcome.id};
    const auto note = [&](const Status& status) {
      if (!status.ok()) outcome.verdict = worse(outcome.verdict, {.code = status.code(), .rank = rank_});
    };
    for (const int partner : partners) note(send(key, known, ranks[static_cast<std::size_t>(partner)]));
    for (const int partner : partners) {
      Card theirs;
      note(receive(key, ranks[static_cast<std::size_t>(partner)], theirs));
      outcome.verdict = worse(outcome.verdict, Verdict::of(theirs.verdict));
      if (theirs.id != 0) outcome.id = theirs.id;
      if (outcome.blocks.size() < outcome.blocks.capacity())
        outcome.blocks.emplace_back(partner, theirs.block);
    }
  }
  return outcome;
}

template <typename Condition>
Status Meeting::wait(int rank, const Condition& condition) {
  Status status;
  std::uint64_t looks = 0;
  const std::uint64_t soon = carrier_.wait_policy().spins + carrier_.wait_policy().yields;
  wait_until(
      carrier_.bell(), carrier_.wait_policy(),
      [&] {
        const std::lock_guard guard(lock_);
        take_in();
        if (condition()) return true;
        if (looks++ < soon) return false;  // checks the rank only when this thread sleeps
        status = carrier_.check(rank);
        return !status.ok();
      },
      Ringer::sometimes);
  return status;
}

Status Meeting::send(const TeamKey& key, const Card& card, int rank) {
  Line& line = lines_[static_cast<std::size_t>(rank)];
  Status put;
  Status waited = wait(rank, [&] {
    Peer& peer = peers_[static_cast<std::size_t>(rank)];
    if (read(line.taken) != peer.sent) return false;
    const auto base = carrier_.block(rank);
    if (!base.ok()) {
      put = {base.status().code(), std::string(base.status().text())};
      return true;
    }
    const std::array<std::uint64_t, 5> message = {key.high, key.low, card.block, card.verdict, card.id};
    const std::uintptr_t there = base.value() + static_cast<std::size_t>(rank_) * sizeof(Line);
    put = carrier_.put(rank, there + offsetof(Line, message), message.data(), sizeof message,
                       there + offsetof(Line, arrived), peer.sent + 1);
    if (put.ok()) ++peer.sent;
    return true;
  });
  return waited.ok() ? std::move(put) : std::move(waited);
}

Status Meeting::receive(const TeamKey& key, int rank, Card& card) {
  return wait(rank, [&] {
    const auto found = arrived_.find({key, rank});
    if (found == arrived_.end()) return take_from_line(key, rank, card);
    card = found->second.front();
    found->second.pop_front();
    if (found->second.empty()) arrived_.erase(found);
    return true;
  });
}

void Meeting::take_in() {
  bool any = false;
  for (std::size_t rank = 0; rank < lines_.size(); ++rank) {
    Line& line = lines_[rank];
    Peer& peer = peers_[rank];
    if (read(line.arrived) != peer.received + 1) continue;
    const auto& message = line.message;
    try {
      arrived_[{{.high = message[0], .low = message[1]}, static_cast<int>(rank)}].push_back(
          {.block = message[2], .verdict = message[3], .id = message[4]});
    } catch (const std::bad_alloc&) {
      std::erase_if(arrived_, [](const auto& entry) { return entry.second.empty(); });
      continue;  // it stays on its line until there is memory, or until take_from_line()
    }
    acknowledge(static_cast<int>(rank));
    any = true;
  }
  if (any) carrier_.bell().ring();  // other threads may wait for one of the messages
}

bool Meeting::take_from_line(const TeamKey& key, int rank, Card& card) {
  Line& line = lines_[static_cast<std::size_t>(rank)];
  const auto& message = line.message;
  if (read(line.arrived) != peers_[static_cast<std::size_t>(rank)].received + 1) return false;
  if (TeamKey{.high = message[0], .low = message[1]} != key) return false;
  card = {.block = message[2], .verdict = message[3], .id = message[4]};
  acknowledge(rank);
  return true;
}

void Meeting::acknowledge(int rank) {
  Peer& peer = peers_[static_cast<std::size_t>(rank)];
  ++peer.received;
  // A sender that cannot be told sends nothing more, because it waits for `taken`.
  const auto base = carrier_.block(rank);
  if (!base.ok()) return;
  const std::uintptr_t there = base.value() + static_cast<std::size_t>(rank_) * sizeof(Line);
  static_cast<void>(carrier_.put(rank, 0, nullptr, 0, there + offsetof(Line, taken), peer.received).ok());
}

}  // namespace rma
