/// @file
/// The four operators of the V-cycle, on one rank's points.
///
/// Each sums up the lines around a line of points first, those that share a face with it and those that share
/// an edge, so that the sums are made once for the three points along x that need them.
#ifndef NAS_MG_KERNELS_HPP
#define NAS_MG_KERNELS_HPP

#include "problem.hpp"
#include "view.hpp"

namespace nas_mg {

/// The longest side of a view.
constexpr std::size_t kLongestSide = 512;

/// r = v - A u. Reads u's ghosts.
void residual(const View& u, const View& v, const View& r, const Stencil& a);
/// r = r - A u.
void subtract_product(const View& u, const View& r, const Stencil& a);
/// u = u + S r. Reads r's ghosts.
void smooth(const View& r, const View& u, const Stencil& s);
/// coarse = P fine: full weighting, half as many points along each axis. Reads fine's ghosts.
void restrict_to(const View& coarse, const View& fine);
/// fine = Q coarse: trilinear. Reads coarse's ghosts, and writes fine's too.
void interpolate_into(const View& fine, const View& coarse);
/// fine = fine + Q coarse, likewise.
void interpolate_onto(const View& fine, const View& coarse);
/// The sum of the squares of r.
double sum_of_squares(const View& r);
/// Ghosts along an axis from the points at the other end.
void wrap_around(const View& view, std::size_t axis);

}  // namespace nas_mg

#endif
