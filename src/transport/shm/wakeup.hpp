#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "util/status.hpp"
#include "util/system/descriptor.hpp"

namespace librma::transport {

/// Wakes the sleeping threads of one process: when another process writes to its eventfd, and when a process
/// that it watches ends. Only one thread at a time may call watch() and look().
class Wakeup {
 public:
  /// Makes a Wakeup. RMA_ERR_SYSTEM.
  [[nodiscard]] static Result<std::unique_ptr<Wakeup>> create();

  /// Returns the eventfd, for the other processes of the host.
  [[nodiscard]] int wakeup_fd() const { return wakeups_.get(); }
  /// Returns a descriptor that is readable from a signal until take_signals(), and from the end of a watched
  /// process until look().
  [[nodiscard]] int event_fd() const { return events_.get(); }

  /// Wakes this process's own threads.
  void signal_own() const { signal(wakeups_.get()); }

  /// Watches a process: after its end, when `end` becomes readable, look() returns `tag` once.
  void watch(int end, std::size_t tag);
  /// Adds the tags of the processes that have ended since the last look to `ended`.
  void look(std::vector<std::size_t>& ended);
  /// Removes all signals.
  void take_signals() const;

  /// Wakes the process that has handed this eventfd over.
  static void signal(int wakeups);

 private:
  Wakeup(Descriptor wakeups, Descriptor events) : wakeups_(std::move(wakeups)), events_(std::move(events)) {}

  const Descriptor wakeups_;
  const Descriptor events_;   ///< an epoll descriptor for the eventfd and the processes
  std::vector<int> watched_;  ///< the descriptors that tell of the ends of processes, by tag
};

/// Returns whether a process has ended, by a descriptor that is readable then (HostPeer::end). Returns false
/// if the system cannot tell.
[[nodiscard]] bool has_ended(int process);

}  // namespace librma::transport
