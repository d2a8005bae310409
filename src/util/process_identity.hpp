#pragma once

#include <sys/types.h>

#include <cstdint>

#include "util/status.hpp"

namespace rma {

/// A process of this host, now and for ever: its number is given to another some time after it has ended, but
/// never with the same start.
struct ProcessIdentity {
  pid_t process = 0;
  std::uint64_t started = 0;  ///< in clock ticks since the host's boot, as in /proc/PID/stat

  bool operator==(const ProcessIdentity&) const = default;
};

/// Who has that number now. RMA_ERR_PEER_LOST when nobody has, RMA_ERR_SYSTEM.
[[nodiscard]] Result<ProcessIdentity> identify(pid_t process);

}  // namespace rma
