#pragma once

#include <sys/types.h>

#include <vector>

#include "transport/shm/segment.hpp"
#include "util/status.hpp"

namespace rma {

/// Tells which processes of this host have ended. It holds each by a pidfd, so that a number that the system
/// gives to another process is never taken for the first. Where the system has none, nobody ever ends here.
class LocalProcesses {
 public:
  explicit LocalProcesses(std::size_t ranks) : files_(ranks) {}

  /// `process` is `rank`'s now. RMA_ERR_PEER_LOST when there is no such process.
  [[nodiscard]] Status add(int rank, pid_t process);

  /// `rank`'s process, all of its threads, has ended; what it stored before is visible here then.
  [[nodiscard]] bool ended(int rank) const;

 private:
  std::vector<transport::Descriptor> files_;  ///< by rank; closed where nobody was added
};

}  // namespace rma
