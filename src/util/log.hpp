#pragma once

#include <string_view>

#include "util/status.hpp"

namespace rma {

enum class LogLevel : int { trace, debug, info, warn, error };

/// From now on messages of `least` ("trace" ... "error", "off") and above go to standard error, marked with
/// `rank`. RMA_ERR_SETTING for any other word.
[[nodiscard]] Status open_log(std::string_view least, int rank);

/// Prints one message, if its level is wanted. Never on a data path.
void log(LogLevel level, std::string_view text) noexcept;

}  // namespace rma
