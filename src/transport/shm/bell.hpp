#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "transport/shm/segment.hpp"
#include "util/status.hpp"

namespace rma::transport {

/// What wakes the sleeping threads of one process: others that write to its pipe, and the end of processes
/// that it watches. A pipe, since it can be opened by others through /proc, as an eventfd cannot.
/// watch() and look() are for one thread at a time.
class Bell {
 public:
  /// RMA_ERR_SYSTEM.
  [[nodiscard]] static Result<std::unique_ptr<Bell>> create();

  /// For others to open by.
  [[nodiscard]] int ring_fd() const { return read_end_.get(); }
  /// Readable from a ring, or the end of a process, until look().
  [[nodiscard]] int event_fd() const { return events_.get(); }

  /// Wakes this process's own threads.
  void ring_own() const { ring(write_end_); }

  /// From now on, tells of the end of `process` (a pidfd), once, by `tag`. Where the system cannot, never.
  void watch(const Descriptor& process, std::size_t tag);
  /// Takes all rings off. The tags of processes that have ended since the last look are added to `ended`.
  void look(std::vector<std::size_t>& ended);

  /// Opens the bell of another process, which its card names. RMA_ERR_PEER_LOST, RMA_ERR_LAUNCH,
  /// RMA_ERR_SYSTEM.
  [[nodiscard]] static Result<Descriptor> open(const ShmCard& card);
  static void ring(const Descriptor& bell);

 private:
  Bell(Descriptor read_end, Descriptor write_end, Descriptor events)
      : read_end_(std::move(read_end)), write_end_(std::move(write_end)), events_(std::move(events)) {}

  const Descriptor read_end_;
  const Descriptor write_end_;
  const Descriptor events_;   ///< an epoll of the pipe and of the processes
  std::vector<int> watched_;  ///< pidfds, by tag
};

/// The process with this number, to be watched; not open where the system has no such files.
/// RMA_ERR_PEER_LOST when there is none.
[[nodiscard]] Result<Descriptor> open_process(pid_t process);

}  // namespace rma::transport
