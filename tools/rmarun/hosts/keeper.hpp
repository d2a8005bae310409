#pragma once

#include "rmarun/hosts/rank_start.hpp"

namespace rmarun {

/// Runs a rank on a host of a job of several hosts (`rmarun --rank`), as a process that an engine has
/// started. The keeper prepares the rank: its directory, environment, core and descriptors. Then it carries
/// the rank's output to rmarun as frames, passes signals on, tells rmarun how the rank ends, and ends what
/// the rank leaves behind. When the engine's daemon ends, so does the keeper, and when the keeper ends, so
/// does the rank. `find_cores` finds the cores of this host for a job that binds its ranks.
/// @return the exit code of the process.
int run_keeper(FindCores find_cores);

}  // namespace rmarun
