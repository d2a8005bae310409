#pragma once

#include "rma/collectives.h"
#include "rma/rma.h"
#include "util/status.hpp"

namespace librma {

/// Returns RMA_ERR_ARGUMENT if `type` or `op` is not an enumerator, or if the operator is not defined for the
/// type. RMA_MIN and RMA_MAX are not defined for complex types, RMA_B* only for integers.
[[nodiscard]] Status check_reduction(rma_type_t type, rma_reduction_t op);

/// Returns how a reduction that check_reduction() accepted combines elements.
[[nodiscard]] rma_reducer_t reducer_of(rma_type_t type, rma_reduction_t op);

/// Returns a text such as "RMA_SUM of RMA_INT", for a reduction that check_reduction() accepted.
[[nodiscard]] const char* reduction_name(rma_type_t type, rma_reduction_t op);

}  // namespace librma
