#pragma once

#include "mpi.h"
#include "twosided_compat/files/file.hpp"

// The pointer that all members of a file share: a position in the view, in the memory of rank 0, which the
// members change by atomic operations.

namespace librma::mpi {

/// Adds `bytes` to the pointer. Stores its value before.
[[nodiscard]] int advance_shared_pointer(const File& file, MPI_Count bytes, MPI_Offset& before);
/// Sets the pointer. Rank 0 calls it.
[[nodiscard]] int set_shared_pointer(const File& file, MPI_Offset position);

}  // namespace librma::mpi
