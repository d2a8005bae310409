#pragma once

namespace librma::mpi {

/// Begins the job for one more user: MPI_Init, or a session. Collective over the processes if it is the first
/// one.
[[nodiscard]] int enter_job();
/// Undoes enter_job(). The last user ends the job, with all processes.
[[nodiscard]] int leave_job();

}  // namespace librma::mpi
