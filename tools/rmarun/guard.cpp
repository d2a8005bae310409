#include "rmarun/guard.hpp"

#include <fmt/format.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigset_t is POSIX's
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "rmarun/exit_codes.hpp"
#include "rmarun/processes.hpp"

namespace rmarun {
namespace {

/// Waits for `child`, reaping whatever else this subreaper inherits, and passes signals on to it.
int wait_for(pid_t child, const sigset_t& signals) {
  while (true) {
    siginfo_t received{};
    if (::sigwaitinfo(&signals, &received) < 0) continue;  // EINTR, after a stop and continue
    if (received.si_signo != SIGCHLD) {
      // The terminal signals the whole foreground group: then the child has got it already.
      if (received.si_code != SI_KERNEL) ::kill(child, received.si_signo);
      continue;
    }
    int status = 0;
    for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      if (pid == child) return status;
    }
  }
}

sigset_t guarded_signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGCHLD);
  for (const int signal : kEndingSignals) ::sigaddset(&signals, signal);
  return signals;
}

}  // namespace

int run_guarded(const std::function<int()>& job) {
  const sigset_t signals = guarded_signals();
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  // An ignored SIGCHLD, as some parents leave it, would have the system reap the ranks before anyone saw
  // their fate.
  ::signal(SIGCHLD, SIG_DFL);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);

  const pid_t guard = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) {
    fmt::print(stderr, "rmarun: cannot start a process: {}\n", std::strerror(errno));
    return kExitFailure;
  }
  if (child == 0) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != guard) ::_exit(kExitFailure);  // the guard ended before the line above
    // By another name, so that one "killall -9 rmarun" does not kill both.
    ::prctl(PR_SET_NAME, "rma-job");
    const int code = job();
    std::fflush(nullptr);
    ::_exit(code);
  }

  const int status = wait_for(child, signals);
  kill_descendants();
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  fmt::print(stderr, "rmarun: ended by signal {} ({}); the job is ended too\n", WTERMSIG(status),
             ::strsignal(WTERMSIG(status)));
  return kExitSignal + WTERMSIG(status);
}

}  // namespace rmarun
