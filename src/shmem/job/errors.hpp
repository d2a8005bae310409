#pragma once

#include <fmt/format.h>

#include <string_view>

#include "rma/rma.h"

namespace librma::shmem {

/// The name of the call that the program made, for texts about failures.
using Call = const char*;

/// Ends the job with exit code 1. Prints this PE, the call and `text`. OpenSHMEM has no error codes for most
/// calls.
[[noreturn, gnu::cold]] void die(Call call, std::string_view text);

/// Ends the job if a call of librma failed.
inline void require(rma_status_t status, Call call) {
  if (status != RMA_SUCCESS) [[unlikely]]
    die(call, rma_last_error());
}

}  // namespace librma::shmem
