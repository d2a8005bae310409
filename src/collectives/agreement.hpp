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

#include "collectives/failure_word.hpp"
#include "collectives/team_registry.hpp"
#include "collectives/team_transport.hpp"
#include "util/status.hpp"

namespace rma {

/// The exchange by which the members of a new team agree on it, when they are on several hosts: each member
/// tells its partners the address of its memory for the team and whether it can take part. Each process has
/// one Agreement. It has a *slot* for every rank of the job, and only that rank writes there, by
/// TeamTransport::put.
///
/// A slot holds one message. The sender writes the message and then the message's number into `arrived`. The
/// receiver takes the message out and then writes the number into `taken` of the slot that it has in the
/// sender's Agreement. The sender writes its next message only after it has seen that. So no word ever has
/// two writes under way, and the protocol does not depend on the order in which a network completes writes to
/// different words.
///
/// Every thread that waits here takes in all messages that have arrived, for all teams. So the threads of a
/// process may make their teams in any order. Thread-safe.
class Agreement {
 public:
  /// A member's message to its partners.
  struct Card {
    std::uint64_t block = 0;    ///< address of its PointToPointBlock
    std::uint64_t failure = 0;  ///< FailureWord::word(): 0, or the reason why the member cannot take part
    std::uint64_t id = 0;       ///< the team's id: the first member supplies it, the others send 0
  };
  /// The result of reach(). If `failure` is not ok, the team is not made, and all members get a failure that
  /// is not ok. There is one exception: with RMA_ERR_PEER_LOST some members may already have finished without
  /// one.
  struct Outcome {
    FailureWord failure;
    std::uint64_t id = 0;
    /// Members at distances of a power of two, and their blocks.
    std::vector<std::pair<int, std::uintptr_t>> blocks;
  };
  struct alignas(64) Slot {
    std::array<std::uint64_t, 5> message = {};  ///< the team's key and the sender's card
    std::uint64_t arrived = 0;
    std::uint64_t taken = 0;
  };
  static_assert(sizeof(Slot) == 64);

  /// `slots` are the slots of this process, one per rank of the job, initially zero. `transport` finds the
  /// slots of every other process by its rank.
  Agreement(std::span<Slot> slots, int rank, TeamTransport& transport)
      : slots_(slots), rank_(rank), transport_(transport), counts_(slots.size()) {}

  /// Agrees with the other members on the new team `key`. `ranks` lists its members, and this process is
  /// number `member` of them. Collective over the members. Only one thread of a process at a time may call it
  /// with one key.
  [[nodiscard]] Outcome reach(const TeamKey& key, std::span<const int> ranks, int member, const Card& mine);

 private:
  /// The number of messages to and from one rank.
  struct Counts {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
  };

  [[nodiscard]] Status send(const TeamKey& key, const Card& card, int rank);
  [[nodiscard]] Status receive(const TeamKey& key, int rank, Card& card);
  /// Waits until `condition` returns true. Takes in all messages before each call of it, and calls it with
  /// lock_ held. Returns an error if `rank` does not answer any more.
  template <typename Condition>
  [[nodiscard]] Status wait(int rank, const Condition& condition);
  /// Takes in all messages that have arrived, as far as there is memory for them. The caller of this function
  /// and the next two holds lock_.
  void take_in();
  /// Takes a message directly from its slot, because take_in() had no memory for it.
  [[nodiscard]] bool take_from_slot(const TeamKey& key, int rank, Card& card);
  /// Tells `rank` that its message has been taken.
  void acknowledge(int rank);

  const std::span<Slot> slots_;
  const int rank_;
  TeamTransport& transport_;
  std::mutex lock_;  ///< guards the members below
  std::vector<Counts> counts_;
  std::map<std::pair<TeamKey, int>, std::deque<Card>> arrived_;  ///< not received yet, by team and sender
};

}  // namespace rma
