#pragma once

#include "coarrays/outcome.hpp"

namespace librma::coarrays {

/// Counts a collective statement of the current team. If an image has ended that would have to take part,
/// reports STAT_STOPPED_IMAGE or STAT_FAILED_IMAGE and returns false. Knows nothing of images that end in
/// other teams than the initial one.
bool all_take_part(const Outcome& outcome);

}  // namespace librma::coarrays
