#pragma once

#include <string>
#include <string_view>

#include "rma/rma.h"

namespace librma::armci {

/// Prints that `call` failed, with `text`, and ends the job. `call` may be a strong name, and `text` may be
/// an error text of the runtime; both are printed with ARMCI's names. It is for misuse, and for failures
/// after which a program that ignores results must not continue.
[[noreturn, gnu::cold]] void die(std::string_view call, std::string_view text);

/// Prints `text` and ends the job with `exit_code`, also before the job has begun. With 0 the
/// job ends successfully.
[[noreturn, gnu::cold]] void end_job(int exit_code, const std::string& text);

/// The text for a call of message.h before the job has begun.
inline constexpr std::string_view kNotReady = "neither armci_msg_init nor ARMCI_Init was called";

/// The hint for a number that armci.h and message.h do not define.
inline constexpr std::string_view kOtherHeader =
    "was the program compiled with another ARMCI's armci.h, for example the one in /usr/include?";

/// Ends the job with this thread's last error, unless `status` is success.
void require(rma_status_t status, const char* call);

/// Returns the result of a call whose arguments the runtime refused (see armci.h). Ends the job for any
/// other failure.
[[nodiscard, gnu::cold]] int failure(rma_status_t status, const char* call);

/// The results of calls with wrong arguments.
inline constexpr int kNullArgument = -1;
inline constexpr int kBadSize = -3;
inline constexpr int kBadLevels = -4;
inline constexpr int kBadProcess = -5;

/// Translates the runtime's status into the result of a call.
[[nodiscard]] inline int result(rma_status_t status, const char* call) {
  if (status == RMA_SUCCESS) [[likely]]
    return 0;
  return failure(status, call);
}

}  // namespace librma::armci
