#pragma once

#include <cstddef>
#include <cstdint>

#include "collectives/roster.hpp"
#include "collectives/team_block.hpp"
#include "util/status.hpp"
#include "util/wait.hpp"

namespace rma {

/// Executes the step that all collectives within a host consist of, a *round*. Each member may fill its
/// outbox. Then all members meet. Then each reads the inboxes that it wants, which are the outboxes of the
/// others.
///
/// Rounds are numbered from 1, alike on all members. Round r uses the half r % 2 of each outbox:
///  - A member writes its own outbox of round r and then publishes r. No other member writes there.
///  - A member returns from meet() when all have published r. From then until it publishes r + 1 it may read
///    all outboxes of r.
///  - A member writes the same half again in round r + 2. Before that it has met in round r + 1. All members
///    published r + 1 after they had read the outboxes of r. So no member overwrites data that another still
///    reads, and rounds cannot be confused, whatever collectives they belong to.
///
/// How the members learn that all have published: in a flat team each member has a flag in the cache line of
/// its outbox, and reads the flags of the others. In other teams the members count up `arrived`, and the last
/// one stores `released`, the one word that the others watch. In both cases the member that completes a round
/// wakes all sleepers, once.
///
/// If a member has ended before it published a round, the round fails for all other members. A member that
/// sleeps for the round tests from time to time whether a member has ended. In a flat team the flag of the
/// ended member decides: if it does not have the round, no member ever finds the round complete. In other
/// teams a member that finds one ended closes `released` by compare-and-swap, and the last member to arrive
/// stores it in the same way; one of the two is first. After a round has failed, all later rounds fail.
///
/// The class knows no job and no process: a member may also be a thread. One thread at a time uses it.
class Rounds {
 public:
  /// `block` and `roster` outlive this and do not move.
  Rounds(TeamBlock& block, int member, const WaitPolicy& policy, const Roster& roster)
      : block_(block),
        roster_(roster),
        policy_(policy),
        member_(member),
        members_(static_cast<int>(block.members)) {}

  [[nodiscard]] int member() const { return member_; }
  [[nodiscard]] int members() const { return members_; }

  /// Returns the place for this member's `bytes` bytes, up to kPieceBytes, of the next round.
  [[nodiscard]] std::byte* outbox(std::size_t bytes) { return box(member_, bytes, met_ + 1); }

  /// Publishes the next round and returns when all members have. RMA_ERR_PEER_LOST.
  [[nodiscard]] Status meet();

  /// Returns the data that `member` published in the last round; `bytes` is the size that it passed to
  /// outbox().
  [[nodiscard]] const std::byte* inbox(int member, std::size_t bytes) { return box(member, bytes, met_); }

 private:
  [[nodiscard]] std::byte* box(int member, std::size_t bytes, std::uint64_t round) {
    TeamBlock::MemberBlock& block = block_.member(member);
    return bytes <= TeamBlock::kInlineBytes ? block.lines[round % 2].payload.data()
                                            : block.pieces[round % 2].data();
  }
  /// These return whether all members have come.
  [[nodiscard]] bool meet_flat();
  [[nodiscard]] bool meet_counting();

  TeamBlock& block_;
  const Roster& roster_;
  const WaitPolicy policy_;
  const int member_;
  const int members_;
  std::uint64_t met_ = 0;  ///< number of rounds that all members have come to
  bool failed_ = false;    ///< the round after these has failed
};

}  // namespace rma
