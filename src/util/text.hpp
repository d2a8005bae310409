#pragma once

#include <fmt/format.h>

#include <new>
#include <string>
#include <utility>

namespace rma {

/// The text of a Status; empty where there is no memory for it, so that the code is not lost with the text.
template <typename... Arguments>
[[nodiscard, gnu::cold]] std::string text(fmt::format_string<Arguments...> format,
                                          Arguments&&... arguments) noexcept {
  try {
    return fmt::format(format, std::forward<Arguments>(arguments)...);
  } catch (const std::bad_alloc&) {
    return {};
  }
}

}  // namespace rma
