#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rmarun {

/// Returns the parts of a text between separators, without the empty ones.
[[nodiscard]] inline std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const auto end = text.find(separator);
    if (end != 0) parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return parts;
}

}  // namespace rmarun
