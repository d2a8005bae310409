#pragma once

#include <sys/resource.h>

#include "util/status.hpp"

namespace rmarun {

/// Raises this process's soft limit of open files to what a job of `ranks` takes here, if it is below that.
/// @return the limit as it was, which is the ranks' own, or RMA_ERR_SYSTEM when the hard limit is too low.
rma::Result<rlimit> make_room_for(int ranks);

}  // namespace rmarun
