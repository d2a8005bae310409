#pragma once

#include <cstdint>
#include <vector>

namespace rma::armci {

/// How often each process notified each other. `arrived` lies in the heap, where the others write.
class Notifications {
 public:
  /// Collective, as is close().
  Notifications();
  void close();

  /// Tells `process`, behind all that was put there; returns how often it was told.
  int tell(int process);
  /// Waits for the next of `process`; `*waited` is how often that was done. Returns how often it has told.
  int wait(int process, int* waited);

 private:
  std::vector<void*> arrived_;  ///< each process's counters, by process: its own addresses
  std::vector<int> told_;       ///< by process
  std::vector<int> waited_;     ///< likewise

  [[nodiscard]] std::uint64_t* arrived(int at, int from) const {
    return static_cast<std::uint64_t*>(arrived_[static_cast<std::size_t>(at)]) + from;
  }
};

}  // namespace rma::armci
