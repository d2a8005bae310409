#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "collectives/board.hpp"
#include "collectives/carrier.hpp"
#include "collectives/verdict.hpp"
#include "util/status.hpp"

namespace rma {

/// Where members of a team that they are about to make tell each other what each must know of the others,
/// when they are on several hosts. One per process; each has a *line* for every rank of the job, which only
/// that rank writes, by Carrier::put.
///
/// A line holds one message. Its sender writes it and then its number, `arrived`; the receiver takes it and
/// then writes `taken`, in the sender's line for it; only then does the sender write the next. So no word has
/// two writes on their way at once.
///
/// Any thread that waits here takes in whatever has arrived, for whichever team, so threads may make their
/// teams in any order. Thread-safe.
class Meeting {
 public:
  /// What a member brings to a meeting.
  struct Card {
    std::uint64_t block = 0;    ///< address of its MailBlock
    std::uint64_t verdict = 0;  ///< Verdict::word(): why it cannot take part
    std::uint64_t id = 0;       ///< of the team: the first member brings it, others 0
  };
  /// What it learns there. Unless `verdict` is ok, others know that the team cannot be, or will: all do, with
  /// the exception of RMA_ERR_PEER_LOST, for which some may have met well before.
  struct Outcome {
    Verdict verdict;
    std::uint64_t id = 0;
    std::vector<std::pair<int, std::uintptr_t>> blocks;  ///< of members at distances of a power of two
  };
  struct alignas(64) Line {
    std::array<std::uint64_t, 5> message = {};  ///< key and card
    std::uint64_t arrived = 0;
    std::uint64_t taken = 0;
  };
  static_assert(sizeof(Line) == 64);

  /// `lines` are this process's, one per rank of the job, zero; `carrier` knows everyone's, by rank.
  Meeting(std::span<Line> lines, int rank, Carrier& carrier)
      : lines_(lines), rank_(rank), carrier_(carrier), peers_(lines.size()) {}

  /// Meets those that make the team of `key`, of `ranks`, this process being `member` of them. Collective
  /// over these; one thread of a process at a time for one key.
  [[nodiscard]] Outcome meet(const TeamKey& key, std::span<const int> ranks, int member, const Card& mine);

 private:
  /// Messages to and from one rank.
  struct Peer {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
  };

  [[nodiscard]] Status send(const TeamKey& key, const Card& card, int rank);
  [[nodiscard]] Status receive(const TeamKey& key, int rank, Card& card);
  /// Waits for `condition`, which runs with everything taken in and lock_ held, and with `rank` reachable.
  template <typename Condition>
  [[nodiscard]] Status wait(int rank, const Condition& condition);
  /// Takes in all that has arrived and that there is memory for; with lock_ held, as the next two.
  void take_in();
  /// Takes a message that take_in() had no memory for.
  [[nodiscard]] bool take_from_line(const TeamKey& key, int rank, Card& card);
  void acknowledge(int rank);

  const std::span<Line> lines_;
  const int rank_;
  Carrier& carrier_;
  std::mutex lock_;  ///< of what follows
  std::vector<Peer> peers_;
  std::map<std::pair<TeamKey, int>, std::deque<Card>> arrived_;  ///< by team and sender; not asked for yet
};

}  // namespace rma
