#include "decomposition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace nas_mg {

namespace {

// Up to 8 x 8 x 8 points, one exchange with a neighbour takes longer than the computation.
constexpr std::size_t kGatheredLevel = 3;

bool is_power_of_two(int number) { return number > 0 && std::has_single_bit(static_cast<unsigned>(number)); }

std::size_t log2(std::size_t power) { return static_cast<std::size_t>(std::countr_zero(power)); }

}  // namespace

RankGrid default_grid(int ranks) {
  const int factors = std::countr_zero(static_cast<unsigned>(ranks));
  const int x = factors / 3;
  const int y = (factors - x) / 2;
  return {1 << x, 1 << y, 1 << (factors - x - y)};
}

std::string why_not(int ranks, const std::optional<RankGrid>& grid, std::size_t side) {
  if (!is_power_of_two(ranks))
    return fmt::format("started as {} ranks; the number of ranks has to be a power of two", ranks);
  const RankGrid chosen = grid.value_or(default_grid(ranks));
  const auto text = [&] { return fmt::format("{} x {} x {}", chosen[0], chosen[1], chosen[2]); };
  if (!std::all_of(chosen.begin(), chosen.end(), is_power_of_two))
    return fmt::format("a grid of {} ranks; each of the numbers has to be a power of two", text());
  if (std::size_t{1} * static_cast<unsigned>(chosen[0]) * static_cast<unsigned>(chosen[1]) *
          static_cast<unsigned>(chosen[2]) !=
      static_cast<std::size_t>(ranks))
    return fmt::format("a grid of {} ranks, but started as {}", text(), ranks);
  const auto most = static_cast<std::size_t>(*std::max_element(chosen.begin(), chosen.end()));
  if (2 * most > side)
    return fmt::format("a grid of {} ranks; {} points along each side are enough for {} ranks", text(), side,
                       side / 2);
  return {};
}

Decomposition::Decomposition(const RankGrid& grid, int rank, std::size_t side)
    : grid_(grid),
      place_{rank % grid[0], rank / grid[0] % grid[1], rank / grid[0] / grid[1]},
      finest_(log2(side)),
      gathered_(kGatheredLevel) {
  const auto most = static_cast<std::size_t>(*std::max_element(grid.begin(), grid.end()));
  // Above the gathered levels each rank has at least two points along each axis, so that each box of such a
  // level is made of the same points as the box below it.
  gathered_ = std::max(gathered_, log2(most));
  if (most == 1) gathered_ = finest_;
}

int Decomposition::rank_at(std::size_t axis, int place) const {
  RankGrid there = place_;
  there[axis] = place;
  return there[0] + grid_[0] * (there[1] + grid_[1] * there[2]);
}

int Decomposition::neighbour(std::size_t axis, int distance) const {
  return rank_at(axis, (place_[axis] + distance + grid_[axis]) % grid_[axis]);
}

Sides Decomposition::own_sides(std::size_t level) const {
  Sides own{};
  for (std::size_t axis = 0; axis < 3; ++axis)
    own[axis] = (std::size_t{1} << level) / static_cast<std::size_t>(grid_[axis]);
  return own;
}

Sides Decomposition::own_first(std::size_t level) const {
  Sides first = own_sides(level);
  for (std::size_t axis = 0; axis < 3; ++axis)
    first[axis] = first[axis] * static_cast<std::size_t>(place_[axis]) + 1;
  return first;
}

Sides Decomposition::sides(std::size_t level) const {
  if (level > gathered_) return own_sides(level);
  const std::size_t all = std::size_t{1} << level;
  return {all, all, all};
}

}  // namespace nas_mg
