#pragma once

#include "armci/groups.hpp"

// What differs between the flavours: no_mpi.cpp does nothing for a group, mpi_comm.cpp makes a communicator.

namespace rma::armci {

/// Gives a new group what its members need. Collective over them.
void open_comm(Group& group);
/// Ends it. That of all processes, after the runtime, which leaves by it; where the program has the runtime
/// go on, it stays.
void close_comm(Group& group);

}  // namespace rma::armci
