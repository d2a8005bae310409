// The parts of nas_mg that work without other ranks.

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "../unit/seed.hpp"
#include "decomposition.hpp"
#include "kernels.hpp"
#include "problem.hpp"
#include "random.hpp"
#include "view.hpp"

namespace nas_mg {
namespace {

using ::testing::HasSubstr;

double as_number(std::uint64_t state) { return static_cast<double>(state) / std::pow(2.0, 46); }

// Expected states are 314159265 * 5^(13 k) mod 2^46 in exact integers.
TEST(NasMgRandom, StartsWithTheSequenceOfTheDefinition) {
  Random random;
  EXPECT_EQ(random.next(), as_number(55909509111989));
  EXPECT_EQ(random.next(), as_number(61155031930969));
  EXPECT_EQ(random.next(), as_number(45573031421645));
}

TEST(NasMgRandom, SkippingIsStepping) {
  Random stepped;
  for (std::uint64_t count = 0; count < 3000; ++count) {
    Random skipped;
    skipped.skip(count);
    ASSERT_EQ(skipped.next(), stepped.next()) << "after " << count;
  }
}

TEST(NasMgRandom, SkipsFar) {
  Random random;
  random.skip(999'999'999'999);
  EXPECT_EQ(random.next(), as_number(59560114155681));
}

TEST(NasMgProblem, TakesTheNormOfTheDefinition) {
  for (const Problem& each : problems()) {
    EXPECT_TRUE(is_right(each, each.norm)) << each.name;
    EXPECT_TRUE(is_right(each, each.norm * (1 + 0.9e-8))) << each.name;
    EXPECT_TRUE(is_right(each, each.norm * (1 - 0.9e-8))) << each.name;
  }
}

TEST(NasMgProblem, RefusesAnyOtherNorm) {
  for (const Problem& each : problems()) {
    EXPECT_FALSE(is_right(each, each.norm * (1 + 1.1e-8))) << each.name;
    EXPECT_FALSE(is_right(each, each.norm * (1 - 1.1e-8))) << each.name;
    EXPECT_FALSE(is_right(each, -each.norm)) << each.name;
    EXPECT_FALSE(is_right(each, 0)) << each.name;
    EXPECT_FALSE(is_right(each, std::numeric_limits<double>::quiet_NaN())) << each.name;
    for (const Problem& other : problems()) EXPECT_EQ(is_right(each, other.norm), each.name == other.name);
  }
}

TEST(NasMgDecomposition, HalvesTheAxesInTurn) {
  EXPECT_EQ(default_grid(1), (RankGrid{1, 1, 1}));
  EXPECT_EQ(default_grid(2), (RankGrid{1, 1, 2}));
  EXPECT_EQ(default_grid(4), (RankGrid{1, 2, 2}));
  EXPECT_EQ(default_grid(8), (RankGrid{2, 2, 2}));
  EXPECT_EQ(default_grid(16), (RankGrid{2, 2, 4}));
  EXPECT_EQ(default_grid(512), (RankGrid{8, 8, 8}));
}

TEST(NasMgDecomposition, NamesWhatCannotBe) {
  EXPECT_EQ(why_not(16, std::nullopt, 32), "");
  EXPECT_EQ(why_not(16, RankGrid{1, 16, 1}, 32), "");
  EXPECT_THAT(why_not(6, std::nullopt, 32), HasSubstr("started as 6 ranks"));
  EXPECT_THAT(why_not(16, RankGrid{1, 4, 2}, 32), HasSubstr("1 x 4 x 2 ranks, but started as 16"));
  EXPECT_THAT(why_not(16, RankGrid{1, 3, 2}, 32), HasSubstr("power of two"));
  EXPECT_THAT(why_not(32, RankGrid{32, 1, 1}, 32), HasSubstr("enough for 16"));
}

TEST(NasMgDecomposition, NeighboursAreMutual) {
  for (const RankGrid& grid : {RankGrid{1, 1, 2}, RankGrid{4, 2, 1}, RankGrid{2, 4, 8}}) {
    for (int rank = 0; rank < grid[0] * grid[1] * grid[2]; ++rank) {
      const Decomposition here(grid, rank, 32);
      for (std::size_t axis = 0; axis < 3; ++axis) {
        EXPECT_EQ(here.rank_at(axis, here.place()[axis]), rank);
        const Decomposition above(grid, here.neighbour(axis, 1), 32);
        EXPECT_EQ(above.neighbour(axis, -1), rank);
        EXPECT_EQ(above.place()[axis], (here.place()[axis] + 1) % grid[axis]);
      }
    }
  }
}

// Every point of every level that is not gathered belongs to one rank.
TEST(NasMgDecomposition, TheBoxesMakeUpTheGrid) {
  for (const RankGrid& grid : {RankGrid{1, 1, 2}, RankGrid{2, 2, 4}, RankGrid{16, 1, 1}, RankGrid{1, 8, 2}}) {
    const int ranks = grid[0] * grid[1] * grid[2];
    const Decomposition any(grid, 0, 32);
    ASSERT_LT(any.gathered(), any.finest());
    for (std::size_t level = any.gathered(); level <= any.finest(); ++level) {
      const std::size_t side = std::size_t{1} << level;
      std::vector<int> owners(side * side * side, 0);
      for (int rank = 0; rank < ranks; ++rank) {
        const Decomposition here(grid, rank, 32);
        const Sides first = here.own_first(level);
        const Sides sides = here.own_sides(level);
        for (std::size_t z = first[2]; z < first[2] + sides[2]; ++z) {
          for (std::size_t y = first[1]; y < first[1] + sides[1]; ++y) {
            for (std::size_t x = first[0]; x < first[0] + sides[0]; ++x)
              ++owners.at(x - 1 + side * (y - 1 + side * (z - 1)));
          }
        }
      }
      EXPECT_THAT(owners, ::testing::Each(1)) << "level " << level;
    }
  }
}

TEST(NasMgDecomposition, OneRankHasAllOfEveryLevel) {
  const Decomposition alone({1, 1, 1}, 0, 64);
  EXPECT_EQ(alone.gathered(), alone.finest());
  EXPECT_EQ(alone.sides(alone.finest()), (Sides{64, 64, 64}));
}

// ---- The kernels, against their stencils written out
// -----------------------------------------------------------

// Returns a level with random points and ghosts.
class Block {
 public:
  Block(const Sides& sides, std::mt19937_64& random)
      : points_((sides[0] + 2) * (sides[1] + 2) * (sides[2] + 2)),
        view_{points_.data(), sides, sides[0] + 2, (sides[0] + 2) * (sides[1] + 2)} {
    std::uniform_real_distribution<double> value(-1, 1);
    for (double& point : points_) point = value(random);
  }
  // The view is one of the copy's own points.
  Block(const Block& other) : points_(other.points_), view_(other.view_) { view_.points = points_.data(); }
  Block& operator=(const Block&) = delete;

  [[nodiscard]] const View& view() const { return view_; }
  [[nodiscard]] double at(std::size_t x, std::size_t y, std::size_t z) const { return view_.line(y, z)[x]; }

  // Each of the 27 points around counts with the weight of its distance.
  [[nodiscard]] double stencil(std::size_t x, std::size_t y, std::size_t z,
                               const std::array<double, 4>& weights) const {
    double sum = 0;
    for (std::size_t dz = 0; dz < 3; ++dz) {
      for (std::size_t dy = 0; dy < 3; ++dy) {
        for (std::size_t dx = 0; dx < 3; ++dx) {
          const std::size_t distance = (dx != 1 ? 1u : 0u) + (dy != 1 ? 1u : 0u) + (dz != 1 ? 1u : 0u);
          sum += weights.at(distance) * at(x + dx - 1, y + dy - 1, z + dz - 1);
        }
      }
    }
    return sum;
  }

 private:
  std::vector<double> points_;
  View view_;
};

template <class Function>
void for_points(const Sides& sides, Function function) {
  for (std::size_t z = 1; z <= sides[2]; ++z) {
    for (std::size_t y = 1; y <= sides[1]; ++y) {
      for (std::size_t x = 1; x <= sides[0]; ++x) function(x, y, z);
    }
  }
}

std::array<double, 4> weights(const Stencil& stencil) {
  return {stencil.center, stencil.face, stencil.edge, stencil.corner};
}

constexpr double kRounding = 1e-14;

class NasMgKernels : public ::testing::TestWithParam<Sides> {
 protected:
  std::mt19937_64 random_{test_seed()};
};

TEST_P(NasMgKernels, Residual) {
  const Block u(GetParam(), random_);
  const Block v(GetParam(), random_);
  const Block r(GetParam(), random_);
  const Block in_place(v);
  residual(u.view(), v.view(), r.view(), kLaplace);
  subtract_product(u.view(), in_place.view(), kLaplace);
  for_points(GetParam(), [&](std::size_t x, std::size_t y, std::size_t z) {
    const double expected = v.at(x, y, z) - u.stencil(x, y, z, weights(kLaplace));
    ASSERT_NEAR(r.at(x, y, z), expected, kRounding);
    ASSERT_EQ(in_place.at(x, y, z), r.at(x, y, z));
  });
}

TEST_P(NasMgKernels, Smooth) {
  const Block r(GetParam(), random_);
  const Block u(GetParam(), random_);
  const Block before(u);
  const Stencil& smoother = problem('B').smoother;
  smooth(r.view(), u.view(), smoother);
  for_points(GetParam(), [&](std::size_t x, std::size_t y, std::size_t z) {
    ASSERT_NEAR(u.at(x, y, z), before.at(x, y, z) + r.stencil(x, y, z, weights(smoother)), kRounding);
  });
}

TEST_P(NasMgKernels, Restrict) {
  const Sides& sides = GetParam();
  const Block fine({2 * sides[0], 2 * sides[1], 2 * sides[2]}, random_);
  const Block coarse(sides, random_);
  restrict_to(coarse.view(), fine.view());
  for_points(sides, [&](std::size_t x, std::size_t y, std::size_t z) {
    ASSERT_NEAR(coarse.at(x, y, z), fine.stencil(2 * x, 2 * y, 2 * z, {0.5, 0.25, 0.125, 0.0625}), kRounding);
  });
}

TEST_P(NasMgKernels, Interpolate) {
  const Sides& sides = GetParam();
  const Sides fine_sides{2 * sides[0], 2 * sides[1], 2 * sides[2]};
  const Block coarse(sides, random_);
  const Block into(fine_sides, random_);
  const Block onto(fine_sides, random_);
  const Block before(onto);
  interpolate_into(into.view(), coarse.view());
  interpolate_onto(onto.view(), coarse.view());
  for (std::size_t z = 0; z <= fine_sides[2] + 1; ++z) {
    for (std::size_t y = 0; y <= fine_sides[1] + 1; ++y) {
      for (std::size_t x = 0; x <= fine_sides[0] + 1; ++x) {
        // The expected value is the mean of the nearest coarse points: one along an even axis, two along an
        // odd one.
        double sum = 0;
        double count = 0;
        for (std::size_t cz = z / 2; cz <= (z + 1) / 2; ++cz) {
          for (std::size_t cy = y / 2; cy <= (y + 1) / 2; ++cy) {
            for (std::size_t cx = x / 2; cx <= (x + 1) / 2; ++cx, ++count) sum += coarse.at(cx, cy, cz);
          }
        }
        ASSERT_NEAR(into.at(x, y, z), sum / count, kRounding);
        ASSERT_NEAR(onto.at(x, y, z), before.at(x, y, z) + sum / count, kRounding);
      }
    }
  }
}

TEST_P(NasMgKernels, WrapAround) {
  const Sides& sides = GetParam();
  const Block block(sides, random_);
  const Block before(block);
  for (std::size_t axis = 0; axis < 3; ++axis) wrap_around(block.view(), axis);
  const auto wrapped = [&](std::size_t index, std::size_t axis) {
    return index == 0 ? sides.at(axis) : index == sides.at(axis) + 1 ? 1 : index;
  };
  for (std::size_t z = 0; z <= sides[2] + 1; ++z) {
    for (std::size_t y = 0; y <= sides[1] + 1; ++y) {
      for (std::size_t x = 0; x <= sides[0] + 1; ++x)
        ASSERT_EQ(block.at(x, y, z), before.at(wrapped(x, 0), wrapped(y, 1), wrapped(z, 2)));
    }
  }
}

// A part of a larger block is computed alone, with its neighbours as ghosts.
TEST_P(NasMgKernels, PartOfABlock) {
  const Sides& sides = GetParam();
  const Sides whole_sides{sides[0] + 4, 2 * sides[1] + 1, sides[2] + 3};
  const Sides first{2, sides[1] + 1, 3};
  const Block r(whole_sides, random_);
  const Block u(whole_sides, random_);
  const Block before(u);
  smooth(r.view().part(first, sides), u.view().part(first, sides), problem('S').smoother);
  for_points(whole_sides, [&](std::size_t x, std::size_t y, std::size_t z) {
    const bool within = x >= first[0] && x < first[0] + sides[0] && y >= first[1] &&
                        y < first[1] + sides[1] && z >= first[2] && z < first[2] + sides[2];
    const double change = within ? r.stencil(x, y, z, weights(problem('S').smoother)) : 0;
    ASSERT_NEAR(u.at(x, y, z), before.at(x, y, z) + change, kRounding);
  });
}

INSTANTIATE_TEST_SUITE_P(Sides, NasMgKernels,
                         ::testing::Values(Sides{1, 1, 1}, Sides{2, 2, 2}, Sides{8, 4, 2}, Sides{3, 5, 7},
                                           Sides{64, 2, 4}, Sides{256, 1, 2}));

}  // namespace
}  // namespace nas_mg
