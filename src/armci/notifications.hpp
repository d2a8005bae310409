#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace librma::armci {

/// Counts how often each process has notified each other one. The counters lie in the heap, where the other
/// processes write them.
class Notifications {
 public:
  /// The constructor and close() are collective.
  Notifications();
  void close();

  /// Notifies `process`. The notification arrives after all earlier puts there. Returns how often this
  /// process has notified it.
  int tell(int process);
  /// Waits for the next notification of `process`. Stores the number of such waits into `*waited`, which may
  /// be null. Returns how often `process` has notified this one.
  int wait(int process, int* waited);

 private:
  std::vector<void*> arrived_;  ///< each process's counters, by process; addresses of their owners
  std::vector<int> told_;       ///< by process
  std::vector<int> waited_;     ///< by process

  [[nodiscard]] std::uint64_t* arrived(int at, int from) const {
    return static_cast<std::uint64_t*>(arrived_[static_cast<std::size_t>(at)]) + from;
  }
};

}  // namespace librma::armci
