#pragma once

#include "rmarun/environment.hpp"
#include "util/status.hpp"

namespace rmarun {

/// With RMA_PROCESS_HEAP=1, makes a process that starts with `environment` load librma_heap.so first
/// (docs/process_heap.md). RMA_ERR_SETTING, with the path, if the library is not where it was installed with
/// rmarun.
[[nodiscard]] rma::Status preload_process_heap(Environment& environment);

}  // namespace rmarun
