#include "rmarun/guard.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigset_t is POSIX's
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

#include "rmarun/exit_codes.hpp"
#include "rmarun/processes.hpp"
#include "rmarun/signals.hpp"
#include "util/system/interruptions.hpp"

namespace rmarun {
namespace {

using Clock = std::chrono::steady_clock;

/// Two equal signals within this time count as one request: a key press may reach rmarun twice, from the
/// terminal and from a script that passes it on.
constexpr auto kSameRequest = std::chrono::milliseconds(100);

/// Writes a line to stderr, unless nobody reads it: rmarun's end does not wait for a reader.
void say(std::string_view text) {
  constexpr int kForReader = 200;  // ms
  const librma::SignalsHeldBack held_back;
  pollfd err{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&err, 1, kForReader) == 1) fmt::print(stderr, "rmarun: {}\n", text);
}

/// The guard's work while the job's process runs.
class Guard {
 public:
  Guard(pid_t child, const sigset_t& signals, std::optional<double> timeout_seconds,
        std::chrono::seconds patience, const Progress& progress)
      : child_(child), signals_(signals), patience_(patience), progress_(progress) {
    if (timeout_seconds) {
      limit_ = Clock::now() + patience_ +
               std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(*timeout_seconds));
    }
  }

  /// Waits until the job's process has ended, or ends it. No process of the job is left afterwards.
  /// @return the exit code of rmarun.
  int watch() {
    while (true) {
      if (const auto status = reap()) return end_after(*status);
      // Pairs with the job's release: the flag is set once no process of the job is left.
      if (limit_ && progress_.over.load(std::memory_order_acquire)) limit_.reset();
      const auto now = Clock::now();
      if (request_ && now >= *request_ + patience_) {
        return take_over(kExitSignal + signal_, fmt::format("{} has not ended the job, which is killed now",
                                                            describe_signal(signal_)));
      }
      if (limit_ && now >= *limit_) {
        return take_over(kExitTimeout, "the time limit has not ended the job, which is killed now");
      }
      siginfo_t received{};
      if (!wait(received) || received.si_signo == SIGCHLD) continue;
      if (is_passed_on(received.si_signo) || received.si_signo == kExplainingSignal) {
        pass_on(received);
      } else if (again(received)) {
        return take_over(kExitSignal + signal_, fmt::format("{} came while the job was being ended, which is "
                                                            "killed now",
                                                            describe_signal(received.si_signo)));
      }
    }
  }

 private:
  /// Waits for the next signal. Returns false if a deadline passes first, or if this process was stopped and
  /// goes on.
  bool wait(siginfo_t& received) const {
    std::optional<Clock::time_point> next = limit_;
    if (request_) next = next ? std::min(*next, *request_ + patience_) : *request_ + patience_;
    if (!next) return ::sigwaitinfo(&signals_, &received) > 0;
    const auto left = std::max(*next - Clock::now(), Clock::duration::zero());
    const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
    const timespec time{.tv_sec = seconds.count(),
                        .tv_nsec = std::chrono::nanoseconds(left - seconds).count()};
    return ::sigtimedwait(&signals_, &received, &time) > 0;
  }

  /// Passes a request to end on to the child. Returns true if the signal repeats an earlier request.
  bool again(const siginfo_t& received) {
    const auto now = Clock::now();
    if (request_) return now >= *request_ + kSameRequest;
    request_ = now;
    signal_ = received.si_signo;
    pass_on(received);
    ::kill(child_, SIGCONT);  // a stopped process could not end the job
    return false;
  }

  /// Sends a signal to the child, unless it has got it already: the terminal signals the whole foreground
  /// group.
  void pass_on(const siginfo_t& received) const {
    if (received.si_code != SI_KERNEL) ::kill(child_, received.si_signo);
  }

  /// Reaps all children that this subreaper has inherited. Returns the status of the job's process once that
  /// has ended.
  [[nodiscard]] std::optional<int> reap() const {
    int status = 0;
    for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      if (pid == child_) return status;
    }
    return std::nullopt;
  }

  static int end_after(int status) {
    kill_descendants();
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    say(fmt::format("ended by {}; the job is ended too", describe_signal(WTERMSIG(status))));
    return kExitSignal + WTERMSIG(status);
  }

  static int take_over(int exit_code, std::string_view why) {
    kill_descendants();
    say(why);
    return exit_code;
  }

  pid_t child_;
  sigset_t signals_;
  std::chrono::seconds patience_;
  const Progress& progress_;
  std::optional<Clock::time_point> request_;  ///< time of the first signal
  int signal_ = 0;                            ///< number of the first signal
  std::optional<Clock::time_point> limit_;    ///< time at which the job's process has missed the time limit
};

}  // namespace

int run_guarded(std::optional<double> timeout_seconds, const std::function<int(Progress&)>& job,
                std::chrono::seconds patience) {
  const sigset_t signals = awaited_signals();
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  // Some parents leave SIGCHLD ignored. The system would then reap the ranks before this process reads their
  // status.
  ::signal(SIGCHLD, SIG_DFL);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);

  void* const shared =
      ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) {
    say(fmt::format("cannot map memory: {}", std::strerror(errno)));
    return kExitFailure;
  }
  auto& progress = *new (shared) Progress;  // unmapped when both processes have ended
  const pid_t guard = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) {
    say(fmt::format("cannot start a process: {}", describe_refusal(errno)));
    return kExitFailure;
  }
  if (child == 0) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != guard) ::_exit(kExitFailure);  // the guard ended before the line above
    // The child gets another name, so that one "killall -9 rmarun" does not kill both.
    ::prctl(PR_SET_NAME, "rma-job");
    const int code = job(progress);
    std::fflush(nullptr);
    ::_exit(code);
  }
  return Guard(child, signals, timeout_seconds, patience, progress).watch();
}

}  // namespace rmarun
