#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rmarun/hosts/host_list.hpp"
#include "util/status.hpp"

namespace rmarun {

/// The hosts that a batch system has given to this job.
struct Allocation {
  std::string source;  ///< the variable that names them
  std::vector<Host> hosts;
};

/// Returns the value of an environment variable; null if it is not set.
using Lookup = std::function<const char*(const char* name)>;

/// Finds the hosts of a batch job: Slurm's (SLURM_JOB_NODELIST, SLURM_TASKS_PER_NODE), PBS's (PBS_NODEFILE),
/// LSF's (LSB_DJOB_HOSTFILE, LSB_MCPU_HOSTS), SGE's (PE_HOSTFILE), and the host files that the MPI operator
/// of Kubernetes names for Open MPI, MPICH and Intel MPI.
/// @return nothing outside of a batch job; RMA_ERR_ARGUMENT, with the variable, for a list that cannot be
/// read.
librma::Result<std::optional<Allocation>> find_allocation(const Lookup& lookup);

}  // namespace rmarun
