#pragma once

#include "rmarun/options.hpp"

namespace rmarun {

/// Gives the job free seats if --universe does not say how many it has, and one of its programs calls
/// MPI_Comm_spawn or MPI_Comm_spawn_multiple itself. The programs see some of them only. Only rmarun's
/// own host has seats.
void leave_room_for_spawning(Options& options);

}  // namespace rmarun
