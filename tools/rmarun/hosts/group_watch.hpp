#pragma once

#include <sys/types.h>

namespace rmarun {

/// A process that kills this process's group when this process ends without its destructor, as by SIGKILL.
/// The system then kills the rank, but not the processes that the rank has started: they lose their parents,
/// and nobody finds them any more. Those that have left the group are not reached.
///
/// Without a group of its own this process has none: the group has others too.
class GroupWatch {
 public:
  /// Starts it. Call it in a process with one thread. It is no child that waitpid(2) reports.
  GroupWatch();
  ~GroupWatch();
  GroupWatch(const GroupWatch&) = delete;
  GroupWatch& operator=(const GroupWatch&) = delete;

 private:
  pid_t watcher_ = -1;
  int ours_ = -1;  ///< the end of a pipe, which closes with this process
};

}  // namespace rmarun
