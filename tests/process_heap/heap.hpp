#pragma once

#include <dlfcn.h>

#include <cstddef>

#include "check.h"
#include "malloc/process_heap.hpp"

/// Returns the process heap as librma_heap.so shows it to librma, and so makes it begin.
inline const librma::ProcessHeap& shown_heap() {
  const auto find =
      reinterpret_cast<librma::ProcessHeapFunction>(dlsym(RTLD_DEFAULT, librma::kProcessHeapFunction));
  CHECK(find != nullptr);
  const librma::ProcessHeap* const heap = find();
  CHECK(heap != nullptr);
  return *heap;
}

inline bool lies_in(const librma::ProcessHeap& heap, const void* address) {
  return static_cast<std::size_t>(static_cast<const std::byte*>(address) - heap.base) < heap.bytes;
}
