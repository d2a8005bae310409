#pragma once

#include <string>

namespace rmarun {

/// The parts of the command line about the way to other hosts.
struct Way {
  std::string engine;         ///< srun, prterun, mpirun, or a path; empty: the first that applies
  std::string agent;          ///< the remote shell with its options; empty: ssh
  std::string interface;      ///< the network of the engine's daemons: a name or a CIDR; empty: all
  bool by_node = false;       ///< ranks go to the hosts in turn, and not host by host
  double start_seconds = 60;  ///< within which a rank must have started on each host
};

}  // namespace rmarun
