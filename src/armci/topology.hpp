#pragma once

#include <vector>

namespace rma::armci {

/// Which process is on which host. Hosts are numbered by their lowest processes. Collective when made; the
/// same on all processes.
class Topology {
 public:
  Topology();

  [[nodiscard]] int hosts() const { return static_cast<int>(processes_.size()); }
  /// -1 where there is no such process.
  [[nodiscard]] int host_of(int process) const;
  /// The processes of a host, ascending; none where there is no such host.
  [[nodiscard]] const std::vector<int>& processes(int host) const;

 private:
  std::vector<int> host_of_;                 ///< by process
  std::vector<std::vector<int>> processes_;  ///< by host
  std::vector<int> none_;
};

}  // namespace rma::armci
