#pragma once

#include <fmt/format.h>

#include <new>
#include <string>
#include <utility>

namespace librma {

/// Formats the text of a Status. Returns an empty text if there is no memory for it, so that the Status keeps
/// at least its code.
template <typename... Arguments>
[[nodiscard, gnu::cold]] std::string text(fmt::format_string<Arguments...> format,
                                          Arguments&&... arguments) noexcept {
  try {
    return fmt::format(format, std::forward<Arguments>(arguments)...);
  } catch (const std::bad_alloc&) {
    return {};
  }
}

}  // namespace librma
