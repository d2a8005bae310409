#pragma once

#include <string>

#include "rmarun/guard.hpp"
#include "rmarun/options.hpp"

namespace rmarun {

/// Runs the job and returns rmarun's exit code. When it returns, no process of the job is left.
///
/// Called in a process that is a child subreaper and blocks SIGCHLD and kEndingSignals (run_guarded).
/// `directory` is where the PMIx server may keep its files. `progress` tells the guard how far the job is.
/// The caller leaves the process by _exit() soon after: PMIx's threads are still there.
int run_job(const Options& options, const std::string& directory, Progress& progress);

}  // namespace rmarun
