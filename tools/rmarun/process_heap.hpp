#pragma once

#include "rmarun/environment.hpp"
#include "util/status.hpp"

namespace rmarun {

/// Unless RMA_PROCESS_HEAP is 0, makes a process that starts with `environment` load librma_heap.so first
/// (docs/process_heap.md), if it is where it was installed with rmarun. RMA_ERR_SETTING, with the path, if it
/// is not and RMA_PROCESS_HEAP is 1.
[[nodiscard]] librma::Status preload_process_heap(Environment& environment);

}  // namespace rmarun
