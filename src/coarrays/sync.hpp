#pragma once

#include "coarrays/outcome.hpp"

namespace librma::coarrays {

/// Reports STAT_STOPPED_IMAGE or STAT_FAILED_IMAGE and returns true if an image of the current team has
/// ended.
bool report_ended(const Outcome& outcome);

}  // namespace librma::coarrays
