#pragma once

#include "mpi.h"
#include "twosided_compat/communicators/communicator.hpp"
#include "twosided_compat/datatypes/buffer.hpp"

// The arguments of a transfer as programs give them, and their checks.

namespace librma::mpi {

[[nodiscard, gnu::cold]] int bad_rank(int rank, const Communicator& comm);
[[nodiscard, gnu::cold]] int bad_tag(int tag);

/// Checks the destination and tag of a send. MPI_PROC_NULL is a good destination.
[[nodiscard]] inline int check_destination(const Communicator& comm, int rank, int tag) {
  if (!comm.has_peer(rank) && rank != MPI_PROC_NULL) [[unlikely]]
    return bad_rank(rank, comm);
  if (tag < 0) [[unlikely]]
    return bad_tag(tag);
  return MPI_SUCCESS;
}

/// Checks the source and tag of a receive or probe. MPI_PROC_NULL and the wildcards are good.
[[nodiscard]] inline int check_source(const Communicator& comm, int rank, int tag) {
  if (!comm.has_peer(rank) && rank != MPI_PROC_NULL && rank != MPI_ANY_SOURCE) [[unlikely]]
    return bad_rank(rank, comm);
  if (tag < 0 && tag != MPI_ANY_TAG) [[unlikely]]
    return bad_tag(tag);
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
