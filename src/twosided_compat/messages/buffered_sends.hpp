#pragma once

#include <cstdint>

#include "twosided_compat/communicators/communicator.hpp"

namespace librma::mpi {

/// Waits until the buffered sends of a communicator's own buffer are sent, and detaches the buffer, if there
/// is one.
void detach_buffer_of(const Communicator& comm);
/// Does the same for the buffers of a session and of its communicators; with kNoSession, for those of the
/// process and of communicators that come from MPI_Init.
void detach_buffers_of_session(std::uint64_t session);
/// Does the same for all buffers. Called when the job ends.
void detach_all_buffers();

}  // namespace librma::mpi
