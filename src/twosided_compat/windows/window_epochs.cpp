// Active target epochs: fences, and the four calls of groups.
//
// MPI_Win_post counts in a word of each origin, MPI_Win_complete in one of each target. Only one process
// writes such a word, by a notification, which follows everything that the process has put there.
// MPI_Win_start waits until the targets' posts are more than this process's starts, MPI_Win_wait until the
// origins' completions are more than those that it has waited for.

#include <fmt/format.h>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/messages/completion.hpp"
#include "twosided_compat/objects/library_failure.hpp"
#include "twosided_compat/objects/polled_wait.hpp"
#include "twosided_compat/windows/window.hpp"
#include "twosided_compat/windows/window_waiting.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {
namespace {

int check_assertion(int assertion, int allowed) {
  if ((assertion & ~allowed) == 0) return MPI_SUCCESS;
  return failure(MPI_ERR_ASSERT, fmt::format("{} is no assertion for this call", assertion));
}

/// Finds the members of a window that a group consists of.
int find_members(const Window& win, MPI_Group handle, std::vector<int>& members) {
  RMA_TRY_ASSIGN(group, find_group(handle));
  members.clear();
  for (const int rank : group->members->world_ranks()) {
    const int member = win.members()->rank_of(rank);
    if (member == MPI_UNDEFINED)
      return failure(MPI_ERR_GROUP, fmt::format("world rank {} of the group is not in the window", rank));
    members.push_back(member);
  }
  return MPI_SUCCESS;
}

/// Sets a word of a member, after everything that this process has put there.
int notify(const WindowPart& part, std::uint64_t* word, std::uint64_t value) {
  return checked(rma_put_notify(nullptr, nullptr, 0, word, value, part.rank));
}

/// Returns whether this member's word has reached a number.
bool has_reached(const std::uint64_t* word, std::uint64_t value) {
  return __atomic_load_n(word, __ATOMIC_ACQUIRE) >= value;  // pairs with the notification
}

int wait_until_reached(const Window& win, const std::uint64_t* word, std::uint64_t value,
                       WindowWait::For what, int member) {
  WindowWait wait(win, what, member);
  while (!has_reached(word, value)) {
    RMA_TRY(wait.pause());
  }
  return MPI_SUCCESS;
}

std::uint64_t& of(std::vector<std::uint64_t>& counts, int member) {
  return counts[static_cast<std::size_t>(member)];
}

/// Waits until all targets of MPI_Win_start have posted.
int wait_for_posts(Window& win) {
  for (const int target : win.active_target.targets) {
    const std::uint64_t next = of(win.active_target.starts, target) + 1;
    RMA_TRY(
        wait_until_reached(win, win.post_counter(win.rank(), target), next, WindowWait::For::kPost, target));
  }
  for (const int target : win.active_target.targets) ++of(win.active_target.starts, target);
  return MPI_SUCCESS;
}

/// Ends the exposure epoch. All origins have completed their accesses.
void end_exposure(Window& win) {
  for (const int origin : win.active_target.origins) ++of(win.active_target.waited, origin);
  win.active_target.posted = false;
}

int check_posted(const Window& win) {
  return win.active_target.posted ? MPI_SUCCESS : failure(MPI_ERR_RMA_SYNC, "MPI_Win_post was not called");
}

}  // namespace

int win_fence(int assertion, MPI_Win handle) {
  RMA_TRY_ASSIGN(win, find_window(handle));
  constexpr int kAllowed = MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;
  RMA_TRY(check_assertion(assertion, kAllowed));
  {
    const std::lock_guard guard(win->epochs);
    const Epoch epoch = win->epoch();
    if (win->locks != 0 || win->active_target.started || win->active_target.posted ||
        (epoch != Epoch::kNone && epoch != Epoch::kFence))
      return failure(MPI_ERR_RMA_SYNC, "an epoch of another kind is open");
  }
  // Also a fence that follows no access waits for all: a later access must not come before it at its target.
  const int code = checked(rma_barrier(win->team()));
  const bool opens = (assertion & MPI_MODE_NOSUCCEED) == 0;
  win->set_epoch(opens ? Epoch::kFence : Epoch::kNone);
  return code;
}

