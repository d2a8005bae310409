#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace rma {

/// The process heap (src/process_heap, librma_heap.so), as that library shows it to this one: the addresses
/// from which the program's malloc takes memory, the file behind them, and room for a heap window in front.
struct ProcessHeap {
  std::byte* front =
      nullptr;  ///< [front, base) is reserved, without memory, for one heap window that ends at base
  std::byte* base = nullptr;  ///< a multiple of 2 MiB
  std::size_t bytes = 0;
  int fd = -1;  ///< a memfd of `bytes` bytes, mapped shared at `base`, whose size is sealed
};

/// The function of librma_heap.so that returns the process heap, or null if this process has no process heap.
/// The number is the version of ProcessHeap.
inline constexpr const char* kProcessHeapFunction = "rma_process_heap_1";
using ProcessHeapFunction = const ProcessHeap* (*)();

/// Returns the process heap of this process, or null if the program's malloc is another one's.
[[nodiscard]] const ProcessHeap* find_process_heap();

}  // namespace rma
