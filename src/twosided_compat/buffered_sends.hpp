#pragma once

#include "twosided_compat/communicator.hpp"

namespace rma::mpi {

/// Waits until the buffered sends of a communicator's own buffer are sent, and detaches the buffer, if there
/// is one.
void detach_buffer_of(const Communicator& comm);
/// Does the same for all buffers. Called by MPI_Finalize.
void detach_all_buffers();

}  // namespace rma::mpi
