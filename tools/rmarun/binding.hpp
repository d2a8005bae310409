#pragma once

#include <sched.h>

#include <vector>

#include "util/status.hpp"

namespace rmarun {

/// The cores this process may run on, each as the set of its processing units, in the machine's order.
rma::Result<std::vector<cpu_set_t>> allowed_cores();

}  // namespace rmarun
