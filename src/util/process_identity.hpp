#pragma once

#include <sys/types.h>

#include <cstdint>

#include "util/status.hpp"

namespace rma {

/// Identifies a process of this host for ever. After the process has ended, another process may get its
/// number, but not with the same start time.
struct ProcessIdentity {
  pid_t process = 0;
  std::uint64_t started = 0;  ///< in clock ticks since the host's boot, as in /proc/PID/stat

  bool operator==(const ProcessIdentity&) const = default;
};

/// Returns the identity of the process that has this number now. RMA_ERR_PEER_LOST if there
/// is none, RMA_ERR_SYSTEM.
[[nodiscard]] Result<ProcessIdentity> identify(pid_t process);

}  // namespace rma
