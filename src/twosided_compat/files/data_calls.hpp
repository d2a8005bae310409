#pragma once

#include <memory>

#include "mpi.h"
#include "twosided_compat/files/access.hpp"
#include "twosided_compat/files/file.hpp"

// The common parts of the calls that move data of files. `offset` is that of the calls with an explicit one,
// in etypes.

namespace librma::mpi {

/// Executes a blocking call.
[[nodiscard]] int run_access(MPI_File handle, const AccessKind& kind, MPI_Offset offset,
                             const FileMemory& memory, MPI_Status* status);
/// Starts a nonblocking call.
[[nodiscard]] int start_access(MPI_File handle, const AccessKind& kind, MPI_Offset offset,
                               const FileMemory& memory, MPI_Request* made);
/// Begin and end a split collective call.
[[nodiscard]] int begin_access(MPI_File handle, const AccessKind& kind, MPI_Offset offset,
                               const FileMemory& memory);
[[nodiscard]] int end_access(MPI_File handle, const AccessKind& kind, MPI_Status* status);

}  // namespace librma::mpi
