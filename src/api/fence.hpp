#pragma once

#include <atomic>

#include "api/runtime.hpp"

namespace rma {

/// Everything issued to `rank` is visible there.
[[nodiscard]] inline Status fence(Runtime& runtime, int rank) {
  count(Counter::fence);
  // Stores to mapped memory: nothing of this thread's later accesses passes them.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return runtime.remote_access->pending().fence(rank);
}

/// fence() of every rank.
[[nodiscard]] inline Status fence_all(Runtime& runtime) {
  count(Counter::fence);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return runtime.remote_access->pending().fence_all();
}

}  // namespace rma
