#pragma once

#include <functional>

#include "armci/groups.hpp"
#include "rma/rma.h"

namespace rma::armci {

/// One ARMCI_Init. The first one joins the job by `join()`, and `prepare(world)` adds to the group of all
/// processes what the flavour has for it. The job ends where that fails.
void init(const std::function<rma_status_t()>& join, const std::function<void(Group& world)>& prepare);

}  // namespace rma::armci
