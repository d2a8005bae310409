#pragma once

#include "rma/types.h"
#include "twosided_compat/objects/library_failure.hpp"

namespace librma::mpi {

/// Returns MPI_SUCCESS, or the error of a call that has asked the launcher: `denied` if the launcher has said
/// no, MPI_ERR_UNSUPPORTED_OPERATION if it is not rmarun, or that of any other failure.
[[nodiscard]] int asked(rma_status_t status, int denied);

}  // namespace librma::mpi
