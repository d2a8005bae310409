#include "transport/ofi/libfabric.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <mutex>

#include "transport/ofi/signal_guard.hpp"
#include "transport/ofi/timer_slack_guard.hpp"
#include "util/try.hpp"

namespace librma::transport {
namespace {

constexpr const char* kLibrary = "libfabric.so.1";

/// Finds a function in the version of the binary interface that this file was written for; later libraries
/// keep it.
template <typename Function>
Status find_function(void* library, const char* name, const char* version, Function& function) {
  function = reinterpret_cast<Function>(dlvsym(library, name, version));
  if (function != nullptr) return {};
  return {RMA_ERR_UNSUPPORTED,
          fmt::format("{} has no {}@{}: it is older than 1.15", kLibrary, name, version)};
}

}  // namespace

Status Libfabric::load() {
  const SignalGuard signals;
  const TimerSlackGuard sleeps;
  // It is never closed: some providers leave threads behind.
  handle = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return {RMA_ERR_UNSUPPORTED,
            fmt::format("libfabric cannot be loaded ({}); Debian's package is libfabric1",
                        dlerror())};  // NOLINT(concurrency-mt-unsafe): glibc's is safe
  }
  RMA_TRY(find_function(handle, "fi_getinfo", "FABRIC_1.3", get_info));
  RMA_TRY(find_function(handle, "fi_freeinfo", "FABRIC_1.3", free_info));
  RMA_TRY(find_function(handle, "fi_dupinfo", "FABRIC_1.3", duplicate_info));
  RMA_TRY(find_function(handle, "fi_fabric", "FABRIC_1.1", open_fabric));
  RMA_TRY(find_function(handle, "fi_strerror", "FABRIC_1.0", error_text));
  return find_function(handle, "fi_version", "FABRIC_1.0", version);
}

Result<const Libfabric*> Libfabric::get() {
  static std::mutex lock;
  static Libfabric library;
  const std::lock_guard guard(lock);
  if (library.version == nullptr) {
    RMA_TRY(library.load());
  }
  return &library;
}

std::string Libfabric::version_text() const {
  const std::uint32_t number = version();
  return fmt::format("{}.{}", FI_MAJOR(number), FI_MINOR(number));
}

Status fabric_failure(rma_status_t code, const std::string& call, long error) {
  const auto library = Libfabric::get();
  const int number = static_cast<int>(error < 0 ? -error : error);
  return {code, fmt::format("{}: {}", call, library.ok() ? library.value()->error_text(number) : "?")};
}

}  // namespace librma::transport
