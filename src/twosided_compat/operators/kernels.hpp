#pragma once

#include <cstddef>
#include <cstdint>

#include "twosided_compat/datatypes/predefined_types.hpp"

namespace rma::mpi {

/// Combines `count` elements: inout[i] = in[i] op inout[i]. Both arrays are aligned as their machine type, or
/// to 8 bytes if that is less, and do not overlap.
using Kernel = void (*)(const void* in, void* inout, std::size_t count);

/// Returns the loop of a predefined operator over a predefined datatype, or null if the standard does not
/// define the operator for it, or the compiler does not have the machine type. `op` is a number of
/// numbers.hpp.
[[nodiscard]] Kernel find_kernel(std::uintptr_t op, const PredefinedType& type);

}  // namespace rma::mpi
