/// @file
/// The distribution of the grid over the ranks, on each level.
///
/// Level k has 2^k points along each axis. The ranks form a grid of their own, a power of two along each
/// axis, and each has an equal box of every level that is fine enough. Coarse levels are gathered: every rank
/// has all of their points and computes them by itself, which takes less time than exchanging so few points.
#ifndef NAS_MG_DECOMPOSITION_HPP
#define NAS_MG_DECOMPOSITION_HPP

#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include "view.hpp"

namespace nas_mg {

/// A number of ranks along x, y and z.
using RankGrid = std::array<int, 3>;

/// Returns the benchmark's own grid: x, y and z each get a third of the factors of two, and the last ones get
/// the rest. `ranks` is a power of two.
RankGrid default_grid(int ranks);

/// Returns why `ranks` ranks (arranged as `grid`, if given) cannot work on a grid of `side` points; empty
/// if they can.
std::string why_not(int ranks, const std::optional<RankGrid>& grid, std::size_t side);

class Decomposition {
 public:
  /// Of a grid for which there is no why_not(). `rank` is x + grid[0] * (y + grid[1] * z) at (x, y, z).
  Decomposition(const RankGrid& grid, int rank, std::size_t side);

  [[nodiscard]] const RankGrid& grid() const { return grid_; }
  /// This rank's place.
  [[nodiscard]] const RankGrid& place() const { return place_; }
  /// Returns the rank `distance` further along the axis, with wrap-around.
  [[nodiscard]] int neighbour(std::size_t axis, int distance) const;
  /// Returns the rank with another place along the axis.
  [[nodiscard]] int rank_at(std::size_t axis, int place) const;

  /// The level of the whole problem; the coarsest, of two points along each axis, is kCoarsest.
  [[nodiscard]] std::size_t finest() const { return finest_; }
  static constexpr std::size_t kCoarsest = 1;
  /// The finest level that every rank has all of.
  [[nodiscard]] std::size_t gathered() const { return gathered_; }

  /// Returns this rank's points on the level, which is not gathered.
  [[nodiscard]] Sides own_sides(std::size_t level) const;
  /// The first of them in the whole level, counted from 1.
  [[nodiscard]] Sides own_first(std::size_t level) const;
  /// Points that this rank stores and computes on the level: its own, or all.
  [[nodiscard]] Sides sides(std::size_t level) const;

 private:
  RankGrid grid_;
  RankGrid place_;
  std::size_t finest_;
  std::size_t gathered_;
};

}  // namespace nas_mg

#endif
