#pragma once

#include <cstddef>

#include "rma/rma.h"
#include "util/status.hpp"

namespace rma {

/// RMA_ERR_ARGUMENT when `type` or `op` is no enumerator, or the operator is not defined for the type:
/// RMA_MIN and RMA_MAX for complex types, RMA_B* for all but integers.
[[nodiscard]] Status check_reduction(rma_type_t type, rma_reduction_t op);

/// into[i] = into[i] op from[i] for `count` elements. Integers wrap. Both are aligned as their elements' real
/// type, and disjoint.
using Combine = void (*)(std::byte* into, const std::byte* from, std::size_t count);

/// A reduction that check_reduction() accepted.
struct Reduction {
  Combine combine = nullptr;
  std::size_t element_bytes = 0;

  [[nodiscard]] static Reduction of(rma_type_t type, rma_reduction_t op);
};

}  // namespace rma
