/// @file
/// The right side of the equation: 0 except for ten points of +1 and ten of -1.
#ifndef NAS_MG_CHARGES_HPP
#define NAS_MG_CHARGES_HPP

#include "decomposition.hpp"
#include "job.hpp"
#include "view.hpp"

namespace nas_mg {

/// Fills this rank's points of v on the finest level. Every point of the grid has a random number,
/// in the order of z, y, x. The points with the ten largest numbers get +1, those with the ten
/// smallest -1. Collective.
void place_charges(apps::Job& job, const Decomposition& decomposition, const View& v);

}  // namespace nas_mg

#endif
