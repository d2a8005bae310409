#include "rmarun/process_heap.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "rmarun/installation.hpp"

namespace rmarun {

librma::Status preload_process_heap(Environment& environment) {
  const std::string setting = environment.get("RMA_PROCESS_HEAP");
  if (setting == "0") return {};
  const std::filesystem::path library = find_installed(RMA_HEAP_INSTALLED, RMA_HEAP_BUILT);
  if (library.empty()) {
    if (setting != "1") return {};
    return {RMA_ERR_SETTING, fmt::format("RMA_PROCESS_HEAP=1 needs {}, which is not there",
                                         installed_path(RMA_HEAP_INSTALLED).string())};
  }
  // The dynamic linker takes both for the end of a name, and knows no way to write them.
  if (library.string().find_first_of(" :") != std::string::npos) {
    if (setting != "1") return {};
    return {RMA_ERR_SETTING,
            fmt::format("RMA_PROCESS_HEAP=1 cannot preload '{}': LD_PRELOAD allows neither a "
                        "space nor a colon in the name of a file",
                        library.string())};
  }
  environment.prepend("LD_PRELOAD", library.string());
  // AddressSanitizer's library refuses to start behind another one. This one passes every call on to it.
  environment.prepend("ASAN_OPTIONS", "verify_asan_link_order=0");
  return {};
}

}  // namespace rmarun
