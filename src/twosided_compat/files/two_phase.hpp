#pragma once

#include "twosided_compat/files/access.hpp"

namespace librma::mpi {

/// Moves the data of the accesses of all members of a file. Collective. Returns the outcome of this member's
/// access.
[[nodiscard]] Outcome transfer_together(File& file, const FileAccess& access);

}  // namespace librma::mpi
