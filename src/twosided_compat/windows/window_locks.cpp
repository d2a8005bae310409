// Passive target epochs: locks, and the calls that complete operations inside of them.
//
// Each member has a FairLock `lock`, which processes share or have exclusively. Member 0 also has one of two
// groups, `all_locks`: the processes between MPI_Win_lock_all and MPI_Win_unlock_all, and those that hold an
// exclusive lock of any member or wait for one. So MPI_Win_lock_all costs one atomic operation, not one for
// each member (Gerstenberger, Besta,
// Hoefler: Enabling highly-scalable remote memory access programming with MPI-3 one sided, SC13, section
// 2.3).
//
//  exclusive: enter `all_locks` in the group of the exclusive ones, then take `lock` exclusively.
//  shared:    share `lock`.
//  all:       enter `all_locks` in the other group.

#include <fmt/format.h>

#include <atomic>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/objects/library_failure.hpp"
#include "twosided_compat/windows/window.hpp"
#include "twosided_compat/windows/window_waiting.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {
namespace {

/// The passive epochs of this process in all windows, whose locks it holds or waits for.
std::atomic<int> open_locks = 0;

LockWords lock_of(const Window& win, int member) {
  return {win, win.part(member), &WindowControl::lock, WindowWait::For::kLock};
}
LockWords all_locks_of(const Window& win, WindowWait::For what) {
  return {win, win.part(0), &WindowControl::all_locks, what};
}

int lock_exclusively(Window& win, int member, bool holds_another) {
  LockWords all = all_locks_of(win, WindowWait::For::kLockAll);
  RMA_TRY(fair_lock::acquire(all, fair_lock::kGroupB, holds_another));
  LockWords own = lock_of(win, member);
  const int code = fair_lock::acquire(own, fair_lock::kExclusive, holds_another);
  if (code != MPI_SUCCESS) static_cast<void>(fair_lock::release(all, fair_lock::kGroupB));
  return code;
}

int lock_part(Window& win, int member, Access access) {
  // Relaxed: only this process's own calls count, and a call of another thread may as well come before or
  // after.
  const bool holds_another = open_locks.fetch_add(1, std::memory_order_relaxed) != 0;
  LockWords own = lock_of(win, member);
  const bool exclusive = access == Access::kExclusive;
  const int code = exclusive ? lock_exclusively(win, member, holds_another)
                             : fair_lock::acquire(own, fair_lock::kShared, holds_another);
  if (code == MPI_SUCCESS) {
    win.note_held(member, exclusive ? Held::kExclusive : Held::kShared);
  } else {
    open_locks.fetch_sub(1, std::memory_order_relaxed);
  }
  return code;
}

int unlock_part(Window& win, int member, Access access) {
  if (access != Access::kShared && access != Access::kExclusive) return MPI_SUCCESS;
  open_locks.fetch_sub(1, std::memory_order_relaxed);
  win.note_held(member, Held::kNothing);
  LockWords own = lock_of(win, member);
  if (access == Access::kShared) return fair_lock::release(own, fair_lock::kShared);
  const int code = fair_lock::release(own, fair_lock::kExclusive);
  LockWords all = all_locks_of(win, WindowWait::For::kLockAll);
  const int left = fair_lock::release(all, fair_lock::kGroupB);
  return code != MPI_SUCCESS ? code : left;
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
  const Epoch epoch = win.epoch();
  return epoch == Epoch::kLockAll || epoch == Epoch::kLockAllUnchecked;
}

/// Checks that a call which completes operations to `rank` is inside of a passive epoch.
int check_passive(Window& win, int rank) {
  RMA_TRY(check_member(win, rank));
  const Access access = win.part(rank).access.load(std::memory_order_relaxed);
  if (all_locked(win) || (access != Access::kNone && access != Access::kStarted)) return MPI_SUCCESS;
  return failure(MPI_ERR_RMA_SYNC, fmt::format("rank {} is not locked", rank));
}

int flush(MPI_Win handle, int rank) {
  RMA_TRY_ASSIGN(win, find_window(handle));
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  RMA_TRY(check_passive(*win, rank));
  return flush_part(win->part(rank));
}

int flush_all(MPI_Win handle) {
  RMA_TRY_ASSIGN(win, find_window(handle));
  const std::lock_guard guard(win->epochs);
  if (!all_locked(*win) && win->locks == 0) return failure(MPI_ERR_RMA_SYNC, "no rank is locked");
  return checked(rma_fence_all());
}

}  // namespace

