#pragma once

#include <pmix.h>

#include <string_view>

#include "util/status.hpp"

namespace librma {

/// This process's connection to the launcher's PMIx server. The first join() makes it, and it stays
/// until the process exits: a process must be able to join a job again, but PMIx_Init after
/// PMIx_Finalize is not reliable.
///
/// At exit the connection is finalized only if each join() was followed by its leave(). So the launcher sees
/// that a rank is lost, even if it exits with code 0 in the middle of its job.
class PmixSession {
 public:
  /// Connects, or counts one more user of the connection. Returns the PMIx name and rank of this process.
  static Result<pmix_proc_t> join();
  /// Counts one user less.
  static void leave() noexcept;
};

/// Returns the failure of a PMIx call, with PMIx's name for the error.
Status pmix_failure(std::string_view what, pmix_status_t code);

}  // namespace librma
