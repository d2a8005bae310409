#pragma once

#include <sys/resource.h>

#include "util/status.hpp"

namespace rmarun {

/// Opens /dev/null as the standard input of a process that was started without one. Otherwise the next
/// descriptor that is opened would be taken for it.
void provide_stdin();
/// Raises this process's soft limit of open files to the number that a job of `ranks` needs, if it is lower.
/// @return the limit as it was, which the ranks get, or RMA_ERR_SYSTEM if the hard limit is too low.
librma::Result<rlimit> make_room_for(int ranks);
/// Returns the number of ranks for which make_room_for() succeeds at most.
int most_ranks_with_room();

}  // namespace rmarun
