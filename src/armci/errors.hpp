#pragma once

#include <string>
#include <string_view>

#include "rma/rma.h"

namespace rma::armci {

/// Ends the job with what `call` says, in ARMCI's words: `call` may be a strong name, and `text` what the
/// runtime says of a call of its own. Misuse, and what a program that does not look at results must not
/// survive.
[[noreturn, gnu::cold]] void die(std::string_view call, std::string_view text);

/// Prints a text and ends the job with this code, whether it has begun or not; as a success where the code is
/// 0.
[[noreturn, gnu::cold]] void end_job(int exit_code, const std::string& text);

/// For a call of messages before the job has begun.
inline constexpr std::string_view kNotReady = "neither armci_msg_init nor ARMCI_Init was called";

/// For a number that armci.h and message.h do not have.
inline constexpr std::string_view kOtherHeader =
    "was the program compiled with the armci.h of another ARMCI, as that in /usr/include?";

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
