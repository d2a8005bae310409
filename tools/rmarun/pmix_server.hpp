#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "rmarun/spawn.hpp"
#include "util/status.hpp"

namespace rmarun {

/// How far a rank has come in its use of PMIx. kLost: its connection has ended, and it had not left.
enum class Stage { kNone, kJoined, kLeft, kLost };

/// A rank's wish to end the job.
struct AbortRequest {
  int rank = 0;
  int code = 0;
};

/// The PMIx server of one job whose ranks all run here. All its files are in the directory it is given.
///
/// It is never finalized and lives until its process leaves by _exit(). PMIx shares memory and a lock with
/// the ranks, and a rank that is killed inside that lock keeps it: PMIx_server_finalize then waits for ever,
/// and so may PMIx's thread. Nobody here may wait for either. PMIx keeps nothing that outlives the process
/// but files in `directory`.
///
/// PMIx calls back on a thread of its own. What it says is kept until asked for; wakeup() becomes readable
/// when there is something new. stage() of a rank that has ended may be late: the PMIx client waits 2 s for
/// the answer to its farewell and then goes, while this process may be stopped or slow. Its farewell is in
/// its connection, though, whose end is read after it. So kLeft and kLost are final, and kJoined is no
/// verdict.
class PmixServer {
 public:
  /// Before any thread is started: settings of PMIx for this process alone. The user's own win.
  static void set_environment();

  /// May take long or hang, as PMIx and hwloc may. Once per process.
  static rma::Result<PmixServer*> start(int ranks, const std::string& directory);
  PmixServer(const PmixServer&) = delete;
  PmixServer& operator=(const PmixServer&) = delete;

  /// What the PMIx client of `rank` needs in its environment, as NAME=VALUE.
  rma::Result<std::vector<std::string>> environment_of(int rank);

  [[nodiscard]] int wakeup() const noexcept;
  /// Makes wakeup() unreadable until there is more news.
  void clear_wakeup();
  [[nodiscard]] Stage stage(int rank) const;
  /// The ranks at kLost, in the order in which their connections ended.
  [[nodiscard]] std::vector<int> lost() const;
  /// The first abort that was asked for.
  [[nodiscard]] std::optional<AbortRequest> abort_request() const;

  /// What PMIx's thread has to say.
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
  mutable std::mutex mutex_;  ///< guards what follows, which PMIx's thread writes
  std::vector<Stage> stages_;
  std::vector<int> lost_;
  std::optional<AbortRequest> abort_;
};

}  // namespace rmarun
