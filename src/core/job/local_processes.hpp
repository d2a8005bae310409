#pragma once

#include <sys/types.h>

#include <vector>

#include "transport/shm/segment.hpp"
#include "util/status.hpp"

namespace rma {

/// Tells which processes of this host have ended. It holds a pidfd of each process, so a process number that
/// the system uses again is never taken for the first process. If the system has no pidfds, ended() always
/// returns false.
class LocalProcesses {
 public:
  explicit LocalProcesses(std::size_t ranks) : files_(ranks) {}

  /// Adds `process` as the process of `rank`. RMA_ERR_PEER_LOST if there is no such process.
  [[nodiscard]] Status add(int rank, pid_t process);

  /// Returns whether all threads of `rank`'s process have ended. If so, everything that it stored is visible
  /// here.
  [[nodiscard]] bool ended(int rank) const;

 private:
  std::vector<transport::Descriptor> files_;  ///< by rank; not open if no process was added
};

}  // namespace rma
