#pragma once

#include <cstddef>

#include "mpi.h"
#include "rma/unchecked.h"
#include "twosided_compat/communicators/communicator.hpp"
#include "twosided_compat/datatypes/datatypes.hpp"
#include "twosided_compat/messages/requests.hpp"
#include "twosided_compat/objects/object.hpp"

// The short ways of the calls that move a few bytes. Each does the whole call and returns true if all arguments
// are plainly right and nothing has to be waited for. Otherwise it returns false and has done nothing: the call
// then takes the other way, which checks the arguments again and reports what is wrong.
//
// They are inlined into the entry points, and all that they call is inlined, too, except for librma's functions.
// They need not ask whether MPI runs: before MPI_Init and after MPI_Finalize no handle names a communicator.

namespace librma::mpi {

/// Longer messages take the other way.
inline constexpr std::size_t kMostAtOnce = 8192;

/// Finds the size of a buffer. Returns false if it is too long, or if it needs a further look.
[[nodiscard, gnu::always_inline]] inline bool find_size(const void* address, MPI_Count count,
                                                        MPI_Datatype type, std::size_t& bytes) {
  const std::size_t size = dense_size(type);
  bytes = static_cast<std::size_t>(count) * size;  // of a negative count, more than any buffer
  return size != 0 && bytes <= kMostAtOnce && address != nullptr;
}

[[nodiscard, gnu::always_inline]] inline bool short_send(const void* address, MPI_Count count,
                                                         MPI_Datatype type, int dest, int tag,
                                                         MPI_Comm handle) {
  const auto* const comm = find<Communicator>(handle);
  std::size_t bytes = 0;
  return comm != nullptr && find_size(address, count, type, bytes) && comm->has_peer(dest) && tag >= 0 &&
         rma_try_send(address, bytes, comm->world_rank(dest), tag, comm->context()) != 0;
}

[[nodiscard, gnu::always_inline]] inline bool short_isend(const void* address, MPI_Count count,
                                                          MPI_Datatype type, int dest, int tag,
                                                          MPI_Comm handle, MPI_Request* request) {
  if (request == nullptr || !short_send(address, count, type, dest, tag, handle)) return false;
  *request = sent_handle;
  return true;
}

}  // namespace librma::mpi
