#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "util/status.hpp"
#include "util/text.hpp"

namespace librma {

enum class LogLevel : int { trace, debug, info, warn, error };

/// Opens the log: from now on, messages of level `least` ("trace", ..., "error", or "off" for none) and above
/// go to standard error, with `rank` in front. RMA_ERR_SETTING for any other word.
[[nodiscard]] Status open_log(std::string_view least, int rank);

/// Returns whether the log prints messages of this level.
[[nodiscard]] bool log_prints(LogLevel level) noexcept;

/// Prints one message, if the log prints its level. A message is lost if there is no memory for it. Never
/// called on a data path.
void log(LogLevel level, std::string_view message) noexcept;

/// Formats a message and prints it likewise. It throws nothing, because threads that take in completions call
/// it and must lose none of them.
template <typename First, typename... More>
[[gnu::cold]] void log(LogLevel level, fmt::format_string<First, More...> format, First&& first,
                       More&&... more) noexcept {
  if (log_prints(level)) log(level, text(format, std::forward<First>(first), std::forward<More>(more)...));
}

}  // namespace librma
