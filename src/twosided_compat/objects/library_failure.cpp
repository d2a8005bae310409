#include "twosided_compat/objects/library_failure.hpp"

#include "rma/rma.h"
#include "twosided_compat/objects/errors.hpp"

namespace librma::mpi {

int library_failure(rma_status_t status) {
  const char* const text = rma_last_error();
  switch (status) {
    case RMA_ERR_TRUNCATED:
      return failure(MPI_ERR_TRUNCATE, text);
    case RMA_ERR_NO_MEMORY:
      return failure(MPI_ERR_NO_MEM, text);
    case RMA_ERR_RANK:
      return failure(MPI_ERR_RANK, text);
    case RMA_ERR_ARGUMENT:
    case RMA_ERR_SIZE:
      return failure(MPI_ERR_ARG, text);
    case RMA_ERR_PEER_LOST:
      return failure(MPI_ERR_PROC_ABORTED, text);
    default:
      return failure(MPI_ERR_OTHER, text);
  }
}

}  // namespace librma::mpi
