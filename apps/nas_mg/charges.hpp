/// @file
/// The right side of the equation: 0 but for ten points of +1 and ten of -1.
#ifndef NAS_MG_CHARGES_HPP
#define NAS_MG_CHARGES_HPP

#include "decomposition.hpp"
#include "job.hpp"
#include "view.hpp"

namespace nas_mg {

/// Fills the points of v, this rank's of the finest level. Every point of the grid has a random number, in
/// order of z, y, x; the ten largest get +1, the ten smallest -1. Collective.
void place_charges(Job& job, const Decomposition& decomposition, const View& v);

}  // namespace nas_mg

#endif
