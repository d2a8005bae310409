#pragma once

#include <filesystem>
#include <string_view>

namespace rmarun {

/// Returns the path of what is installed at `place`, seen from rmarun's own folder.
[[nodiscard]] std::filesystem::path installed_path(std::string_view place);

/// Returns the path of what is at `installed`, or else at `built`, where it is in a build folder. Both are
/// seen from rmarun's own folder. Returns an empty path if it is at neither.
[[nodiscard]] std::filesystem::path find_installed(std::string_view installed, std::string_view built);

}  // namespace rmarun
