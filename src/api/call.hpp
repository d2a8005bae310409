#pragma once

#include <string_view>

#include "api/runtime.hpp"
#include "util/status.hpp"

namespace rma {

/// Keeps `failure` as this thread's last error, named after the call, and returns its code.
[[gnu::cold, gnu::noinline]] rma_status_t fail(std::string_view call, const Status& failure);

/// fail() for a call outside rma_init ... rma_finalize.
[[gnu::cold, gnu::noinline]] rma_status_t fail_not_initialized(std::string_view call);

/// Every function of the C interface runs its body through here: `body(Runtime&)` returns a Status. Checks
/// that the runtime is there, records a trace event when asked to, and turns a failure into a code and a
/// text. Inlined, so that a call that succeeds pays for two predictable branches.
template <typename Body>
[[gnu::always_inline]] inline rma_status_t call(const char* name, int target, std::uint64_t bytes,
                                                const Body& body) {
  Runtime* const runtime =
      current_runtime.load(std::memory_order_acquire);  // pairs with the store in rma_init
  if (runtime == nullptr) [[unlikely]]
    return fail_not_initialized(name);
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
}

}  // namespace rma
