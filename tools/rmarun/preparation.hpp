#pragma once

#include <sched.h>

#include <memory>
#include <string>
#include <vector>

#include "rmarun/options.hpp"
#include "rmarun/pmix_server.hpp"
#include "rmarun/rank_server.hpp"
#include "rmarun/spawn.hpp"
#include "util/status.hpp"

namespace rmarun {

/// Everything that a job takes from PMIx and hwloc before its ranks start. Afterwards rmarun calls neither
/// again; only PMIx calls back.
struct Prepared {
  PmixServer* server = nullptr;
  RankServer* ranks = nullptr;
  std::vector<std::vector<std::string>> environments;  ///< by rank: what it needs to reach the two servers
  std::vector<cpu_set_t> cores;                        ///< empty if ranks are not bound
};

/// Prepares a job on a thread of its own. PMIx and hwloc may hang (hwloc does if a container refuses
/// sched_getaffinity), and the job has to end on request even then. A process that does not wait for the end
/// leaves by _exit().
class Preparation {
 public:
  /// Starts the thread. The environment must not change until done().
  static librma::Result<Preparation> start(const Options& options, const std::string& directory);

  /// Becomes readable once take() may be called.
  [[nodiscard]] int done() const noexcept;
  librma::Result<Prepared> take();

 private:
  struct Shared;
  explicit Preparation(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  std::shared_ptr<Shared> shared_;  ///< shared with the thread, which may outlive this object
};

}  // namespace rmarun
