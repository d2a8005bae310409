#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>

namespace rmarun {

/// The state that the job's process tells its guard, in memory that both map.
struct Progress {
  /// Says that no process of the job is left. The job's process then only writes the rest of their output.
  /// The guard no longer applies the time limit, because a reader may take as long as it likes.
  std::atomic<bool> over{false};
};

/// The time that the job's process has to end the job after a request. It gives its ranks half a second.
constexpr auto kUsualPatience = std::chrono::seconds(3);

/// Runs `job` in a child process and returns its exit code. The job ends even if one of the two processes is
/// killed or hangs:
///  - If this process is killed, the child gets SIGTERM and ends the job as on request.
///  - If the child is killed, this process ends the rest of the job.
///  - If the child does not end after a request or after `timeout_seconds`, because it is stopped or hangs,
///    this process kills it and ends the rest of the job: at once on a second signal, else after `patience`.
/// This process passes awaited_signals() on to the child. `job` starts with these blocked, in a process
/// that is a child subreaper. The caller removes everything that `job` leaves besides processes.
int run_guarded(std::optional<double> timeout_seconds, const std::function<int(Progress&)>& job,
                std::chrono::seconds patience = kUsualPatience);

}  // namespace rmarun
