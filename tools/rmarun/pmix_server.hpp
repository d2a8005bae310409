#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rmarun/reports.hpp"
#include "util/status.hpp"

namespace rmarun {

/// The PMIx server of one job whose ranks all run here. It keeps all its files in the given directory.
///
/// It is never finalized and lives until its process leaves by _exit(). PMIx shares memory and a lock with
/// the ranks, and a rank that is killed inside that lock keeps it. PMIx_server_finalize then waits for ever,
/// and so may PMIx's thread. So this process must wait for neither. Nothing of PMIx outlives the process
/// except the files in `directory`.
///
/// PMIx calls back on a thread of its own, which writes reports().
class PmixServer {
 public:
  /// Sets PMIx's settings for this process alone. The user's own settings win. Call it before any thread
  /// starts.
  static void set_environment();

  /// Starts the server. This may take long or hang, because of PMIx and hwloc. Call it once per process.
  /// `programs` has for each rank the number of its program (PMIX_APPNUM). reports() is about `seats`
  /// ranks, some of which may come later.
  static librma::Result<PmixServer*> start(const std::vector<int>& programs, int seats,
                                           const std::string& directory);
  PmixServer(const PmixServer&) = delete;
  PmixServer& operator=(const PmixServer&) = delete;

  /// Returns the variables that the PMIx client of `rank` needs in its environment, as NAME=VALUE.
  librma::Result<std::vector<std::string>> environment_of(int rank);

  [[nodiscard]] Reports& reports() { return *reports_; }

 private:
  PmixServer() = default;
  ~PmixServer() = default;
  librma::Status watch_connections();
  librma::Status register_job(const std::vector<int>& programs);

  std::string job_;
  std::optional<Reports> reports_;  ///< set before the server starts
};

}  // namespace rmarun
