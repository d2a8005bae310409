#include "gathering.hpp"

#include <array>
#include <bit>

namespace nas_mg {

Gathering::Gathering(const Decomposition& decomposition, Halo& halo, std::size_t offset,
                     std::size_t first_channel)
    : halo_(halo) {
  const Sides all = decomposition.sides(decomposition.gathered());
  const std::size_t row = all[0] + 2;
  const std::size_t plane = row * (all[1] + 2);
  // The part of the level that this rank has so far.
  Sides first = decomposition.own_first(decomposition.gathered());
  Sides have = decomposition.own_sides(decomposition.gathered());
  const auto place_of = [&](const Sides& point) {
    return offset + point[0] + point[1] * row + point[2] * plane;
  };
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (int distance = 1; distance < decomposition.grid()[axis]; distance *= 2) {
      const int place = decomposition.place()[axis];
      const int partner = decomposition.rank_at(axis, place ^ distance);
      const bool low = (place & distance) == 0;
      Sides other = first;
      other[axis] = low ? first[axis] + have[axis] : first[axis] - have[axis];
      const std::array message{Message{.channel = first_channel + steps_.size(),
                                       .to = partner,
                                       .source = place_of(first),
                                       .destination = place_of(first),
                                       .from = partner,
                                       .arrival = place_of(other),
                                       .shape = {.counts = have, .strides = {row, plane}}}};
      steps_.push_back(halo.describe(message));
      if (!low) first = other;
      have[axis] *= 2;
    }
  }
}

void Gathering::make() {
  for (const Halo::Swap step : steps_) halo_.make(step);
}

std::size_t Gathering::channels(const Decomposition& decomposition) {
  std::size_t steps = 0;
  for (const int ranks : decomposition.grid())
    steps += static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(ranks)));
  return steps;
}

}  // namespace nas_mg
