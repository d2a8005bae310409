#include "malloc/process_heap.hpp"

#include <dlfcn.h>

namespace rma {

const ProcessHeap* find_process_heap() {
  // By name, because librma must load without that library, also after the program has started.
  auto* const function = reinterpret_cast<ProcessHeapFunction>(::dlsym(RTLD_DEFAULT, kProcessHeapFunction));
  return function != nullptr ? function() : nullptr;
}

}  // namespace rma
