#pragma once

#include "armci/errors.hpp"
#include "rma/rma.h"
#include "util/status.hpp"

namespace librma::armci {

/// Returns the Status of a call of the C interface, with its error text.
[[nodiscard]] inline Status outcome(rma_status_t code) {
  if (code == RMA_SUCCESS) [[likely]]
    return {};
  return {code, rma_last_error()};
}

/// Ends the job with the failure's text. Does nothing for success.
inline void require(const Status& status, const char* call) {
  if (!status.ok()) [[unlikely]]
    die(call, status.text());
}

}  // namespace librma::armci
