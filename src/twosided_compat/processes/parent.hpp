#pragma once

namespace librma::mpi {

/// Meets the processes that have spawned this world, if there are any, and makes the intercommunicator with
/// them. Called by MPI_Init when the predefined communicators are there. Collective over both worlds.
[[nodiscard]] int meet_parents();
/// Frees that communicator, unless the program has. Called by MPI_Finalize.
void leave_parents();

}  // namespace librma::mpi
