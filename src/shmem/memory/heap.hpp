#pragma once

#include <cstddef>

#include "shmem/job/errors.hpp"
#include "shmem/job/options.hpp"

namespace librma::shmem {

/// Makes the symmetric heap: reserves equal ranges on all PEs. Collective. Returns this PE's base and the
/// size.
struct HeapRange {
  void* base;
  std::size_t bytes;
};
HeapRange open_heap(const Options& options);
/// Gives the heap back. Collective.
void close_heap();

// The calls. All are collective over all PEs, which make the same ones with the same arguments.
void* allocate(Call call, std::size_t bytes);
void* allocate_with_hints(Call call, std::size_t bytes, long hints);
void* allocate_zeroed(Call call, std::size_t count, std::size_t size);
void* allocate_aligned(Call call, std::size_t alignment, std::size_t bytes);
void* reallocate(Call call, void* block, std::size_t bytes);
void deallocate(Call call, void* block);

}  // namespace librma::shmem
