#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace librma {

/// The process heap (src/process_heap, librma_heap.so), as that library shows it to this one: the addresses
/// from which the program's malloc takes memory, the file behind them, and room for a heap window in front.
struct ProcessHeap {
  std::byte* front =
      nullptr;  ///< [front, base) is reserved, without memory, for one heap window that ends at base
  std::byte* base = nullptr;  ///< a multiple of 2 MiB
  std::size_t bytes = 0;
  int fd =
      -1;  ///< a memfd of `bytes` bytes, mapped shared at `base` as far as it is used; its size is sealed
  /// From the call on, malloc takes blocks of at least so many bytes from private memory.
  void (*limit_blocks)(std::size_t bytes) = nullptr;
  /// From the call on, malloc gives freed pages to the system before this process's control group reaches its
  /// limit of `limit` bytes. The file named `usage` says how many the group uses.
  void (*watch_memory)(const char* usage, std::uint64_t limit) = nullptr;
  const char* reason = nullptr;  ///< why this process has no process heap; null if it has one
};

/// The function of librma_heap.so that makes the process heap, unless it is there or something stands against
/// it, and returns what it is. The number is the version of ProcessHeap.
inline constexpr const char* kProcessHeapFunction = "rma_process_heap_3";
using ProcessHeapFunction = const ProcessHeap* (*)();

/// Returns the process heap of this process, or null if it has none.
[[nodiscard]] const ProcessHeap* find_process_heap();

/// Returns why this process has no process heap, or null if it has one.
[[nodiscard]] const char* process_heap_refusal();

}  // namespace librma