int win_lock(int lock_type, int rank, int assertion, MPI_Win handle) {
  RMA_TRY_ASSIGN(win, find_window(handle));
  if (lock_type != MPI_LOCK_EXCLUSIVE && lock_type != MPI_LOCK_SHARED)
    return failure(MPI_ERR_LOCKTYPE, fmt::format("{} is no type of lock", lock_type));
  RMA_TRY(check_assertion(assertion));
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  RMA_TRY(check_member(*win, rank));
  WindowPart& part = win->part(rank);
  {
    const std::lock_guard guard(win->epochs);
    if (part.access.load(std::memory_order_relaxed) != Access::kNone || all_locked(*win) ||
        win->active_target.started)
      return failure(MPI_ERR_RMA_SYNC, fmt::format("an epoch that gives access to rank {} is open", rank));
    ++win->locks;
    win->set_epoch(Epoch::kNone);  // that of a fence has not been used
  }
  Access access = Access::kUnchecked;
  int code = MPI_SUCCESS;
  if ((assertion & MPI_MODE_NOCHECK) == 0) {
    access = lock_type == MPI_LOCK_EXCLUSIVE ? Access::kExclusive : Access::kShared;
    code = lock_part(*win, rank, access);
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
  RMA_TRY_ASSIGN(win, find_window(handle));
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  RMA_TRY(check_member(*win, rank));
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
  RMA_TRY_ASSIGN(win, find_window(handle));
  RMA_TRY(check_assertion(assertion));
  const bool checks = (assertion & MPI_MODE_NOCHECK) == 0;
  const std::lock_guard guard(win->epochs);
  if (win->locks != 0 || all_locked(*win) || win->active_target.started)
    return failure(MPI_ERR_RMA_SYNC, "an access epoch of the window is open");
  if (checks) {
    LockWords all = all_locks_of(*win, WindowWait::For::kLocks);
    const bool holds_another = open_locks.fetch_add(1, std::memory_order_relaxed) != 0;
    if (const int code = fair_lock::acquire(all, fair_lock::kGroupA, holds_another); code != MPI_SUCCESS) {
      open_locks.fetch_sub(1, std::memory_order_relaxed);
      return code;
    }
    win->note_held(win->size(), Held::kShared);
  }
  win->set_epoch(checks ? Epoch::kLockAll : Epoch::kLockAllUnchecked);
  return MPI_SUCCESS;
}

int win_unlock_all(MPI_Win handle) {
  RMA_TRY_ASSIGN(win, find_window(handle));
  const std::lock_guard guard(win->epochs);
  if (!all_locked(*win)) return failure(MPI_ERR_RMA_SYNC, "MPI_Win_lock_all was not called");
  const bool counted = win->epoch() == Epoch::kLockAll;
  win->set_epoch(Epoch::kNone);
  const int flushed = checked(rma_fence_all());
  int unlocked = MPI_SUCCESS;
  if (counted) {
    open_locks.fetch_sub(1, std::memory_order_relaxed);
    win->note_held(win->size(), Held::kNothing);
    LockWords all = all_locks_of(*win, WindowWait::For::kLocks);
    unlocked = fair_lock::release(all, fair_lock::kGroupA);
  }
  return flushed != MPI_SUCCESS ? flushed : unlocked;
}

// Local completion costs no less than completion at the target, for those operations that are not complete
// yet.
int win_flush(int rank, MPI_Win win) { return flush(win, rank); }
int win_flush_local(int rank, MPI_Win win) { return flush(win, rank); }
int win_flush_all(MPI_Win win) { return flush_all(win); }
int win_flush_local_all(MPI_Win win) { return flush_all(win); }

int win_sync(MPI_Win handle) {
  RMA_TRY(find_window(handle).failure());
  // The window has one copy of its memory. The barrier orders the program's own loads and stores.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
