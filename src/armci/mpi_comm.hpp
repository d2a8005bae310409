#pragma once

#include <string>

#include "armci/groups.hpp"

// The functions that differ between the flavours: no_mpi.cpp does nothing for a group, mpi_comm.cpp
// makes a communicator.

namespace librma::armci {

/// Gives a new group its communicator. Collective over its members.
void open_comm(Group& group);
/// Frees a group's communicator. That of all processes is freed after the runtime has left the job by it. If
/// the program keeps the runtime running, it stays.
void close_comm(Group& group);

/// Begins the job for messages by init_messages(). Ends the process if armci_msg_init was not called.
void begin_messages(const char* call);

/// The flavour's part of finalize_at_exit(), after ARMCI's own. Without an MPI it leaves the job that
/// armci_msg_init joined. Beside an MPI it finalizes the MPI if ARMCI initialized it. It does nothing in a
/// forked child.
void leave_at_exit();

/// Prints a text and ends this process while the runtime does not run. Ends the others as well if an MPI
/// can do so.
[[noreturn]] void end_processes(int exit_code, const std::string& text);

}  // namespace librma::armci
