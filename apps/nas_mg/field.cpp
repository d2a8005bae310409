#include "field.hpp"

#include "kernels.hpp"

namespace nas_mg {

std::size_t field_points(const Decomposition& decomposition, std::size_t level) {
  const auto [nx, ny, nz] = decomposition.sides(level);
  return (nx + 2) * (ny + 2) * (nz + 2);
}

Field::Field(const Decomposition& decomposition, Halo& halo, std::size_t level, std::size_t offset)
    : halo_(halo) {
  const Sides sides = decomposition.sides(level);
  const std::size_t row = sides[0] + 2;
  const std::size_t plane = row * (sides[1] + 2);
  view_ = {halo.memory() + offset, sides, row, plane};
  if (level <= decomposition.gathered()) return;

  const std::array<std::size_t, 3> step{1, row, plane};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (decomposition.grid()[axis] == 1) continue;
    // A face of the points, and of the ghosts along the axes that are up to date by then.
    std::size_t first = offset;
    Shape face{.counts = {}, .strides = {row, plane}};
    for (std::size_t other = 0; other < 3; ++other) {
      const bool with_ghosts = other < axis;
      face.counts[other] = other == axis ? 1 : sides[other] + (with_ghosts ? 2 : 0);
      if (other > axis) first += step[other];
    }
    const auto at = [&](std::size_t index) { return first + index * step[axis]; };
    const int below = decomposition.neighbour(axis, -1);
    const int above = decomposition.neighbour(axis, 1);
    const std::array messages{
        Message{.channel = 2 * axis,
                .to = below,
                .source = at(1),
                .destination = at(sides[axis] + 1),
                .from = above,
                .arrival = at(sides[axis] + 1),
                .shape = face},
        Message{.channel = 2 * axis + 1,
                .to = above,
                .source = at(sides[axis]),
                .destination = at(0),
                .from = below,
                .arrival = at(0),
                .shape = face},
    };
    swaps_[axis] = halo.describe(messages);
  }
}

void Field::refresh() {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (swaps_[axis]) {
      halo_.make(*swaps_[axis]);
    } else {
      wrap_around(view_, axis);
    }
  }
}

}  // namespace nas_mg
