#pragma once

#include "coarrays/outcome.hpp"

namespace librma::coarrays {

/// Counts a collective statement of the current team. If an image has ended that would have to take part,
/// reports STAT_STOPPED_IMAGE or STAT_FAILED_IMAGE and returns false. Knows nothing of images that end in
/// other teams than the initial one.
bool all_take_part(const Outcome& outcome);

/// Waits until all images of the current team that have not ended are here, as sync all does. Counts as a
/// collective statement. Returns whether all images take part; else reports why not.
bool meet_all(const Outcome& outcome);

}  // namespace librma::coarrays
