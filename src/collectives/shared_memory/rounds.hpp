#pragma once

#include <cstddef>
#include <cstdint>

#include "collectives/members/roster.hpp"
#include "collectives/members/team_block.hpp"
#include "util/status.hpp"
#include "util/waiting/wait.hpp"

namespace librma {

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
/// In a *one-way round* the members do not meet. A member that gives data posts them and goes on. A member
/// that needs them waits until they are there. So a root runs ahead of its readers, which matters most where
/// members share processors: a meeting runs all of them once. One-way rounds are numbered from 1 by
/// themselves, alike on all members. Round n uses line n % kOneWayLines, or slot n % kOneWaySlots, of each
/// member that posts. That line was last used in round n - kOneWayLines. All members have read it if they
/// have met since that round. So at most kOneWayLines one-way rounds follow a meeting (kOneWaySlots if the
/// data need a slot), and begin_one_way() refuses the next one: the members meet instead.
///
/// A member sleeps at the doorbell of the member that it waits for, so a post wakes only those that want it.
///
/// A one-way round fails for a member if the one that it waits for has ended and has not posted. This closes
/// the team, so the next meeting fails for all members. Others may have got the data of the same round.
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

  /// Begins a one-way round in which no member posts more than `bytes` bytes. Returns false if the members
  /// have to meet instead. All members get the same answer, unless a round has failed: then it is false.
  [[nodiscard]] bool begin_one_way(std::size_t bytes) {
    if (bytes > TeamBlock::kSlotBytes || failed_) return false;
    const std::uint64_t most = fits_line(bytes) ? TeamBlock::kOneWayLines : TeamBlock::kOneWaySlots;
    if (one_way_ - one_way_at_meeting_ >= most) return false;
    ++one_way_;
    return true;
  }
  /// Returns the place for the `bytes` bytes that this member posts in the one-way round.
  [[nodiscard]] std::byte* post_box(std::size_t bytes) { return one_way_box(member_, bytes); }
  /// Posts the bytes there, and wakes the members that sleep until they are there.
  void post();
  /// Waits until `member` has posted in this one-way round. RMA_ERR_PEER_LOST.
  [[nodiscard]] Status await(int member);
  /// Returns the data that `member` has posted. They are valid until this member's next meeting.
  [[nodiscard]] const std::byte* posted(int member, std::size_t bytes) { return one_way_box(member, bytes); }

 private:
  [[nodiscard]] static bool fits_line(std::size_t bytes) { return bytes <= TeamBlock::kInlineBytes; }
  [[nodiscard]] TeamBlock::Line& one_way_line(int member) {
    return block_.member(member).one_way_lines[one_way_ % TeamBlock::kOneWayLines];
  }
  [[nodiscard]] std::byte* one_way_box(int member, std::size_t bytes) {
    return fits_line(bytes) ? one_way_line(member).payload.data()
                            : block_.member(member).slots[one_way_ % TeamBlock::kOneWaySlots].data();
  }
  [[nodiscard]] std::byte* box(int member, std::size_t bytes, std::uint64_t round) {
    TeamBlock::MemberBlock& block = block_.member(member);
    return fits_line(bytes) ? block.lines[round % 2].payload.data() : block.pieces[round % 2].data();
  }
  /// These return whether all members have come.
  [[nodiscard]] bool meet_flat();
  [[nodiscard]] bool meet_counting();
  /// Says that this member waits for the members in whose flags `arrived(member)` returns false.
  template <typename Arrived>
  void describe(WaitNote& note, const Arrived& arrived) const;
  /// Closes the team because `member` is missing in `round` (TeamBlock::close), and wakes all sleepers.
  void close(int member, std::uint64_t round, std::uint64_t before);
  /// Returns the failure of a round that the team's missing member has made impossible.
  [[nodiscard]] Status lost() const;

  TeamBlock& block_;
  const Roster& roster_;
  const WaitPolicy policy_;
  const int member_;
  const int members_;
  std::uint64_t met_ = 0;                 ///< number of rounds that all members have come to
  std::uint64_t one_way_ = 0;             ///< number of one-way rounds that this member has begun
  std::uint64_t one_way_at_meeting_ = 0;  ///< and of those that it had begun when the members last met
  bool failed_ = false;                   ///< a round has failed, and so do all that follow
};

}  // namespace librma
