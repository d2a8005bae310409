#pragma once

#include <atomic>

#include "api/runtime/runtime.hpp"
#include "core/one_sided/remote_access.hpp"

namespace librma {

/// Waits until everything that was issued to `rank` in the calling thread's current context is visible there.
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

/// Performs fence_all() in every context of the process.
[[nodiscard]] inline Status fence_all_contexts(Runtime& runtime) {
  count(Counter::fence);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return runtime.remote_access->pending().fence_all_contexts();
}

}  // namespace librma
