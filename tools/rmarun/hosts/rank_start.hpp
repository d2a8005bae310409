#pragma once

#include <sched.h>

#include <array>
#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "rmarun/exit_codes.hpp"
#include "rmarun/hosts/description.hpp"
#include "rmarun/spawn.hpp"
#include "rmarun/waits.hpp"
#include "util/status.hpp"

namespace rmarun {

/// Why a rank could not be started: rmarun's exit code, and the text for the user.
struct Obstacle {
  int exit_code = kExitFailure;
  std::string why;
};

/// A rank that its keeper has started.
struct StartedRank {
  pid_t pid = -1;
  std::array<Descriptor, 2> pipes;  ///< its stdout and its stderr
  std::string remark;               ///< for the user; empty if there is none
};

/// Finds the cores of this host (binding.hpp). A null pointer stands for a program without hwloc.
using FindCores = librma::Result<std::vector<cpu_set_t>> (*)();

/// Starts a rank of a job on this host: in its directory, or in HOME where the host lacks rmarun's; with the
/// host's variables and the engine's, below those of rmarun, below those of the command line; with stdin if
/// it is rank 0; on its core, if the job binds its ranks. `waits` gets the file for its waits.
///
/// Call it once, in a process with one thread, whose directory and PATH it changes.
std::variant<StartedRank, Obstacle> start_described_rank(const Description& description, int rank,
                                                         FindCores find_cores, Waits& waits);

/// Returns how many ranks before this one are on the same host.
std::size_t local_rank(const Description& description, int rank);

}  // namespace rmarun
