#pragma once

#include <string>

#include "rmarun/guard.hpp"
#include "rmarun/options.hpp"

namespace rmarun {

/// Runs the job and returns rmarun's exit code. When it returns, no process of the job is left.
///
/// Call it in a process that is a child subreaper and blocks awaited_signals() (run_guarded). The
/// PMIx server keeps its files in `directory`. `progress` tells the guard the state of the job. The caller
/// has to leave the process by _exit() soon after, because PMIx's threads still run.
int run_job(const Options& options, const std::string& directory, Progress& progress);

}  // namespace rmarun
