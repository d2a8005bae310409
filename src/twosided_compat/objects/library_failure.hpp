#pragma once

#include "mpi.h"
#include "rma/types.h"

namespace librma::mpi {

/// Returns the error class of a failure of librma in this thread, and keeps its text.
[[nodiscard, gnu::cold]] int library_failure(rma_status_t status);

/// Returns MPI_SUCCESS or the error class of a status of librma.
[[nodiscard]] inline int checked(rma_status_t status) {
  if (status == RMA_SUCCESS) [[likely]]
    return MPI_SUCCESS;
  return library_failure(status);
}

}  // namespace librma::mpi
