#pragma once

#include <string>

#include "armci/groups.hpp"

// What differs between the flavours: no_mpi.cpp does nothing for a group, mpi_comm.cpp makes a communicator.

namespace rma::armci {

/// Gives a new group what its members need. Collective over them.
void open_comm(Group& group);
/// Ends it. That of all processes, after the runtime, which leaves by it; where the program has the runtime
/// go on, it stays.
void close_comm(Group& group);

/// Begins the job for messages by init_messages(); ends the process where armci_msg_init was not called.
void begin_messages(const char* call);

/// Prints a text and ends this process where the runtime does not run, and the others where an MPI does that.
[[noreturn]] void end_processes(int exit_code, const std::string& text);

}  // namespace rma::armci
