#pragma once

#include <sched.h>
#include <sys/resource.h>

#include <optional>
#include <string>
#include <vector>

#include "rmarun/environment.hpp"
#include "rmarun/forwarder.hpp"
#include "rmarun/options.hpp"
#include "rmarun/other_mpi.hpp"
#include "rmarun/personality.hpp"
#include "rmarun/preparation.hpp"
#include "rmarun/rank_server.hpp"
#include "rmarun/reports.hpp"
#include "rmarun/spawn_plan.hpp"
#include "rmarun/verdict.hpp"
#include "rmarun/waits.hpp"

namespace rmarun {

/// Starts the processes of a job on this host: those of the command line, and those that ranks ask for.
class RankStarter {
 public:
  /// Every rank gets `inherited`, rmarun's environment, and the limit `descriptors`. `ranks` gets an entry
  /// for each process, and `forwarder` its output. Both outlive this object.
  RankStarter(const Options& options, Environment inherited, const rlimit& descriptors,
              std::vector<Rank>& ranks, Forwarder& forwarder);

  /// Starts the ranks of the command line. Returns why one of them has not started, and nothing if all have.
  /// `directory` is rmarun's own, for files that ranks read.
  std::optional<Verdict> start_job(Prepared prepared, const std::string& directory);
  /// Starts all ranks that another rank asks for, or none. Precondition: start_job() was called.
  SpawnOutcome start_asked(const SpawnAsked& asked);

  /// The waits of the ranks.
  [[nodiscard]] const Waits& waits() const { return waits_; }
  /// Whether they have loaded another MPI.
  [[nodiscard]] OtherMpi& other_mpi() { return other_mpi_; }

 private:
  std::optional<Verdict> start_rank(int rank, const Program& program, const RankPlace& place);
  std::optional<Verdict> run_program(int rank, const Program& program, const Environment& environment,
                                     const cpu_set_t* core);
  SpawnOutcome start_world(const librma::SpawnCall& call, const SpawnPlan& plan);

  const Options& options_;
  const Environment inherited_;
  const rlimit descriptors_;
  std::vector<Rank>& ranks_;
  Forwarder& forwarder_;
  RankServer* rank_server_ = nullptr;                   ///< null before start_job()
  std::vector<std::vector<std::string>> environments_;  ///< of the ranks of the command line
  std::vector<cpu_set_t> cores_;                        ///< empty if ranks are not bound
  Waits waits_;
  OtherMpi other_mpi_;
};

}  // namespace rmarun
