// What keepers need of options.hpp.

#include <filesystem>
#include <string>

#include "rmarun/options.hpp"

namespace rmarun {

std::string Program::path() const {
  const std::string& name = command.front();
  return name.find('/') == std::string::npos ? name : (std::filesystem::path(directory) / name).string();
}

}  // namespace rmarun
