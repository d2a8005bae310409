#include "rmarun/installation.hpp"

#include <system_error>

namespace rmarun {

std::filesystem::path installed_path(std::string_view place) {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  return (program.parent_path() / place).lexically_normal();
}

std::filesystem::path find_installed(std::string_view installed, std::string_view built) {
  std::error_code error;
  for (const std::string_view place : {installed, built}) {
    std::filesystem::path found = installed_path(place);
    if (std::filesystem::exists(found, error)) return found;
  }
  return {};
}

}  // namespace rmarun
