#pragma once

#include <exception>
#include <string_view>

#include "api/runtime.hpp"
#include "util/status.hpp"

namespace rma {

/// Keeps `failure` as this thread's last error, named after the call, and returns its code. A text that there
/// is no memory for is cut short.
[[gnu::cold, gnu::noinline]] rma_status_t fail(std::string_view call, const Status& failure) noexcept;

/// The same of an exception: RMA_ERR_NO_MEMORY for std::bad_alloc, else RMA_ERR_SYSTEM.
[[gnu::cold, gnu::noinline]] rma_status_t fail(std::string_view call, const std::exception& thrown) noexcept;

/// fail() for a call outside rma_init ... rma_finalize, or in a forked child.
[[gnu::cold, gnu::noinline]] rma_status_t fail_without_runtime(std::string_view call) noexcept;

/// Every function of the C interface runs its body through here: `body(Runtime&)` returns a Status. Checks
/// that the runtime is there, records a trace event when asked to, and turns a failure, or an exception, into
/// a code and a text. Inlined, so that a call that succeeds pays for two predictable branches. (Not every
/// exception is caught: by one that is none of the standard library's the C library ends a cancelled thread.)
template <typename Body>
[[gnu::always_inline]] inline rma_status_t call(const char* name, int target, std::uint64_t bytes,
                                                const Body& body) try {
  Runtime* const runtime =
      current_runtime.load(std::memory_order_acquire);  // pairs with the store in rma_init
  if (runtime == nullptr) [[unlikely]]
    return fail_without_runtime(name);
  if (runtime->trace != nullptr) [[unlikely]] {
    const auto begin = Trace::Clock::now();
    const Status status = body(*runtime);
    runtime->trace->record(name, begin, target, bytes);
    return status.ok() ? RMA_SUCCESS : fail(name, status);
  }
  const Status status = body(*runtime);
  if (!status.ok()) [[unlikely]]
    return fail(name, status);
  return RMA_SUCCESS;
} catch (const std::exception& thrown) {
  return fail(name, thrown);
}

}  // namespace rma
