#include "rmarun/hosts/group_watch.hpp"

#include <fcntl.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigset_t is POSIX's
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/system/interruptions.hpp"

namespace rmarun {
namespace {

/// The watcher. It has the memory of the keeper, and makes system calls only. A session of its own keeps the
/// signals of the group from it.
[[noreturn]] void watch_for(int end_of_pipe, pid_t group) {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::setsid();
  ::prctl(PR_SET_NAME, "rma-watch");
  // An engine waits until all have closed the rank's streams.
  ::dup2(end_of_pipe, STDIN_FILENO);
  constexpr int kMost = 1024;  // before Linux 5.9; a keeper has few at its start
  if (::syscall(SYS_close_range, STDOUT_FILENO, ~0U, 0) != 0) {
    for (int each = STDOUT_FILENO; each < kMost; ++each) ::close(each);
  }
  char byte = 0;
  static_cast<void>(librma::uninterrupted([&] { return ::read(STDIN_FILENO, &byte, 1); }));
  ::kill(-group, SIGKILL);
  ::_exit(0);
}

}  // namespace

GroupWatch::GroupWatch() {
  const pid_t group = ::getpgrp();
  int ends[2];
  if (group != ::getpid() || ::pipe2(ends, O_CLOEXEC) != 0) return;
  // A fork whose end sends no signal: only __WALL waits for it, so the keeper's own children are the rank and
  // what the rank leaves.
  const auto child = ::syscall(SYS_clone, 0UL, nullptr, nullptr, nullptr, 0UL);
  if (child == 0) {
    ::close(ends[1]);
    watch_for(ends[0], group);
  }
  ::close(ends[0]);
  ours_ = ends[1];
  watcher_ = static_cast<pid_t>(child);
}

GroupWatch::~GroupWatch() {
  if (watcher_ > 0) {
    ::kill(watcher_, SIGKILL);
    static_cast<void>(librma::uninterrupted([&] { return ::waitpid(watcher_, nullptr, __WALL); }));
  }
  if (ours_ >= 0) ::close(ours_);
}

}  // namespace rmarun
