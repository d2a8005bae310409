#include "rmarun/process_heap.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace rmarun {

rma::Status preload_process_heap(Environment& environment) {
  if (environment.get("RMA_PROCESS_HEAP") != "1") return {};
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  // From rmarun's folder: as installed, and as built.
  constexpr std::array<std::string_view, 2> kPlaces = {RMA_HEAP_INSTALLED, RMA_HEAP_BUILT};
  for (const std::string_view place : kPlaces) {
    const std::filesystem::path library = (program.parent_path() / place).lexically_normal();
    if (!std::filesystem::exists(library, error)) continue;
    const std::string others = environment.get("LD_PRELOAD");
    environment.set("LD_PRELOAD", others.empty() ? library.string() : library.string() + ":" + others);
    return {};
  }
  return {RMA_ERR_SETTING,
          fmt::format("RMA_PROCESS_HEAP=1 needs {}, which is not there",
                      (program.parent_path() / kPlaces.front()).lexically_normal().string())};
}

}  // namespace rmarun
