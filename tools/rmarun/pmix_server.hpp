#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "rmarun/spawn.hpp"
#include "util/status.hpp"

namespace rmarun {

/// The state of a rank in its use of PMIx. kLost: its connection has ended without the rank leaving the job.
enum class Stage { kNone, kJoined, kLeft, kLost };

/// The request of a rank to end the job.
struct AbortRequest {
  int rank = 0;
  int code = 0;
};

/// The PMIx server of one job whose ranks all run here. It keeps all its files in the given directory.
///
/// It is never finalized and lives until its process leaves by _exit(). PMIx shares memory and a lock with
/// the ranks, and a rank that is killed inside that lock keeps it. PMIx_server_finalize then waits for ever,
/// and so may PMIx's thread. So this process must wait for neither. Nothing of PMIx outlives the process
/// except the files in `directory`.
///
/// PMIx calls back on a thread of its own. The server keeps its reports until they are read; wakeup() becomes
/// readable when there is a new one. stage() of a rank that has ended may be out of date: the PMIx client
/// waits 2 s for the answer to its goodbye and then ends, while this process may be stopped or slow. But this
/// process reads the goodbye before the end of the connection. So kLeft and kLost are final, and kJoined
/// proves nothing.
class PmixServer {
 public:
  /// Sets PMIx's settings for this process alone. The user's own settings win. Call it before any thread
  /// starts.
  static void set_environment();

  /// Starts the server. This may take long or hang, because of PMIx and hwloc. Call it once per process.
  static rma::Result<PmixServer*> start(int ranks, const std::string& directory);
  PmixServer(const PmixServer&) = delete;
  PmixServer& operator=(const PmixServer&) = delete;

  /// Returns the variables that the PMIx client of `rank` needs in its environment, as NAME=VALUE.
  rma::Result<std::vector<std::string>> environment_of(int rank);

  [[nodiscard]] int wakeup() const noexcept;
  /// Makes wakeup() unreadable until the next news.
  void clear_wakeup();
  [[nodiscard]] Stage stage(int rank) const;
  /// Returns the ranks at kLost, in the order in which their connections ended.
  [[nodiscard]] std::vector<int> lost() const;
  /// Returns the first request to abort.
  [[nodiscard]] std::optional<AbortRequest> abort_request() const;

  /// The reports of PMIx's thread.
  void note_stage(int rank, Stage stage);
  void note_abort(AbortRequest request);

 private:
  PmixServer() = default;
  ~PmixServer() = default;
  rma::Status watch_connections();
  rma::Status register_job(int ranks);
  void ring() const;

  std::string job_;
  Descriptor wakeup_;
  mutable std::mutex mutex_;  ///< guards the following members, which PMIx's thread writes
  std::vector<Stage> stages_;
  std::vector<int> lost_;
  std::optional<AbortRequest> abort_;
};

}  // namespace rmarun
