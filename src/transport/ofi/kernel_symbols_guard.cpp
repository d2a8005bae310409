#include "transport/ofi/kernel_symbols_guard.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace librma::transport {
namespace {

std::FILE* open_unless_kernel_symbols(const char* path, const char* mode) {
  if (std::string_view(path) != "/proc/kallsyms") return std::fopen(path, mode);
  errno = ENOENT;
  return nullptr;
}

bool has_entries(const char* folder) {
  std::error_code error;
  const std::filesystem::directory_iterator entries(folder, error);
  return !error && entries != std::filesystem::directory_iterator();
}

}  // namespace

KernelSymbolsGuard::KernelSymbolsGuard(void* library, const char* devices) {
  if (has_entries(devices)) return;
  open_file_.emplace(library, "fopen", reinterpret_cast<void*>(&open_unless_kernel_symbols));
}

}  // namespace librma::transport
