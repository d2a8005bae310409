#pragma once

#include <sys/types.h>

#include <vector>

#include "transport/shm/segment.hpp"
#include "util/status.hpp"

namespace rma {

/// Knows which processes of this host have ended. It holds a pidfd of each, so that it never mistakes another
/// process that got the same number. On a system without pidfds it reports no end.
class LocalProcesses {
 public:
  explicit LocalProcesses(std::size_t ranks) : files_(ranks) {}

  /// Takes note that `process` is the process of `rank`. RMA_ERR_PEER_LOST if there is no such process.
  [[nodiscard]] Status add(int rank, pid_t process);

  /// Returns whether the process of `rank`, with all its threads, has ended. Everything that it stored before
  /// is visible here then.
  [[nodiscard]] bool ended(int rank) const;

 private:
  std::vector<transport::Descriptor> files_;  ///< by rank; not open if no process was added
};

}  // namespace rma
