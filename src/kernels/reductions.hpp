#pragma once

#include <array>
#include <cstddef>

#include "kernels/operators.hpp"
#include "rma/types.h"

namespace librma::kernels {

/// Returns the operator of librma's reduction, which must be a valid one.
[[nodiscard]] constexpr Operator operator_of(rma_reduction_t reduction) {
  constexpr std::array kByReduction = {Operator::kSum,   Operator::kProduct, Operator::kMin,
                                       Operator::kMax,   Operator::kBitAnd,  Operator::kBitOr,
                                       Operator::kBitXor};
  return kByReduction[static_cast<std::size_t>(reduction)];
}
static_assert(operator_of(RMA_SUM) == Operator::kSum && operator_of(RMA_MAX) == Operator::kMax &&
              operator_of(RMA_BXOR) == Operator::kBitXor);

}  // namespace librma::kernels
