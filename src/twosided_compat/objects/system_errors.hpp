#pragma once

#include <optional>
#include <string>

namespace librma::mpi {

/// The failures of system calls have error codes of their own, so that MPI_Error_string returns the system's
/// text. The code of the error number `number` (errno) is this constant and `number`. The codes that a
/// program adds count up from MPI_ERR_LASTCODE and do not reach them, or begin behind them.
inline constexpr int kSystemCodes = 0x2000;
/// Error numbers are below this one.
inline constexpr int kSystemNumbers = 0x1000;

/// Returns the error class of a code of a system call's failure, or nothing for any other code.
[[nodiscard]] std::optional<int> system_error_class(int code);

/// Returns the text of such a code, which names its class and has the system's text, or nothing.
[[nodiscard]] std::optional<std::string> system_error_text(int code);

/// Returns the error code for an error number, and keeps "`what`: the system's text" for the message of the
/// fatal error handlers (failure()).
[[nodiscard]] int system_failure(int number, const std::string& what);

}  // namespace librma::mpi
