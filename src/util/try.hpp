#pragma once

#include "rma/rma.h"

namespace librma {

/// Return whether an outcome is a failure: a code of rma.h, an error class of MPI, or a Status
/// (util/status.hpp).
[[nodiscard]] constexpr bool failed(rma_status_t code) noexcept { return code != RMA_SUCCESS; }
[[nodiscard]] constexpr bool failed(int error_class) noexcept { return error_class != 0; }

}  // namespace librma

/// Evaluates an expression that has an outcome, and returns the outcome from the calling function if it is a
/// failure. After abseil's RETURN_IF_ERROR.
#define RMA_TRY(...)                                                                  \
  do {                                                                                \
    if (auto rma_outcome = (__VA_ARGS__); ::librma::failed(rma_outcome)) [[unlikely]] \
      return rma_outcome;                                                             \
  } while (false)
