// Passive target epochs: locks, and the calls that complete operations inside of them.
//
// Each member has a word `lock`: kExclusive if a process has it for itself or waits to get it so, and the
// number of processes that share it. Member 0 also has a word `all_locks`: the number of processes between
// MPI_Win_lock_all and MPI_Win_unlock_all, and above it the number of those that hold an exclusive lock of
// any member or wait for one. So MPI_Win_lock_all costs one atomic operation, not one for each member
// (Gerstenberger, Besta, Hoefler: Enabling highly-scalable remote memory access programming with MPI-3 one
// sided, SC13, section 2.3).
//
//  exclusive: count above in `all_locks`; wait until nobody has locked all. Claim kExclusive in `lock`, or
//             wait until it is free; then wait until nobody shares. Whoever comes later backs off.
//  shared:    count in `lock`; take it back and wait if kExclusive is set.
//  all:       count in `all_locks`; take it back and wait if a process is counted above.
//
// Nobody waits while it is counted as a sharer, so there is no circle.

#include <fmt/format.h>

#include <array>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/library_failure.hpp"
#include "twosided_compat/window.hpp"
#include "twosided_compat/window_waiting.hpp"
#include "twosided_compat/window_words.hpp"

namespace rma::mpi {
namespace {

using Word = std::uint64_t;
constexpr Word kExclusive = Word{1} << 63U;
constexpr Word kOneExclusive = Word{1} << 32U;  // in `all_locks`
constexpr Word kSharers = kOneExclusive - 1;

/// A word of a member.
struct Place {
  Word* word;
  int rank;
  int member;  ///< 0 for `all_locks`
};
Place lock_of(const Window& win, int member) {
  const WindowPart& part = win.part(member);
  return {&reinterpret_cast<WindowControl*>(part.control)->lock, part.rank, member};
}
Place all_locks_of(const Window& win) {
  const WindowPart& part = win.part(0);
  return {&reinterpret_cast<WindowControl*>(part.control)->all_locks, part.rank, 0};
}

int update(rma_atomic_op_t op, const Place& place, Word operand, Word& old) {
  return checked(update_word<Word>(op, place.word, operand, 0, old, place.rank));
}
int add(const Place& place, Word operand) {
  Word old = 0;
  return update(RMA_FETCH_ADD, place, operand, old);
}
constexpr Word minus(Word value) { return ~value + 1; }

/// Waits until none of the bits `mask` of a word is set.
int wait_until_clear(const Window& win, const Place& place, Word mask, WindowWait::For what) {
  Word value = 0;
  if (const int code = update(RMA_FETCH, place, 0, value); code != MPI_SUCCESS || (value & mask) == 0)
    return code;
  WindowWait wait(win, what, place.member);
  while ((value & mask) != 0) {
    if (const int code = wait.pause(); code != MPI_SUCCESS) return code;
    if (const int code = update(RMA_FETCH, place, 0, value); code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

/// Counts this process as a sharer, unless one of the bits `mask` is set: then waits.
int share(const Window& win, const Place& place, Word mask, WindowWait::For what) {
  while (true) {
    Word old = 0;
    if (const int code = update(RMA_FETCH_ADD, place, 1, old); code != MPI_SUCCESS) return code;
    if ((old & mask) == 0) return MPI_SUCCESS;
    if (const int code = add(place, minus(1)); code != MPI_SUCCESS) return code;
    if (const int code = wait_until_clear(win, place, mask, what); code != MPI_SUCCESS) return code;
  }
}

/// Claims kExclusive, and waits until nobody shares any more.
int claim(const Window& win, const Place& place) {
  while (true) {
    Word old = 0;
    if (const int code = update(RMA_OR, place, kExclusive, old); code != MPI_SUCCESS) return code;
    if ((old & kExclusive) == 0) break;
    if (const int code = wait_until_clear(win, place, kExclusive, WindowWait::For::kLock);
        code != MPI_SUCCESS)
      return code;
  }
  const int code = wait_until_clear(win, place, ~kExclusive, WindowWait::For::kLock);
  if (code != MPI_SUCCESS) static_cast<void>(add(place, kExclusive));  // the carry leaves the word
  return code;
}

int lock_exclusively(Window& win, int member) {
  const Place all = all_locks_of(win);
  if (const int code = add(all, kOneExclusive); code != MPI_SUCCESS) return code;
  int code = wait_until_clear(win, all, kSharers, WindowWait::For::kLockAll);
  if (code == MPI_SUCCESS) code = claim(win, lock_of(win, member));
  if (code != MPI_SUCCESS) static_cast<void>(add(all, minus(kOneExclusive)));
  return code;
}

int unlock_part(Window& win, int member, Access access) {
  win.note_held(member, Held::kNothing);
  if (access == Access::kShared) return add(lock_of(win, member), minus(1));
  if (access != Access::kExclusive) return MPI_SUCCESS;
  const int code =
      add(lock_of(win, member), kExclusive);  // the carry leaves the word; sharers come and go meanwhile
  const int counted = add(all_locks_of(win), minus(kOneExclusive));
  return code != MPI_SUCCESS ? code : counted;
}

int check_assertion(int assertion) {
  if ((assertion & ~MPI_MODE_NOCHECK) == 0) return MPI_SUCCESS;
  return failure(MPI_ERR_ASSERT, fmt::format("{} is no assertion for a lock", assertion));
}

int check_member(const Window& win, int rank) {
  if (rank >= 0 && rank < win.size()) return MPI_SUCCESS;
  return failure(MPI_ERR_RANK, fmt::format("the rank is {} of {}", rank, win.size()));
}

bool all_locked(const Window& win) {
  const Epoch epoch = win.epoch.load(std::memory_order_relaxed);
  return epoch == Epoch::kLockAll || epoch == Epoch::kLockAllUnchecked;
}

/// Checks that a call which completes operations to `rank` is inside of a passive epoch.
int check_passive(Window& win, int rank) {
  if (const int code = check_member(win, rank); code != MPI_SUCCESS) return code;
  const Access access = win.part(rank).access.load(std::memory_order_relaxed);
  if (all_locked(win) || (access != Access::kNone && access != Access::kStarted)) return MPI_SUCCESS;
  return failure(MPI_ERR_RMA_SYNC, fmt::format("rank {} is not locked", rank));
}

int flush(MPI_Win handle, int rank) {
  Window* win = nullptr;
  if (const int code = find_window(handle, win); code != MPI_SUCCESS) return code;
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  if (const int code = check_passive(*win, rank); code != MPI_SUCCESS) return code;
  return flush_part(win->part(rank));
}

int flush_all(MPI_Win handle) {
  Window* win = nullptr;
  if (const int code = find_window(handle, win); code != MPI_SUCCESS) return code;
  const std::lock_guard guard(win->epochs);
  if (!all_locked(*win) && win->locks == 0) return failure(MPI_ERR_RMA_SYNC, "no rank is locked");
  return checked(rma_fence_all());
}

}  // namespace

int win_lock(int lock_type, int rank, int assertion, MPI_Win handle) {
  Window* win = nullptr;
  if (const int code = find_window(handle, win); code != MPI_SUCCESS) return code;
  if (lock_type != MPI_LOCK_EXCLUSIVE && lock_type != MPI_LOCK_SHARED)
    return failure(MPI_ERR_LOCKTYPE, fmt::format("{} is no type of lock", lock_type));
  if (const int code = check_assertion(assertion); code != MPI_SUCCESS) return code;
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  if (const int code = check_member(*win, rank); code != MPI_SUCCESS) return code;
  WindowPart& part = win->part(rank);
  {
    const std::lock_guard guard(win->epochs);
    if (part.access.load(std::memory_order_relaxed) != Access::kNone || all_locked(*win) || win->started)
      return failure(MPI_ERR_RMA_SYNC, fmt::format("an epoch that gives access to rank {} is open", rank));
    ++win->locks;
    win->epoch.store(Epoch::kNone, std::memory_order_relaxed);  // that of a fence has not been used
  }
  Access access = Access::kUnchecked;
  int code = MPI_SUCCESS;
  if ((assertion & MPI_MODE_NOCHECK) == 0) {
    const bool exclusive = lock_type == MPI_LOCK_EXCLUSIVE;
    access = exclusive ? Access::kExclusive : Access::kShared;
    code = exclusive ? lock_exclusively(*win, rank)
                     : share(*win, lock_of(*win, rank), kExclusive, WindowWait::For::kLock);
    if (code == MPI_SUCCESS) win->note_held(rank, exclusive ? Held::kExclusive : Held::kShared);
  }
  if (code == MPI_SUCCESS) {
    part.access.store(access, std::memory_order_relaxed);
  } else {
    const std::lock_guard guard(win->epochs);
    --win->locks;
  }
  return code;
}

int win_unlock(int rank, MPI_Win handle) {
  Window* win = nullptr;
  if (const int code = find_window(handle, win); code != MPI_SUCCESS) return code;
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  if (const int code = check_member(*win, rank); code != MPI_SUCCESS) return code;
  WindowPart& part = win->part(rank);
  Access access = Access::kNone;
  {
    const std::lock_guard guard(win->epochs);
    access = part.access.load(std::memory_order_relaxed);
    if (access == Access::kNone || access == Access::kStarted)
      return failure(MPI_ERR_RMA_SYNC, fmt::format("rank {} is not locked", rank));
    part.access.store(Access::kNone, std::memory_order_relaxed);
    --win->locks;
  }
  // The lock is released also if an operation has failed. Else the others would wait for ever.
  const int flushed = flush_part(part);
  const int unlocked = unlock_part(*win, rank, access);
  return flushed != MPI_SUCCESS ? flushed : unlocked;
}

int win_lock_all(int assertion, MPI_Win handle) {
  Window* win = nullptr;
  if (const int code = find_window(handle, win); code != MPI_SUCCESS) return code;
  if (const int code = check_assertion(assertion); code != MPI_SUCCESS) return code;
  const bool checks = (assertion & MPI_MODE_NOCHECK) == 0;
  const std::lock_guard guard(win->epochs);
  if (win->locks != 0 || all_locked(*win) || win->started)
    return failure(MPI_ERR_RMA_SYNC, "an access epoch of the window is open");
  if (checks) {
    if (const int code = share(*win, all_locks_of(*win), ~kSharers, WindowWait::For::kLocks);
        code != MPI_SUCCESS) {
      return code;
    }
    win->note_held(win->size(), Held::kShared);
  }
  win->epoch.store(checks ? Epoch::kLockAll : Epoch::kLockAllUnchecked, std::memory_order_relaxed);
  return MPI_SUCCESS;
}

int win_unlock_all(MPI_Win handle) {
  Window* win = nullptr;
  if (const int code = find_window(handle, win); code != MPI_SUCCESS) return code;
  const std::lock_guard guard(win->epochs);
  if (!all_locked(*win)) return failure(MPI_ERR_RMA_SYNC, "MPI_Win_lock_all was not called");
  const bool counted = win->epoch.load(std::memory_order_relaxed) == Epoch::kLockAll;
  win->epoch.store(Epoch::kNone, std::memory_order_relaxed);
  const int flushed = checked(rma_fence_all());
  win->note_held(win->size(), Held::kNothing);
  const int unlocked = counted ? add(all_locks_of(*win), minus(1)) : MPI_SUCCESS;
  return flushed != MPI_SUCCESS ? flushed : unlocked;
}

// Local completion costs no less than completion at the target, for those operations that are not complete
// yet.
int win_flush(int rank, MPI_Win win) { return flush(win, rank); }
int win_flush_local(int rank, MPI_Win win) { return flush(win, rank); }
int win_flush_all(MPI_Win win) { return flush_all(win); }
int win_flush_local_all(MPI_Win win) { return flush_all(win); }

int win_sync(MPI_Win handle) {
  Window* win = nullptr;
  if (const int code = find_window(handle, win); code != MPI_SUCCESS) return code;
  // The window has one copy of its memory. The barrier orders the program's own loads and stores.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return MPI_SUCCESS;
}

}  // namespace rma::mpi
