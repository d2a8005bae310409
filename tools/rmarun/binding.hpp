#pragma once

#include <sched.h>

#include <vector>

#include "util/status.hpp"

namespace rmarun {

/// Returns the cores that this process may run on, in the machine's order, each as the set of its processing
/// units.
librma::Result<std::vector<cpu_set_t>> allowed_cores();

/// Makes hwloc, also where PMIx uses it, look for processors only, unless HWLOC_COMPONENTS is set already.
/// Some of its plugins query X servers (and name servers for their addresses) or start GPU drivers, which may
/// take long. Call it while there is one thread. The ranks' environment does not get its variables.
void look_for_processors_only();

}  // namespace rmarun
