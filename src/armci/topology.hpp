#pragma once

#include <vector>

namespace librma::armci {

/// Knows which process is on which host. Hosts are numbered in the order of their lowest processes. The
/// constructor is collective, and the result is the same on all processes.
class Topology {
 public:
  Topology();

  [[nodiscard]] int hosts() const { return static_cast<int>(processes_.size()); }
  /// Returns the host of a process; -1 if there is no such process.
  [[nodiscard]] int host_of(int process) const;
  /// Returns the processes of a host, ascending; an empty list if there is no such host.
  [[nodiscard]] const std::vector<int>& processes(int host) const;

 private:
  std::vector<int> host_of_;                 ///< by process
  std::vector<std::vector<int>> processes_;  ///< by host
  std::vector<int> none_;
};

}  // namespace librma::armci
