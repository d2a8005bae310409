#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "transport/shm/segment.hpp"
#include "util/status.hpp"

namespace rma::transport {

/// Wakes the sleeping threads of one process: when another process writes to its pipe, and when a process
/// that it watches ends. It is a pipe because other processes can open a pipe through /proc, but not an
/// eventfd. Only one thread at a time may call watch() and look().
class Wakeup {
 public:
  /// Makes a Wakeup. RMA_ERR_SYSTEM.
  [[nodiscard]] static Result<std::unique_ptr<Wakeup>> create();

  /// Returns the descriptor through which other processes open the pipe (Wakeup::open).
  [[nodiscard]] int wakeup_fd() const { return read_end_.get(); }
  /// Returns a descriptor that is readable from a signal until take_signals(), and from the end of a watched
  /// process until look().
  [[nodiscard]] int event_fd() const { return events_.get(); }

  /// Wakes this process's own threads.
  void signal_own() const { signal(write_end_); }

  /// Watches `process` (a pidfd): after its end, look() returns `tag` once. If the system has no pidfds,
  /// look() never returns it.
  void watch(const Descriptor& process, std::size_t tag);
  /// Adds the tags of the processes that have ended since the last look to `ended`.
  void look(std::vector<std::size_t>& ended);
  /// Removes all signals.
  void take_signals() const;

  /// Opens the pipe of the process that published `card`. RMA_ERR_PEER_LOST, RMA_ERR_LAUNCH, RMA_ERR_SYSTEM.
  [[nodiscard]] static Result<Descriptor> open(const ShmCard& card);
  static void signal(const Descriptor& pipe);

 private:
  Wakeup(Descriptor read_end, Descriptor write_end, Descriptor events)
      : read_end_(std::move(read_end)), write_end_(std::move(write_end)), events_(std::move(events)) {}

  const Descriptor read_end_;
  const Descriptor write_end_;
  const Descriptor events_;   ///< an epoll descriptor for the pipe and the processes
  std::vector<int> watched_;  ///< pidfds, by tag
};

/// Opens a pidfd of the process with this number. The result is not open if the system has no pidfds.
/// RMA_ERR_PEER_LOST if there is no such process.
[[nodiscard]] Result<Descriptor> open_process(pid_t process);

/// Returns whether the process of this pidfd has ended. Returns false if the system cannot tell.
[[nodiscard]] bool has_ended(const Descriptor& process);

}  // namespace rma::transport
