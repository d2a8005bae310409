#include "rmarun/process_heap.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace rmarun {

namespace {

/// Returns the path of librma_heap.so, or an empty one if it is not there.
std::filesystem::path find_library(const std::filesystem::path& folder) {
  // From rmarun's folder: as installed, and as built.
  constexpr std::array<std::string_view, 2> kPlaces = {RMA_HEAP_INSTALLED, RMA_HEAP_BUILT};
  std::error_code error;
  for (const std::string_view place : kPlaces) {
    std::filesystem::path library = (folder / place).lexically_normal();
    if (std::filesystem::exists(library, error)) return library;
  }
  return {};
}

/// Sets `name` to `first` and what it holds already.
void prepend(Environment& environment, const std::string& name, const std::string& first) {
  const std::string others = environment.get(name);
  environment.set(name, others.empty() ? first : first + ":" + others);
}

}  // namespace

librma::Status preload_process_heap(Environment& environment) {
  const std::string setting = environment.get("RMA_PROCESS_HEAP");
  if (setting == "0") return {};
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path library = find_library(program.parent_path());
  if (library.empty()) {
    if (setting != "1") return {};
    return {RMA_ERR_SETTING,
            fmt::format("RMA_PROCESS_HEAP=1 needs {}, which is not there",
                        (program.parent_path() / RMA_HEAP_INSTALLED).lexically_normal().string())};
  }
  prepend(environment, "LD_PRELOAD", library.string());
  // AddressSanitizer's library refuses to start behind another one. This one passes every call on to it.
  prepend(environment, "ASAN_OPTIONS", "verify_asan_link_order=0");
  return {};
}

}  // namespace rmarun
