#pragma once

#include <atomic>
#include <functional>
#include <optional>

namespace rmarun {

/// What the job's process tells its guard, in memory that both map.
struct Progress {
  /// No process of the job is left; its process only writes what they wrote. The time limit is no longer the
  /// guard's concern, because a reader may take as long as it likes.
  std::atomic<bool> over{false};
};

/// Runs `job` in a child process and returns its exit code, so that the job's end never depends on one
/// process living long enough to see to it:
///  - when this process is killed, the child gets SIGTERM and ends the job as it does on request;
///  - when the child is killed, this process ends what is left of the job;
///  - when the child does not end after a request or after `timeout_seconds`, because it is stopped or hangs,
///    this process kills it and ends what is left of the job: at once on a second signal, else after 3 s.
/// Signals that ask this process to end are passed on to the child. `job` starts with these signals and
/// SIGCHLD blocked and in a process that is a child subreaper. What `job` leaves besides processes, the
/// caller removes.
int run_guarded(std::optional<double> timeout_seconds, const std::function<int(Progress&)>& job);

/// The signals that ask rmarun to end.
inline constexpr int kEndingSignals[] = {1 /* SIGHUP */, 2 /* SIGINT */, 3 /* SIGQUIT */, 15 /* SIGTERM */};

}  // namespace rmarun
