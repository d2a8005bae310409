#include "multigrid.hpp"

#include <algorithm>
#include <cmath>

#include "charges.hpp"
#include "kernels.hpp"

namespace nas_mg {

namespace {

constexpr std::size_t kCoarsest = Decomposition::kCoarsest;

}  // namespace

std::size_t Multigrid::memory_points() const {
  std::size_t points = field_points(decomposition_, decomposition_.finest());  // v
  for (std::size_t level = kCoarsest; level <= decomposition_.finest(); ++level)
    points += 2 * field_points(decomposition_, level);
  if (decomposition_.gathered() < decomposition_.finest())
    points += field_points(decomposition_, decomposition_.gathered());
  return points;
}

Multigrid::Multigrid(Job& job, const Decomposition& decomposition, const Problem& problem)
    : job_(job),
      decomposition_(decomposition),
      problem_(problem),
      halo_(job, memory_points(), Field::kChannels + Gathering::channels(decomposition)) {
  std::size_t offset = 0;
  const auto field = [&](std::size_t level) {
    const std::size_t here = offset;
    offset += field_points(decomposition_, level);
    return Field(decomposition_, halo_, level, here);
  };
  const std::size_t finest = decomposition_.finest();
  const std::size_t gathered = decomposition_.gathered();
  for (std::size_t level = kCoarsest; level <= finest; ++level) u_.push_back(field(level));
  for (std::size_t level = kCoarsest; level <= finest; ++level) {
    if (level == gathered && gathered < finest)
      gatherings_.emplace_back(decomposition_, halo_, offset, Field::kChannels);
    r_.push_back(field(level));
  }
  if (gathered < finest) {
    gatherings_.emplace_back(decomposition_, halo_, offset, Field::kChannels);
    other_gathered_.emplace(field(gathered));
  }
  v_ = field(finest).view();
  place_charges(job_, decomposition_, v_);
}

Field& Multigrid::r(std::size_t level) {
  if (other_turn_ && level == decomposition_.gathered()) return *other_gathered_;
  return r_[level - kCoarsest];
}

View Multigrid::own_part(const View& view) const {
  const std::size_t gathered = decomposition_.gathered();
  return view.part(decomposition_.own_first(gathered), decomposition_.own_sides(gathered));
}

void Multigrid::compute_residual() {
  Field& finest = r(decomposition_.finest());
  residual(u(decomposition_.finest()).view(), v_, finest.view(), kLaplace);
  finest.refresh();
}

// The residual to all levels. Between two refreshes of a field there are always others, of the level below or
// of u, or a gathering: what the halo asks for.
void Multigrid::go_down() {
  for (std::size_t level = decomposition_.finest() - 1; level >= kCoarsest; --level) {
    const View& fine = r(level + 1).view();
    if (level == decomposition_.gathered()) {
      other_turn_ = !other_turn_;
      restrict_to(own_part(r(level).view()), fine);
      gatherings_[other_turn_ ? 1 : 0].make();
    } else {
      restrict_to(r(level).view(), fine);
    }
    r(level).refresh();
  }
}

// The corrections back to the finest level.
void Multigrid::go_up() {
  const std::size_t finest = decomposition_.finest();
  for (std::size_t level = kCoarsest + 1; level <= finest; ++level) {
    const View& below = u(level - 1).view();
    const bool from_gathered = level - 1 == decomposition_.gathered();
    const View& fine = u(level).view();
    const View coarse = from_gathered ? own_part(below) : below;
    if (level == finest) {
      interpolate_onto(fine, coarse);
      residual(fine, v_, r(level).view(), kLaplace);
    } else {
      interpolate_into(fine, coarse);
      subtract_product(fine, r(level).view(), kLaplace);
    }
    r(level).refresh();
    smooth(r(level).view(), fine, problem_.smoother);
    u(level).refresh();
  }
}

void Multigrid::improve() {
  go_down();
  const View& coarsest = u(kCoarsest).view();
  std::fill_n(coarsest.points, field_points(decomposition_, kCoarsest), 0.0);
  smooth(r(kCoarsest).view(), coarsest, problem_.smoother);
  u(kCoarsest).refresh();
  go_up();
}

double Multigrid::norm() {
  const double sum = job_.sum(sum_of_squares(r(decomposition_.finest()).view()));
  return std::sqrt(sum / points(problem_));
}

// No rank writes into another's ghosts of u before the two have swapped some of r, which is after this.
void Multigrid::reset() {
  const std::size_t finest = decomposition_.finest();
  std::fill_n(u(finest).view().points, field_points(decomposition_, finest), 0.0);
}

}  // namespace nas_mg
