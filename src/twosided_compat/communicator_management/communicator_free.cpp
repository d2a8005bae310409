// Freed communicators.

#include "twosided_compat/calls.hpp"
#include "twosided_compat/communicators/communicator.hpp"
#include "twosided_compat/messages/buffered_sends.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {

int comm_free(MPI_Comm* handle) {
  RMA_TRY_ASSIGN(comm, find_communicator(*handle));
  if (comm->is_predefined()) return failure(MPI_ERR_COMM, "a predefined communicator cannot be freed");
  RMA_TRY(comm->attributes.remove_all(*handle));
  detach_buffer_of(*comm);
  *handle = MPI_COMM_NULL;
  comm->remove_reference();
  return MPI_SUCCESS;
}

// Every message between the members has been received when all are here.
int comm_disconnect(MPI_Comm* handle) {
  RMA_TRY_ASSIGN(comm, find_communicator(*handle));
  if (comm->is_predefined()) return failure(MPI_ERR_COMM, "a predefined communicator cannot be disconnected");
  const int met = barrier(*handle);
  const int freed = comm_free(handle);
  return met != MPI_SUCCESS ? met : freed;
}

}  // namespace librma::mpi
