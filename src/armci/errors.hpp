#pragma once

#include <string_view>

#include "rma/rma.h"

namespace rma::armci {

/// Ends the job with what `call` says. Misuse, and what a program that does not look at results must not
/// survive.
[[noreturn, gnu::cold]] void die(std::string_view call, std::string_view text);

/// Ends the job with this thread's last error, unless `status` is success.
void require(rma_status_t status, const char* call);

/// What a call returns for arguments that the runtime refused: see armci.h. Ends the job for any other
/// failure.
[[nodiscard, gnu::cold]] int failure(rma_status_t status, const char* call);

/// What arguments are refused with.
inline constexpr int kNullArgument = -1;
inline constexpr int kBadSize = -3;
inline constexpr int kBadLevels = -4;
inline constexpr int kBadProcess = -5;

/// What a call returns for what the runtime returned.
[[nodiscard]] inline int result(rma_status_t status, const char* call) {
  if (status == RMA_SUCCESS) [[likely]]
    return 0;
  return failure(status, call);
}

}  // namespace rma::armci
