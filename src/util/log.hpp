#pragma once

#include <string_view>

#include "util/status.hpp"

namespace librma {

enum class LogLevel : int { trace, debug, info, warn, error };

/// Opens the log: from now on, messages of level `least` ("trace", ..., "error", or "off" for none) and above
/// go to standard error, with `rank` in front. RMA_ERR_SETTING for any other word.
[[nodiscard]] Status open_log(std::string_view least, int rank);

/// Prints one message, if the log prints its level. Never called on a data path.
void log(LogLevel level, std::string_view text) noexcept;

}  // namespace librma
