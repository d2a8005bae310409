#pragma once

#include <cstdint>
#include <span>

#include "collectives/members/failure_word.hpp"
#include "collectives/schedules/team_carrier.hpp"
#include "collectives/team/team_registry.hpp"
#include "util/status.hpp"

namespace librma {

/// The exchange by which the members of a new team agree on it, when they are on several hosts: each member
/// tells its partners whether it can take part, and what it knows of the first member's id and context.
///
/// The messages of one team have a tag of 31 bits of its key, so the threads of a process may make their
/// teams in any order. Each message carries the whole key. If two threads of a process make different teams
/// with one tag at the same time, a member may receive the message of the other team; the call then fails
/// with RMA_ERR_STATE. Thread-safe.
class Agreement {
 public:
  /// A member's message to its partners.
  struct AgreementCard {
    std::uint64_t failure = 0;  ///< FailureWord::word(): 0, or the reason why the member cannot take part
    std::uint64_t id = 0;       ///< the team's id: the first member supplies it, the others send 0
    std::uint64_t context = 0;  ///< the context of the team's messages, as the id
  };
  /// The result of reach(). If `failure` is not ok, the team is not made, and all members get a failure that
  /// is not ok. There is one exception: with RMA_ERR_PEER_LOST some members may already have finished without
  /// one.
  struct Outcome {
    FailureWord failure;
    std::uint64_t id = 0;
    std::uint32_t context = 0;
  };

  /// `rank` is the number of this process, by which `transport` reaches every process of the job.
  Agreement(int rank, TeamCarrier& transport) : rank_(rank), transport_(transport) {}

  /// Agrees with the other members on the new team `key`. `ranks` lists its members, and this process is
  /// number `member` of them. Collective over the members. Only one thread of a process at a time may call it
  /// with one key.
  [[nodiscard]] Outcome reach(const TeamKey& key, std::span<const int> ranks, int member,
                              const AgreementCard& mine);

 private:
  /// A card as it travels.
  struct Message {
    TeamKey key;
    AgreementCard card;
  };
  static_assert(sizeof(Message) == 40);

  const int rank_;
  TeamCarrier& transport_;
};

}  // namespace librma
