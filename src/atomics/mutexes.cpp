#include "atomics/mutexes.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>

#include "atomics/remote_mutexes.hpp"
#include "util/text.hpp"
#include "util/try_assign.hpp"
#include "util/undo.hpp"
#include "util/waiting/futex.hpp"

namespace librma {
namespace {

/// A thread that drives operations naps this many nanoseconds between.
constexpr std::int64_t kDrivingNap = 1'000'000;

/// Returns the group of sleepers of a ticket.
std::uint32_t group(std::uint32_t ticket) { return std::uint32_t{1} << (ticket % 32); }

}  // namespace

bool TicketMutex::lock(std::uint64_t who, const WaitPolicy& policy, const Lost& lost,
                       const MutexPlace& place) {
  const std::uint32_t ticket = next.fetch_add(1, std::memory_order_relaxed);
  std::uint32_t now = serving.load(std::memory_order_acquire);  // pairs with the fetch_add in unlock
  // Only the next thread in line polls. All others wait for at least one more critical section. This is no
  // wait at a doorbell, because the thread that unlocks wakes only the group of the next ticket, which sleeps
  // at `serving`.
  for (std::uint64_t i = 0; i < policy.spins && ticket - now == 1; ++i) {
    pause_processor();
    if (i % kDriveAfterPolls == kDriveAfterPolls - 1) policy.drive();
    now = serving.load(std::memory_order_acquire);
  }
  for (std::uint64_t i = 0; i < policy.yields && ticket - now == 1; ++i) {
    sched_yield();
    now = serving.load(std::memory_order_acquire);
  }
  if (now != ticket) {
    // This thread counts itself first and then reads `serving` again. unlock() first advances `serving` and
    // then reads `sleepers`. All four steps are sequentially consistent, so one of the two sees the other.
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    const auto describe = [this, place](WaitNote& note) {
      note.call = "a lock";
      note.about = text("of mutex {} of rank {}", place.index, place.rank);
      if (const std::uint64_t holding = holder.load(std::memory_order_relaxed); holding != 0) {
        note.about += text(", held by rank {}", rank_of(holding));
        note.ranks = {rank_of(holding)};
      }
    };
    DescribedWait waiting(describe);
    bool given_up = false;
    bool napped = false;  // the whole last nap passed, and `serving` was `before` then
    std::uint32_t before = 0;
    while (!given_up && (now = serving.load(std::memory_order_seq_cst)) != ticket) {
      const bool drives = policy.drives();
      policy.drive();
      // The process that has ended may have unlocked the mutex before it ended.
      given_up = napped && now == before && lost(holder.load(std::memory_order_relaxed), ticket) &&
                 serving.load(std::memory_order_seq_cst) == now;
      before = now;
      napped = !given_up && futex_nap(serving, now, drives ? kDrivingNap : kMortalNap, group(ticket));
      waiting.slept();
    }
    sleepers.fetch_sub(1, std::memory_order_relaxed);
    if (given_up) return false;
  }
  // The holder compares this with itself; waiters read it to learn which process they wait for.
  holder.store(who, std::memory_order_relaxed);
  return true;
}

void TicketMutex::unlock() {
  holder.store(0, std::memory_order_relaxed);
  const std::uint32_t ticket = serving.fetch_add(1, std::memory_order_seq_cst) + 1;
  // The next thread may already hold the mutex here. The mutex still exists, because destroying it is
  // collective and this process has not taken part yet.
  if (sleepers.load(std::memory_order_seq_cst) != 0)
    futex_wake(serving, std::numeric_limits<int>::max(), group(ticket));
}

Result<void*> MutexSet::allocate(Job& job, RemoteMutexes* remote, std::size_t count) {
  if (count == 0) return nullptr;
  if (count > std::numeric_limits<std::size_t>::max() / sizeof(TicketMutex)) {
    return Status(RMA_ERR_SIZE, text("{} mutexes are more than memory can hold", count));
  }
  auto block = job.memory().allocator().allocate(MemoryKind::internal, count * sizeof(TicketMutex),
                                                 alignof(TicketMutex));
  if (!block.ok()) return std::move(block).status().within(text("{} mutexes", count));
  auto* const mutexes = reinterpret_cast<TicketMutex*>(block.value());
  std::uninitialized_default_construct_n(mutexes, count);
  Undo give_back([&] { release(job, nullptr, mutexes); });
  if (remote != nullptr) remote->add(mutexes, count);
  give_back.dismiss();
  return static_cast<void*>(mutexes);
}

void MutexSet::release(Job& job, RemoteMutexes* remote, void* address) {
  if (remote != nullptr) remote->remove(static_cast<TicketMutex*>(address));
  // This cannot fail for an address that allocate() returned.
  if (address != nullptr) static_cast<void>(job.memory().allocator().free(MemoryKind::internal, address));
}

MutexSet::MutexSet(const Job& job, RemoteMutexes* remote, std::span<const Member> members)
    : job_(job), remote_(remote), blocks_(static_cast<std::size_t>(job.size())) {
  for (const Member& member : members) place(member);
}

void MutexSet::place(const Member& member) noexcept {
  std::byte* const here = job_.direct(member.address, member.count * sizeof(TicketMutex), member.rank);
  blocks_[static_cast<std::size_t>(member.rank)] = {
      .member = true,
      .count = member.count,
      .mutexes = reinterpret_cast<TicketMutex*>(here),
      .address = reinterpret_cast<std::uintptr_t>(member.address)};
}

std::uint64_t MutexSet::me() const {
  static std::atomic<std::uint32_t> threads = 0;
  static thread_local const std::uint32_t kThread = threads.fetch_add(1, std::memory_order_relaxed);
  return (static_cast<std::uint64_t>(job_.rank()) + 1) << 32 | kThread;
}

bool holder_ended(const Job& job, std::uint64_t holder) {
  if (holder != 0) {
    const int rank = TicketMutex::rank_of(holder);
    return rank >= 0 && rank < job.size() && job.ended(rank);
  }
  return std::ranges::any_of(job.local_ranks(), [&](int rank) { return job.ended(rank); });
}

Status MutexSet::ended(std::uint64_t holder) const {
  if (holder != 0) {
    if (!holder_ended(job_, holder)) return {};
    return job_.lost(TicketMutex::rank_of(holder)).within("the process that holds it is lost");
  }
  // The process whose turn it is has not stored itself yet. If all members are alive, it is only slow.
  for (std::size_t rank = 0; rank < blocks_.size(); ++rank) {
    if (blocks_[rank].member && job_.ended(static_cast<int>(rank)))
      return job_.lost(static_cast<int>(rank)).within("it is the turn of a process that is lost");
  }
  return {};
}

Result<const MutexSet::MutexBlock*> MutexSet::find(std::size_t index, int rank) const {
  if (rank < 0 || rank >= job_.size() || !blocks_[static_cast<std::size_t>(rank)].member) {
    return Status(RMA_ERR_RANK, text("rank {} is not in the team that created these mutexes", rank));
  }
  const MutexBlock& block = blocks_[static_cast<std::size_t>(rank)];
  if (index >= block.count) {
    return Status(RMA_ERR_ARGUMENT, text("there is no mutex {} of rank {}, which created {} of them", index,
                                         rank, block.count));
  }
  if (block.mutexes == nullptr && remote_ == nullptr) {
    return Status(RMA_ERR_UNSUPPORTED,
                  text("mutex {} of rank {} is on another host, and this process has no helper to reach "
                       "it by: raise the limit of locked memory (ulimit -l)",
                       index, rank));
  }
  return &block;
}

Status MutexSet::held_already(std::size_t index, int rank) {
  return {RMA_ERR_STATE, text("this thread holds mutex {} of rank {} already: unlock it first", index, rank)};
}

Status MutexSet::not_held(std::size_t index, int rank) {
  return {RMA_ERR_STATE,
          text("this thread does not hold mutex {} of rank {}: the thread that locks a mutex unlocks it",
               index, rank)};
}

Status MutexSet::lock(std::size_t index, int rank) {
  RMA_TRY_ASSIGN(found, find(index, rank));
  const MutexBlock& block = *found;
  if (block.mutexes == nullptr) return lock_remote(block, index, rank);
  return lock_mapped(block.mutexes[index], block, index, rank);
}

Status MutexSet::lock_mapped(TicketMutex& mutex, const MutexBlock& block, std::size_t index, int rank) {
  const std::uint64_t self = me();
  if (mutex.holder.load(std::memory_order_relaxed) == self) return held_already(index, rank);
  using Clock = std::chrono::steady_clock;
  Clock::time_point looked = Clock::now();
  Status why;
  std::optional<std::uint32_t> left;
  // Rarely asks a holder of another host for a sign of life, because that waits for the network.
  const auto lost = [&](std::uint64_t holder, std::uint32_t ticket) {
    why = ended(holder);
    if (!why.ok() || holder == 0 || remote_ == nullptr) return !why.ok();
    const int holding = TicketMutex::rank_of(holder);
    if (holding < 0 || holding >= job_.size() || job_.mapped(holding)) return false;
    if (Clock::now() - looked < remote_->look_every()) return false;
    why = remote_->look_after(holding).within(text("rank {} holds it", holding));
    looked = Clock::now();
    if (why.code() != RMA_ERR_PEER_LOST) return false;
    left = ticket;
    return true;
  };
  if (mutex.lock(self, job_.wait_policy(), lost, {.index = index, .rank = rank})) return {};
  // The holder may only be unreachable from here, and unlock the mutex later. The next in line gets it then.
  if (left) static_cast<void>(remote_->leave(block.address + index * sizeof(TicketMutex), rank, *left).ok());
  return std::move(why).within(text("mutex {} of rank {}", index, rank));
}

Status MutexSet::unlock(std::size_t index, int rank) {
  RMA_TRY_ASSIGN(found, find(index, rank));
  const MutexBlock& block = *found;
  if (block.mutexes == nullptr) return unlock_remote(block, index, rank);
  TicketMutex& mutex = block.mutexes[index];
  if (mutex.holder.load(std::memory_order_relaxed) != me()) return not_held(index, rank);
  mutex.unlock();
  if (remote_ == nullptr || !mutex.awaited_elsewhere()) return {};
  return remote_->poke(block.address + index * sizeof(TicketMutex), rank);
}

Status MutexSet::lock_remote(const MutexBlock& block, std::size_t index, int rank) {
  const std::uintptr_t address = block.address + index * sizeof(TicketMutex);
  const std::pair<std::uintptr_t, int> which(address, rank);
  {
    const std::lock_guard guard(held_lock_);
    // The entry is made first, because a failure to make it after the lock was taken could not be undone.
    const std::uint64_t holder = held_[which];
    if (holder == me()) return held_already(index, rank);
  }
  if (Status status = remote_->lock(address, rank, me()); !status.ok()) {
    return std::move(status).within(text("mutex {} of rank {}", index, rank));
  }
  const std::lock_guard guard(held_lock_);
  held_[which] = me();
  return {};
}

Status MutexSet::unlock_remote(const MutexBlock& block, std::size_t index, int rank) {
  const std::uintptr_t address = block.address + index * sizeof(TicketMutex);
  {
    const std::lock_guard guard(held_lock_);
    const auto held = held_.find({address, rank});
    if (held == held_.end() || held->second != me()) return not_held(index, rank);
    held->second = 0;  // the entry stays: a waiting thread of this process uses it
  }
  return remote_->unlock(address, rank, me());
}

Status MutexSet::check_idle() const {
  const MutexBlock& block = blocks_[static_cast<std::size_t>(job_.rank())];
  const std::span<TicketMutex> own(block.mutexes, block.count);
  const auto busy =
      std::find_if(own.begin(), own.end(), [](const TicketMutex& mutex) { return !mutex.idle(); });
  if (busy == own.end()) return {};
  return {RMA_ERR_STATE, text("mutex {} of rank {} is held or waited for: unlock it before destroying it",
                              busy - own.begin(), job_.rank())};
}

}  // namespace librma
