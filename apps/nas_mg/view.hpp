/// @file
/// A block of grid points in memory.
#ifndef NAS_MG_VIEW_HPP
#define NAS_MG_VIEW_HPP

#include <array>
#include <cstddef>

namespace nas_mg {

/// Along x, y and z.
using Sides = std::array<std::size_t, 3>;

/// Points 1 to sides[axis] along each axis, with ghost points 0 and sides[axis] + 1 around them. Points along
/// x lie side by side. A view may be a part of another, whose points are then its ghosts.
struct View {
  double* points;  ///< point (0, 0, 0), a ghost
  Sides sides;
  std::size_t row;    ///< from a point to the next along y
  std::size_t plane;  ///< and along z

  [[nodiscard]] double* line(std::size_t y, std::size_t z) const { return points + z * plane + y * row; }

  /// The points from `first` on, `part` of them, which become points 1 and up.
  [[nodiscard]] View part(const Sides& first, const Sides& part) const {
    return {line(first[1] - 1, first[2] - 1) + (first[0] - 1), part, row, plane};
  }
};

}  // namespace nas_mg

#endif
