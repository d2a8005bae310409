#pragma once

#include <cstddef>
#include <cstdint>

#include "collectives/roster.hpp"
#include "collectives/team_block.hpp"
#include "util/status.hpp"
#include "util/wait.hpp"

namespace rma {

/// The one step that all collectives are made of: a *round*. Each member fills its outbox, or not; all meet;
/// each reads the inboxes it wants, that is, the outboxes of others.
///
/// Rounds are numbered, from 1, alike on all members. Round r uses the half r % 2 of everything:
///  - A member writes its own outbox of r, then publishes r. Nobody else writes there.
///  - It returns from meet() once all have published r, so it may read all outboxes of r, until it publishes
///    r + 1.
///  - It writes the same half again for r + 2. It then has met r + 1, which all published after they had read
///    what they wanted of r. So nothing is overwritten that somebody still reads, and rounds cannot be
///    confused, whatever collectives they belong to.
///
/// How all learn that all have published: in a flat team each member has a flag, in the cache line of its
/// outbox, and reads those of the others. Else members count up `arrived`, and who comes last stores
/// `released`, the one word that the others watch. Either way whoever completes a round wakes all sleepers,
/// once.
///
/// A round that a member ended before fails, for all others alike: who sleeps for it looks now and then for
/// members that have ended. In a flat team it is enough that one ended which had not published, since then
/// nobody ever finds the round complete. Else who finds one closes `released`, and the last to come would
/// store it: one of the two is first. Once a round has failed, so do all that follow.
///
/// Knows no job and no process: a member may as well be a thread. Used by one thread at a time.
class Rounds {
 public:
  /// `block` and `roster` stay where they are.
  Rounds(TeamBlock& block, int member, const WaitPolicy& policy, const Roster& roster)
      : block_(block),
        roster_(roster),
        policy_(policy),
        member_(member),
        members_(static_cast<int>(block.members)) {}

  [[nodiscard]] int member() const { return member_; }
  [[nodiscard]] int members() const { return members_; }

  /// Where this member's `bytes` bytes, up to kPieceBytes, of the round to come go.
  [[nodiscard]] std::byte* outbox(std::size_t bytes) { return box(member_, bytes, met_ + 1); }

  /// Publishes, and returns when all have. RMA_ERR_PEER_LOST.
  [[nodiscard]] Status meet();

  /// What `member` published in the round met last; `bytes` as there.
  [[nodiscard]] const std::byte* inbox(int member, std::size_t bytes) { return box(member, bytes, met_); }

 private:
  [[nodiscard]] std::byte* box(int member, std::size_t bytes, std::uint64_t round) {
    TeamBlock::MemberBlock& block = block_.member(member);
    return bytes <= TeamBlock::kInlineBytes ? block.lines[round % 2].payload.data()
                                            : block.pieces[round % 2].data();
  }
  /// Whether all have come.
  [[nodiscard]] bool meet_flat();
  [[nodiscard]] bool meet_counting();

  TeamBlock& block_;
  const Roster& roster_;
  const WaitPolicy policy_;
  const int member_;
  const int members_;
  std::uint64_t met_ = 0;  ///< rounds so far that all came to
  bool failed_ = false;    ///< the next one has
};

}  // namespace rma
