#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "collectives/members/roster.hpp"
#include "collectives/members/team_block.hpp"
#include "util/status.hpp"
#include "util/try.hpp"
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
/// member that posts. That line was last used in round n - kOneWayLines.
///
/// A member overwrites a line only after all members that may read it have done so. Each member publishes in
/// `read` how many one-way rounds it has behind it, each time that is a quarter of the lines, or of the slots
/// where these are used. A member that posts names the reader of its data, or says that anyone may read them.
/// It waits in open_post() until that reader has read enough, and until all members have read the posts that
/// were not for that reader alone. So a member of a chain runs ahead of the next one, however far that is
/// ahead of the last one. A meeting says the same of all members and all earlier rounds.
///
/// A member sleeps at the doorbell of the member that it waits for, so a post wakes only those that want it.
///
/// A one-way round fails for a member if the one that it waits for has ended and has not posted, or not read.
/// This closes the team, so the next meeting fails for all members. Others may have got the data of the same
/// round.
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

  /// Begins a one-way round in which no member posts more than `bytes` bytes. Returns false if the data are
  /// too long for one; then the members meet. All members get the same answer, unless a round has failed:
  /// then it is false.
  [[nodiscard]] bool begin_one_way(std::size_t bytes) {
    if (bytes > TeamBlock::kSlotBytes || failed_) return false;
    if (one_way_ - reported_ >= most_posts(bytes) / 4) report_read();
    ++one_way_;
    return true;
  }
  static constexpr int kAnyReader = -1;
  /// Finds the place for the `bytes` bytes that this member posts in the one-way round. `reader` alone reads
  /// them, or any member. Waits until nobody reads there any more. RMA_ERR_PEER_LOST.
  [[nodiscard]] Status open_post(std::size_t bytes, int reader, std::byte*& box) {
    if (reader != reader_) [[unlikely]] {
      reader_ = reader;
      read_by_reader_ = read_by_all_;
      for_others_ = one_way_ - 1;
    }
    if (reader == kAnyReader) for_others_ = one_way_;
    const std::uint64_t most = most_posts(bytes);
    if (!may_reuse(most)) {
      RMA_TRY(await_readers(most));
    }
    box = one_way_box(member_, bytes);
    return {};
  }
  /// Posts the bytes there, and wakes the members that sleep until they are there.
  void post();
  /// Does both with a copy of `bytes` bytes.
  [[nodiscard]] Status post_copy(const void* data, std::size_t bytes, int reader) {
    std::byte* box = nullptr;
    RMA_TRY(open_post(bytes, reader, box));
    std::memcpy(box, data, bytes);
    post();
    return {};
  }
  /// Waits until `member` has posted in this one-way round. RMA_ERR_PEER_LOST.
  [[nodiscard]] Status await(int member);
  /// Returns the data that `member` has posted. They are valid until this member begins its next round.
  [[nodiscard]] const std::byte* posted(int member, std::size_t bytes) { return one_way_box(member, bytes); }

 private:
  [[nodiscard]] static constexpr bool fits_line(std::size_t bytes) {
    return bytes <= TeamBlock::kInlineBytes;
  }
  /// Returns how many posts of this size a member may have before its readers have read the first of them.
  [[nodiscard]] static constexpr std::uint64_t most_posts(std::size_t bytes) {
    return fits_line(bytes) ? TeamBlock::kOneWayLines : TeamBlock::kOneWaySlots;
  }
  [[nodiscard]] TeamBlock::Line& one_way_line(int member, std::uint64_t round) {
    return block_.member(member).one_way_lines[round % TeamBlock::kOneWayLines];
  }
  [[nodiscard]] std::byte* one_way_box(int member, std::size_t bytes) {
    return fits_line(bytes) ? one_way_line(member, one_way_).payload.data()
                            : block_.member(member).slots[one_way_ % TeamBlock::kOneWaySlots].data();
  }
  [[nodiscard]] std::byte* box(int member, std::size_t bytes, std::uint64_t round) {
    TeamBlock::MemberBlock& block = block_.member(member);
    return fits_line(bytes) ? block.lines[round % 2].payload.data() : block.pieces[round % 2].data();
  }
  /// Returns whether this member may write again what it posted `most` rounds ago, as far as it knows.
  [[nodiscard]] bool may_reuse(std::uint64_t most) const {
    if (one_way_ <= most) return true;
    const std::uint64_t last = one_way_ - most;
    return std::min(last, for_others_) <= read_by_all_ && (reader_ == kAnyReader || last <= read_by_reader_);
  }
  /// Looks how far the readers have come, and returns at once if that lets this member reuse its oldest post.
  /// If not, it waits until half of its lines or slots are free, so that it waits rarely.
  [[nodiscard]] Status await_readers(std::uint64_t most);
  /// Reads how far the readers have come, without waiting.
  void note_read();
  /// Waits until `member` has read this round.
  [[nodiscard]] Status await_read(int member, std::uint64_t round);
  /// Publishes that this member has read all one-way rounds that it has begun.
  void report_read();
  /// Waits at the doorbell of `member` until `arrived()`, or until it has ended before that: then the team is
  /// closed.
  template <typename Arrived>
  [[nodiscard]] Status await_member(int member, const Arrived& arrived);
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
  std::uint64_t met_ = 0;             ///< number of rounds that all members have come to
  std::uint64_t one_way_ = 0;         ///< number of one-way rounds that this member has begun
  std::uint64_t reported_ = 0;        ///< number of those that this member has published to have read
  std::uint64_t read_by_all_ = 0;     ///< the last one-way round that all members are known to have read
  int reader_ = kAnyReader;           ///< the reader of this member's posts after the round for_others_
  std::uint64_t read_by_reader_ = 0;  ///< the last round that it is known to have read
  std::uint64_t for_others_ = 0;      ///< other members may read the posts up to this round
  bool failed_ = false;               ///< a round has failed, and so do all that follow
};

}  // namespace librma
