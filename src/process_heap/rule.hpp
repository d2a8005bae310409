#pragma once

namespace librma::process_heap {

/// Why malloc does not give out shared memory in this process (docs/process_heap.md).
struct Objection {
  const char* reason = nullptr;  ///< null: there is none
  bool for_good = false;         ///< it will not change while the process runs
};

/// Returns what stands against a process heap. `wanted` says that librma asks for it, or RMA_PROCESS_HEAP=1.
/// Prints nothing.
[[nodiscard]] Objection object_to_process_heap(bool wanted) noexcept;

/// Returns whether RMA_PROCESS_HEAP is 1.
[[nodiscard]] bool is_demanded() noexcept;

}  // namespace librma::process_heap
