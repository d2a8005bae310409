#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <string_view>

#include "api/runtime/runtime.hpp"
#include "util/status.hpp"

namespace librma {

/// Stores `failure` as this thread's last error, with the name of the call in front, and returns its code. If
/// there is no memory for the text, the text is cut short.
[[gnu::cold, gnu::noinline]] rma_status_t fail(std::string_view call, const Status& failure) noexcept;

/// Does the same for an exception: the code is RMA_ERR_NO_MEMORY for std::bad_alloc, else RMA_ERR_SYSTEM.
[[gnu::cold, gnu::noinline]] rma_status_t fail(std::string_view call, const std::exception& thrown) noexcept;

/// Does the same for a call outside rma_init ... rma_finalize, or in a forked child.
[[gnu::cold, gnu::noinline]] rma_status_t fail_without_runtime(std::string_view call) noexcept;

/// Runs the body of a function of the C interface; every such function uses it. `body(Runtime&)` returns a
/// Status. call() finds the runtime, records a trace event if the settings ask for it, and turns a failure or
/// an exception into a code and a text. It is inlined, so a call that succeeds pays for two predictable
/// branches. (call() catches only exceptions of the standard library, because the C library ends a cancelled
/// thread by an exception of its own.)
template <typename Body>
[[gnu::always_inline]] inline rma_status_t call(const char* name, int target, std::uint64_t bytes,
                                                const Body& body) try {
  Runtime* const runtime =
      current_runtime.load(std::memory_order_acquire);  // pairs with the store in rma_init
  if (runtime == nullptr) [[unlikely]]
    return fail_without_runtime(name);
  // The body is called at one place, so that the compiler inlines it and keeps its arguments in registers.
  Trace* const trace = runtime->trace.get();
  const auto begin = trace == nullptr ? Trace::Clock::time_point() : Trace::Clock::now();
  const Status status = body(*runtime);
  if (trace != nullptr) [[unlikely]]
    trace->record(name, begin, target, bytes);
  if (!status.ok()) [[unlikely]]
    return fail(name, status);
  return RMA_SUCCESS;
} catch (const std::exception& thrown) {
  return fail(name, thrown);
}

}  // namespace librma
