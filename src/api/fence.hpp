#pragma once

#include <atomic>

#include "api/runtime.hpp"

namespace rma {

/// Waits until everything that was issued to `rank` is visible there.
[[nodiscard]] inline Status fence(Runtime& runtime, int rank) {
  count(Counter::fence);
  // Orders stores to mapped memory before all later accesses of this thread.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return runtime.remote_access->pending().fence(rank);
}

/// Performs fence() for every rank.
[[nodiscard]] inline Status fence_all(Runtime& runtime) {
  count(Counter::fence);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return runtime.remote_access->pending().fence_all();
}

}  // namespace rma
