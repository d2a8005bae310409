#pragma once

#include <sched.h>

#include <vector>

#include "util/status.hpp"

namespace rmarun {

/// The cores this process may run on, each as the set of its processing units, in the machine's order.
rma::Result<std::vector<cpu_set_t>> allowed_cores();

/// Lets hwloc, PMIx's use of it included, look for nothing but processors, unless HWLOC_COMPONENTS says what
/// it shall do. Some of its plugins ask X servers (and name servers for their addresses) or start GPU
/// drivers, which may take long. While there is one thread; it is not for the ranks' environment.
void look_for_processors_only();

}  // namespace rmarun
