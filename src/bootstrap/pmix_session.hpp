#pragma once

#include <pmix.h>

#include <string_view>

#include "util/status.hpp"

namespace rma {

/// This process's connection to the launcher's PMIx server, made by the first join() and kept until the
/// process exits, because PMIx_Init after PMIx_Finalize is not dependable while joining a job again must be.
///
/// At exit the connection is finalized only when every join() had its leave(). A rank that exits with code 0
/// in the middle of its job therefore looks to the launcher like what it is: lost.
class PmixSession {
 public:
  /// Connects, or counts one more user. Returns the name and rank of this process.
  static Result<pmix_proc_t> join();
  /// One user fewer.
  static void leave() noexcept;
};

/// A failed PMIx call, with PMIx's name for the error.
Status pmix_failure(std::string_view what, pmix_status_t code);

}  // namespace rma
