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

/// The exchange by which the members of a new team agree on it, when they are on several hosts: each member
/// tells its partners where its memory for the team lies and whether it can take part. Each process has one
/// Meeting. A Meeting has a *line* for every rank of the job, and only that rank writes there, by
/// Carrier::put.
///
/// A line holds one message. The sender writes the message and then the message's number into `arrived`. The
/// receiver takes the message out and then writes the number into `taken` of the line that it has in the
/// sender's Meeting. The sender writes its next message only after it has seen that. So no word ever has two
/// writes under way, and the protocol does not depend on the order in which a network completes writes to
/// different words.
///
/// Every thread that waits here takes in all messages that have arrived, for all teams. So the threads of a
/// process may make their teams in any order. Thread-safe.
class Meeting {
 public:
  /// A member's message to its partners.
  struct Card {
    std::uint64_t block = 0;    ///< address of its MailBlock
    std::uint64_t verdict = 0;  ///< Verdict::word(): 0, or why the member cannot take part
    std::uint64_t id = 0;       ///< the team's id: the first member supplies it, the others send 0
  };
  /// The result of meet(). If `verdict` is not ok, the team is not made, and all members get a verdict that
  /// is not ok. There is one exception: with RMA_ERR_PEER_LOST some members may already have finished with an
  /// ok verdict.
  struct Outcome {
    Verdict verdict;
    std::uint64_t id = 0;
    /// Members at distances of a power of two, and their blocks.
    std::vector<std::pair<int, std::uintptr_t>> blocks;
  };
  struct alignas(64) Line {
    std::array<std::uint64_t, 5> message = {};  ///< the team's key and the sender's card
    std::uint64_t arrived = 0;
    std::uint64_t taken = 0;
  };
  static_assert(sizeof(Line) == 64);

  /// `lines` are the lines of this process, one per rank of the job, initially zero. `carrier` finds the
  /// lines of every other process by its rank.
  Meeting(std::span<Line> lines, int rank, Carrier& carrier)
      : lines_(lines), rank_(rank), carrier_(carrier), peers_(lines.size()) {}

  /// Meets the other members of the new team `key`. `ranks` lists its members, and this process is number
  /// `member` of them. Collective over the members. Only one thread of a process at a time may call it with
  /// one key.
  [[nodiscard]] Outcome meet(const TeamKey& key, std::span<const int> ranks, int member, const Card& mine);

 private:
  /// The number of messages to and from one rank.
  struct Peer {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
  };

  [[nodiscard]] Status send(const TeamKey& key, const Card& card, int rank);
  [[nodiscard]] Status receive(const TeamKey& key, int rank, Card& card);
  /// Waits until `condition` returns true. Takes in all messages before each call of it, and calls it with
  /// lock_ held. Returns an error if `rank` does not answer any more.
  template <typename Condition>
  [[nodiscard]] Status wait(int rank, const Condition& condition);
  /// Takes in all messages that have arrived, as far as there is memory for them. Called with lock_ held, as
  /// the next two functions are.
  void take_in();
  /// Takes a message directly from its line, because take_in() had no memory for it.
  [[nodiscard]] bool take_from_line(const TeamKey& key, int rank, Card& card);
  /// Tells `rank` that its message has been taken.
  void acknowledge(int rank);

  const std::span<Line> lines_;
  const int rank_;
  Carrier& carrier_;
  std::mutex lock_;  ///< guards the members below
  std::vector<Peer> peers_;
  std::map<std::pair<TeamKey, int>, std::deque<Card>> arrived_;  ///< not received yet, by team and sender
};

}  // namespace rma