int win_start(MPI_Group group, int assertion, MPI_Win handle) {
  RMA_TRY_ASSIGN(win, find_window(handle));
  RMA_TRY(check_assertion(assertion, MPI_MODE_NOCHECK));
  {
    const std::lock_guard guard(win->epochs);
    const Epoch epoch = win->epoch();
    if (win->active_target.started || win->locks != 0 || (epoch != Epoch::kNone && epoch != Epoch::kFence))
      return failure(MPI_ERR_RMA_SYNC, "an access epoch of the window is open");
    RMA_TRY(find_members(*win, group, win->active_target.targets));
    win->set_epoch(Epoch::kNone);  // that of a fence has not been used
    win->active_target.started = true;
  }
  // Without the lock: another thread may post meanwhile, and the targets may wait for that.
  if ((assertion & MPI_MODE_NOCHECK) == 0) {
    if (const int code = wait_for_posts(*win); code != MPI_SUCCESS) {
      win->active_target.started = false;
      return code;
    }
  }
  for (const int target : win->active_target.targets)
    win->part(target).access.store(Access::kStarted, std::memory_order_relaxed);
  return MPI_SUCCESS;
}

int win_complete(MPI_Win handle) {
  RMA_TRY_ASSIGN(win, find_window(handle));
  const std::lock_guard guard(win->epochs);
  if (!win->active_target.started) return failure(MPI_ERR_RMA_SYNC, "MPI_Win_start was not called");
  int code = MPI_SUCCESS;
  for (const int target : win->active_target.targets) {
    WindowPart& part = win->part(target);
    part.access.store(Access::kNone, std::memory_order_relaxed);
    // A target that is lost does not keep the others from their notification.
    int told = flush_part(part);
    if (told == MPI_SUCCESS)
      told = notify(part, win->complete_counter(target, win->rank()),
                    ++of(win->active_target.completes, target));
    if (code == MPI_SUCCESS) code = told;
  }
  win->active_target.started = false;
  return code;
}

int win_post(MPI_Group group, int assertion, MPI_Win handle) {
  RMA_TRY_ASSIGN(win, find_window(handle));
  constexpr int kAllowed = MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT;
  RMA_TRY(check_assertion(assertion, kAllowed));
  const std::lock_guard guard(win->epochs);
  if (win->active_target.posted) return failure(MPI_ERR_RMA_SYNC, "an exposure epoch of the window is open");
  RMA_TRY(find_members(*win, group, win->active_target.origins));
  win->active_target.posted = true;
  int code = MPI_SUCCESS;
  // With MPI_MODE_NOCHECK no origin waits for the post: the program has made sure that it comes first.
  if ((assertion & MPI_MODE_NOCHECK) != 0) return code;
  for (const int origin : win->active_target.origins) {
    const int told = notify(win->part(origin), win->post_counter(origin, win->rank()),
                            ++of(win->active_target.posts, origin));
    if (code == MPI_SUCCESS) code = told;
  }
  return code;
}

int win_wait(MPI_Win handle) {
  RMA_TRY_ASSIGN(win, find_window(handle));
  RMA_TRY(check_posted(*win));
  // Without the lock: another thread may start and complete accesses meanwhile.
  int code = MPI_SUCCESS;
  for (const int origin : win->active_target.origins) {
    const std::uint64_t next = of(win->active_target.waited, origin) + 1;
    if (code == MPI_SUCCESS)
      code = wait_until_reached(*win, win->complete_counter(win->rank(), origin), next,
                                WindowWait::For::kComplete, origin);
  }
  const std::lock_guard guard(win->epochs);
  end_exposure(*win);  // also if an origin is lost, so that the window can be freed
  return code;
}

int win_test(MPI_Win handle, int* flag) {
  RMA_TRY_ASSIGN(win, find_window(handle));
  RMA_TRY(check_posted(*win));
  *flag = 0;
  for (const int origin : win->active_target.origins) {
    if (!has_reached(win->complete_counter(win->rank(), origin), of(win->active_target.waited, origin) + 1)) {
      // A program that tests in a loop finds out that an origin has ended, and lets others run. They may keep
      // the processor for milliseconds, so that the clock says when to look.
      constexpr unsigned kLookEvery = 8;
      constexpr std::int64_t kBetweenLooks = 2'000'000;  // ns
      make_progress();
      if (++win->active_target.tests % kLookEvery != 0) return MPI_SUCCESS;
      const std::int64_t now = monotonic_nanoseconds();
      if (now - win->active_target.looked < kBetweenLooks) return MPI_SUCCESS;
      win->active_target.looked = now;
      return find_lost(*win->members());
    }
  }
  const std::lock_guard guard(win->epochs);
  end_exposure(*win);
  *flag = 1;
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
