#pragma once

#include "twosided_compat/files/access.hpp"

namespace librma::mpi {

/// If the contiguous parts have so many bytes on average, each member moves its own: the exchange would copy
/// what the system copies as fast.
constexpr MPI_Count kLargePartOnOneHost = 4096;
/// The same between hosts, where a file system does more for each part.
constexpr MPI_Count kLargePart = 32768;

/// Gives all members of a file the extents of their accesses, in file.extents, in the order of ranks. It
/// allocates nothing. Collective. `failed` is the code of a member that has failed already: if it is
/// MPI_ERR_NO_MEM, the call fails on all members.
[[nodiscard]] int share_extents(File& file, AccessExtent mine, int failed);

/// Moves the data of the accesses of all members of a file. Collective. Returns the outcome of this member's
/// access. `failed` is the code of a member that has failed already, and whose access is empty.
[[nodiscard]] Outcome transfer_together(File& file, const FileAccess& access, int failed);

}  // namespace librma::mpi
