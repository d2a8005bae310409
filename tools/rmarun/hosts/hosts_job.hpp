#pragma once

#include <string>

#include "rmarun/guard.hpp"
#include "rmarun/options.hpp"

namespace rmarun {

/// Runs a job on the hosts of `options` through an engine, and returns rmarun's exit code. As run_job()
/// otherwise.
int run_hosts_job(const Options& options, const std::string& directory, Progress& progress);

}  // namespace rmarun
