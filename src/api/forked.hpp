#pragma once

#include "util/status.hpp"

namespace rma {

/// A process forked from a member of the job is no member: the launcher, the devices and the other ranks do
/// not know it, and the library's threads stayed with its parent. While a process is in the job, from the
/// beginning of rma_init to the end of rma_finalize, fork() leaves its children without a runtime, so that
/// all their calls find none: no call of a member looks for it.

/// Before the runtime is made: from here on forks are noticed. RMA_ERR_NO_MEMORY.
[[nodiscard]] Status notice_forks();
/// The runtime is gone, or did not come to be.
void forget_forks() noexcept;

/// This process was forked while its parent was in the job.
[[nodiscard]] bool in_forked_child() noexcept;

}  // namespace rma
