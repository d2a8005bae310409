#include "collectives/shared_memory/rounds.hpp"

#include <new>

namespace librma {

TeamBlock& TeamBlock::make(std::byte* memory, const TeamShape& shape) {
  auto* const block = new (memory) TeamBlock(shape);
  for (std::uint32_t i = 0; i < shape.members; ++i) {
    MemberBlock& member = block->member(static_cast<int>(i));
    new (&member.lines) std::array<Line, 2>();
    new (&member.one_way_lines) std::array<Line, kOneWayLines>();
    new (&member.read) std::atomic<std::uint64_t>(0);
    new (&member.doorbell) Doorbell();
  }
  return *block;
}

Status Rounds::meet() {
  if (!failed_) [[likely]] {
    read_by_all_ = read_by_reader_ = one_way_;  // if all come; else no later round begins
    if (members_ == 1) {
      ++met_;
      return {};
    }
    if (block_.flat ? meet_flat() : meet_counting()) return {};
    // Makes the next outbox again the one that no member will read. Some may still read the other one.
    --met_;
    failed_ = true;
  }
  return lost();
}

Status Rounds::lost() const {
  return roster_.lost(static_cast<int>(block_.lacking() % static_cast<std::uint32_t>(members_)));
}

template <typename Arrived>
void Rounds::describe(WaitNote& note, const Arrived& arrived) const {
  note.call = "a collective";
  for (int member = 0; member < members_; ++member) {
    if (!arrived(member)) note.ranks.push_back(roster_.rank_of(member));
  }
  roster_.name_team(note);
}

void Rounds::close(int member, std::uint64_t round, std::uint64_t before) {
  block_.close(member, round, before);
  block_.doorbell.wake();
  for (int each = 0; each < members_; ++each) block_.member(each).doorbell.wake();
}

void Rounds::post() {
  // Releases the data to the acquire loads in await(). The exchange and the load of `sleepers` are ordered as
  // in meet_flat(), so this member sees every sleeper that read the line too early to see the new round.
  one_way_line(member_, one_way_).round.exchange(one_way_, std::memory_order_seq_cst);
  block_.member(member_).doorbell.wake_ordered();
  // The readers have read that line in the last lap, so the exchange would wait until they give it up.
  constexpr std::uint64_t kPrefetched = 4;
  prefetch_to_write(&one_way_line(member_, one_way_ + kPrefetched));
}

void Rounds::report_read() {
  // Releases what this member has read to the acquire load in await_read(). The exchange is ordered as in
  // post().
  reported_ = one_way_;
  block_.member(member_).read.exchange(reported_, std::memory_order_seq_cst);
  block_.member(member_).doorbell.wake_ordered();
}

template <typename Arrived>
Status Rounds::await_member(int member, const Arrived& arrived) {
  const auto missing = [&] {
    if (block_.closed()) return true;
    if (!roster_.ended(member) || arrived()) return false;
    // The next meeting cannot be complete, because this member has not come, and never comes.
    close(member, met_ + 1, block_.flat ? 0 : met_);
    return true;
  };
  const auto describe_wait = [this, member](WaitNote& note) {
    describe(note, [&](int other) { return other != member; });
  };
  if (wait_unless(block_.member(member).doorbell, policy_, arrived, missing, Waker::mortal, describe_wait))
    return {};
  failed_ = true;
  return lost();
}

Status Rounds::await(int member) {
  const std::atomic<std::uint64_t>& line = one_way_line(member, one_way_).round;
  return await_member(member, [&] { return line.load(std::memory_order_acquire) == one_way_; });
}

Status Rounds::await_read(int member, std::uint64_t round) {
  const std::atomic<std::uint64_t>& read = block_.member(member).read;
  return await_member(member, [&] { return read.load(std::memory_order_acquire) >= round; });
}

void Rounds::note_read() {
  // Acquire: the members have read these rounds' posts before this member overwrites them.
  const auto read = [this](int member) { return block_.member(member).read.load(std::memory_order_acquire); };
  if (reader_ != kAnyReader) read_by_reader_ = std::max(read_by_reader_, read(reader_));
  if (for_others_ <= read_by_all_) return;
  std::uint64_t least = one_way_;
  for (int member = 0; member < members_; ++member) {
    if (member != member_) least = std::min(least, read(member));
  }
  read_by_all_ = std::max(read_by_all_, least);
}

Status Rounds::await_readers(std::uint64_t most) {
  note_read();
  if (may_reuse(most)) return {};
  // Every member begins this round without waiting for the post of this member. A member that begins it has
  // published that it has read all rounds but the last most / 4 of those before.
  const std::uint64_t enough = one_way_ - most / 2;
  if (reader_ != kAnyReader) {
    RMA_TRY(await_read(reader_, enough));
  }
  for (int member = 0; member < members_ && for_others_ > read_by_all_; ++member) {
    if (member != member_) {
      RMA_TRY(await_read(member, std::min(enough, for_others_)));
    }
  }
  note_read();
  return {};
}

bool Rounds::meet_flat() {
  const std::uint64_t round = ++met_;
  const auto flag = [&](int member) -> std::atomic<std::uint64_t>& {
    return block_.member(member).lines[round % 2].round;
  };
  // Releases the outbox to the acquire loads of the other members below. The exchange, and the loads up to
  // the doorbell, are in the one order of all sequentially consistent operations. So is a sleeper's increment
  // of `sleepers` (wait_unless), after which the sleeper reads the flags. Hence the last member to arrive
  // sees the flags of all members. It also sees every sleeper that read the flags too early to see the last
  // one.
  flag(member_).exchange(round, std::memory_order_seq_cst);
  if (block_.doorbell.sleepers.load(std::memory_order_seq_cst) != 0) {
    int arrived = 0;
    while (arrived < members_ && flag(arrived).load(std::memory_order_seq_cst) == round) ++arrived;
    if (arrived == members_) block_.doorbell.wake_ordered();
  }
  int next = 0;  // all before it have arrived
  const auto all_arrived = [&] {
    while (next < members_ && flag(next).load(std::memory_order_acquire) == round) ++next;
    return next == members_;
  };
  // A member that has ended is missing only if its flag, which does not change any more, does not have this
  // round. Other members that find one missing close the team: in this round, or in the next, and then all
  // have arrived in this one.
  const auto one_missing = [&] {
    if (block_.closed()) return true;
    int ended = next;
    while ((ended = roster_.first_ended(ended, members_)) != Roster::kNobody &&
           flag(ended).load(std::memory_order_acquire) == round) {
      ++ended;
    }
    if (ended == Roster::kNobody) return false;
    close(ended, round, 0);
    return true;
  };
  const auto describe_wait = [this, round](WaitNote& note) {
    describe(note, [&](int member) {
      return block_.member(member).lines[round % 2].round.load(std::memory_order_acquire) == round;
    });
  };
  return wait_unless(block_.doorbell, policy_, all_arrived, one_missing, Waker::mortal, describe_wait);
}

bool Rounds::meet_counting() {
  const std::uint64_t round = ++met_;
  const std::uint64_t all = round * static_cast<std::uint64_t>(members_);
  // Releases this member's outbox to the last member to arrive. That one acquires all outboxes and passes
  // them on by its store.
  if (block_.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == all) {
    std::uint64_t before = round - 1;
    // The release pairs with the loads below. The exchange fails only if the team has been closed.
    const bool released = block_.released.compare_exchange_strong(before, round, std::memory_order_acq_rel);
    block_.doorbell.wake();
    return released;
  }
  const auto released = [&] { return block_.released.load(std::memory_order_acquire) != round - 1; };
  const auto one_missing = [&] {
    const int ended = roster_.first_ended(0, members_);
    if (ended == Roster::kNobody) return false;
    close(ended, round, round - 1);
    return true;
  };
  const auto describe_wait = [this](WaitNote& note) {
    describe(note, [&](int member) { return member == member_; });  // nobody knows which ones have arrived
  };
  static_cast<void>(
      wait_unless(block_.doorbell, policy_, released, one_missing, Waker::mortal, describe_wait));
  // Other members may have gone on already and found that the next round failed.
  return !block_.closed_in(round);
}

}  // namespace librma
