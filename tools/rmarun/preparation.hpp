#pragma once

#include <sched.h>

#include <memory>
#include <string>
#include <vector>

#include "rmarun/options.hpp"
#include "rmarun/pmix_server.hpp"
#include "rmarun/spawn.hpp"
#include "util/status.hpp"

namespace rmarun {

/// All that a job takes from PMIx and hwloc before its ranks start. Afterwards neither is called again: only
/// PMIx calls back.
struct Prepared {
  PmixServer* server = nullptr;
  std::vector<std::vector<std::string>> environments;  ///< of each rank: what its PMIx client needs
  std::vector<cpu_set_t> cores;                        ///< empty: ranks are not bound
};

/// Prepares a job on a thread of its own, because PMIx and hwloc may hang (hwloc does, where a container
/// refuses sched_getaffinity), and the job has to end on request then, too. A process that does not wait for
/// the end leaves by _exit().
class Preparation {
 public:
  /// Starts the thread. The environment must not change until done().
  static rma::Result<Preparation> start(const Options& options, const std::string& directory);

  /// Becomes readable once take() may be called.
  [[nodiscard]] int done() const noexcept;
  rma::Result<Prepared> take();

 private:
  struct Shared;
  explicit Preparation(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  std::shared_ptr<Shared> shared_;  ///< with the thread, which may outlive this
};

}  // namespace rmarun
