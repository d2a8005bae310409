#include "twosided_compat/processes/launcher_failure.hpp"

#include "rma/rma.h"
#include "twosided_compat/objects/errors.hpp"

namespace librma::mpi {

int asked(rma_status_t status, int denied) {
  if (status == RMA_ERR_ARGUMENT) return failure(denied, rma_last_error());
  if (status == RMA_ERR_UNSUPPORTED) return failure(MPI_ERR_UNSUPPORTED_OPERATION, rma_last_error());
  return checked(status);
}

}  // namespace librma::mpi
