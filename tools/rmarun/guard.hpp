#pragma once

#include <functional>

namespace rmarun {

/// Runs `job` in a child process and returns its exit code, so that the job's end never depends on one
/// process living long enough to see to it:
///  - when this process is killed, the child gets SIGTERM and ends the job as it does on request;
///  - when the child is killed, this process ends what is left of the job.
/// Signals that ask this process to end are passed on to the child. `job` starts with these signals and
/// SIGCHLD blocked and in a process that is a child subreaper.
int run_guarded(const std::function<int()>& job);

/// The signals that ask rmarun to end.
inline constexpr int kEndingSignals[] = {1 /* SIGHUP */, 2 /* SIGINT */, 3 /* SIGQUIT */, 15 /* SIGTERM */};

}  // namespace rmarun
