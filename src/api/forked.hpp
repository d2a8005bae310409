#pragma once

#include "util/status.hpp"

namespace librma {

/// A process that is forked from a member of the job is not a member itself. The launcher, the devices and
/// the other ranks do not know it, and the library's threads stay with its parent. While a process is in the
/// job, from the beginning of rma_init to the end of rma_finalize, fork() leaves its children without a
/// runtime. So all calls of a child find no runtime, and calls of a member need no check.

/// Starts to notice forks. Called before the runtime is made. RMA_ERR_NO_MEMORY.
[[nodiscard]] Status notice_forks();
/// Stops noticing forks. Called when the runtime is destroyed or could not be made.
void forget_forks() noexcept;

/// Returns whether this process was forked while its parent was in the job.
[[nodiscard]] bool in_forked_child() noexcept;

}  // namespace librma
