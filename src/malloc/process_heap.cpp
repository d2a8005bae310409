#include "malloc/process_heap.hpp"

#include <dlfcn.h>

namespace librma {

namespace {

/// Returns what the library shows, or null if the program has not loaded it.
const ProcessHeap* look_for_process_heap() {
  // By name, because librma must load without that library, also after the program has started.
  auto* const function = reinterpret_cast<ProcessHeapFunction>(::dlsym(RTLD_DEFAULT, kProcessHeapFunction));
  return function != nullptr ? function() : nullptr;
}

}  // namespace

const ProcessHeap* find_process_heap() {
  const ProcessHeap* const heap = look_for_process_heap();
  return heap != nullptr && heap->reason == nullptr ? heap : nullptr;
}

const char* process_heap_refusal() {
  const ProcessHeap* const heap = look_for_process_heap();
  return heap != nullptr ? heap->reason : "librma_heap.so is not loaded (RMA_PROCESS_HEAP)";
}

}  // namespace librma
