#include "charges.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "random.hpp"

namespace nas_mg {

namespace {

constexpr std::size_t kCharges = 10;

struct Candidate {
  double value;
  std::uint64_t point;  // of the whole grid: x + side * (y + side * z), from 0

  friend bool operator<(const Candidate& left, const Candidate& right) { return left.value < right.value; }
};

// The smallest values, in ascending order. Unused entries are larger than every point.
class Smallest {
 public:
  Smallest() { kept_.fill({std::numeric_limits<double>::infinity(), 0}); }

  void offer(const Candidate& candidate) {
    if (!(candidate < kept_.back())) return;
    const auto place = std::upper_bound(kept_.begin(), kept_.end(), candidate);
    std::move_backward(place, kept_.end() - 1, kept_.end());
    *place = candidate;
  }
  [[nodiscard]] std::span<const Candidate> kept() const { return kept_; }

 private:
  std::array<Candidate, kCharges> kept_;
};

// Returns the smallest values of all ranks.
Smallest of_all(apps::Job& job, const Smallest& mine) {
  std::vector<Candidate> all(kCharges * static_cast<std::size_t>(job.size()));
  job.gather(std::as_bytes(mine.kept()), std::as_writable_bytes(std::span(all)));
  Smallest result;
  for (const Candidate& candidate : all) result.offer(candidate);
  return result;
}

}  // namespace

void place_charges(apps::Job& job, const Decomposition& decomposition, const View& v) {
  const std::uint64_t side = std::uint64_t{1} << decomposition.finest();
  const Sides first = decomposition.own_first(decomposition.finest());
  const auto [nx, ny, nz] = v.sides;
  Smallest low;
  Smallest high;  // of the negative values
  for (std::size_t z = 1; z <= nz; ++z) {
    for (std::size_t y = 1; y <= ny; ++y) {
      std::uint64_t point = first[0] - 1 + side * (first[1] + y - 2 + side * (first[2] + z - 2));
      Random random;
      random.skip(point);
      for (std::size_t x = 1; x <= nx; ++x, ++point) {
        const double value = random.next();
        low.offer({value, point});
        high.offer({-value, point});
      }
      std::fill_n(v.line(y, z), nx + 2, 0.0);
    }
  }
  const auto charge = [&](const Smallest& points, double value) {
    for (const Candidate& candidate : points.kept()) {
      // In front of this rank's box the difference wraps around, and so is beyond every side.
      const std::uint64_t x = candidate.point % side - (first[0] - 1);
      const std::uint64_t y = candidate.point / side % side - (first[1] - 1);
      const std::uint64_t z = candidate.point / side / side - (first[2] - 1);
      if (x < v.sides[0] && y < v.sides[1] && z < v.sides[2]) v.line(y + 1, z + 1)[x + 1] = value;
    }
  };
  charge(of_all(job, low), -1.0);
  charge(of_all(job, high), 1.0);
}

}  // namespace nas_mg
