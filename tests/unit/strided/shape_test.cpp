#include "strided/shape.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "../seed.hpp"

namespace librma {
namespace {

constexpr auto kMost = std::numeric_limits<std::ptrdiff_t>::max();
constexpr auto kLeast = std::numeric_limits<std::ptrdiff_t>::min();

struct Given {
  std::vector<std::size_t> counts;
  std::vector<std::ptrdiff_t> dst;
  std::vector<std::ptrdiff_t> src;
  [[nodiscard]] int levels() const { return static_cast<int>(dst.size()); }
  [[nodiscard]] Result<StridedShape> make() const {
    return StridedShape::make(counts.data(), dst.data(), src.data(), levels());
  }
};

using Moves = std::multiset<std::pair<std::ptrdiff_t, std::ptrdiff_t>>;

/// Every byte that the definition of a strided transfer moves: destination and source offset.
Moves model(const Given& given) {
  Moves moves;
  for (const std::size_t count : given.counts) {
    if (count == 0) return moves;
  }
  std::vector<std::size_t> index(given.dst.size(), 0);
  while (true) {
    std::ptrdiff_t dst = 0;
    std::ptrdiff_t src = 0;
    for (std::size_t i = 0; i < index.size(); ++i) {
      dst += static_cast<std::ptrdiff_t>(index[i]) * given.dst[i];
      src += static_cast<std::ptrdiff_t>(index[i]) * given.src[i];
    }
    for (std::size_t b = 0; b < given.counts[0]; ++b) {
      moves.emplace(dst + static_cast<std::ptrdiff_t>(b), src + static_cast<std::ptrdiff_t>(b));
    }
    std::size_t i = 0;
    while (i < index.size() && ++index[i] == given.counts[i + 1]) index[i++] = 0;
    if (i == index.size()) return moves;
  }
}

Moves moves_of(const StridedShape& shape) {
  Moves moves;
  EXPECT_TRUE(shape.for_each_segment([&](std::ptrdiff_t dst, std::ptrdiff_t src) {
    for (std::size_t b = 0; b < shape.segment_bytes(); ++b) {
      moves.emplace(dst + static_cast<std::ptrdiff_t>(b), src + static_cast<std::ptrdiff_t>(b));
    }
    return true;
  }));
  return moves;
}

void expect_equal(const Given& given) {
  auto made = given.make();
  ASSERT_TRUE(made.ok()) << made.status().text();
  const StridedShape& shape = made.value();
  const Moves expected = model(given);
  ASSERT_EQ(moves_of(shape), expected);
  EXPECT_EQ(shape.bytes(), expected.size());
  EXPECT_EQ(shape.empty(), expected.empty());
  EXPECT_EQ(shape.segments() * shape.segment_bytes(), expected.size());
  if (expected.empty()) return;
  std::set<std::ptrdiff_t> dst;
  std::set<std::ptrdiff_t> src;
  for (const auto& [to, from] : expected) {
    dst.insert(to);
    src.insert(from);
  }
  EXPECT_EQ(shape.dst_extent().low, *dst.begin());
  EXPECT_EQ(shape.dst_extent().high, *dst.rbegin() + 1);
  EXPECT_EQ(shape.src_extent().low, *src.begin());
  EXPECT_EQ(shape.src_extent().high, *src.rbegin() + 1);
  std::ptrdiff_t before = 0;
  for (const auto& dimension : shape.dimensions()) {
    EXPECT_GE(dimension.count, 2U);
    EXPECT_GE(dimension.dst_stride, before);  // smallest first, none negative
    before = dimension.dst_stride;
  }
}

TEST(StridedShape, RandomShapesMoveWhatTheDefinitionSays) {
  std::mt19937_64 random(test_seed());
  const auto pick = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  for (int round = 0; round < 1500; ++round) {
    Given given;
    const int levels = pick(0, 5);
    given.counts.push_back(static_cast<std::size_t>(pick(1, 6)));
    for (int i = 0; i < levels; ++i) {
      given.counts.push_back(static_cast<std::size_t>(pick(0, 40) == 0 ? 0 : pick(1, 4)));
      // Half of the strides continue the level inside, so that foldable shapes are common.
      const auto inner =
          static_cast<std::ptrdiff_t>(i == 0 ? given.counts[0] : given.counts[given.counts.size() - 2]);
      const bool same = pick(0, 1) == 0;
      const std::ptrdiff_t unit_dst = i == 0 ? 1 : given.dst.back();
      const std::ptrdiff_t unit_src = i == 0 ? 1 : given.src.back();
      given.dst.push_back(same ? inner * unit_dst : pick(-60, 60));
      given.src.push_back(same ? inner * unit_src : pick(-60, 60));
    }
    SCOPED_TRACE(testing::Message() << "round " << round);
    expect_equal(given);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(StridedShape, FoldsWhatIsContiguous) {
  const auto made = Given{{8, 4, 1, 3}, {8, 999, 32}, {8, -999, 32}}.make();
  ASSERT_TRUE(made.ok());
  EXPECT_TRUE(made.value().dimensions().empty());
  EXPECT_EQ(made.value().segment_bytes(), 96U);
  EXPECT_EQ(made.value().given_bytes(), 8U);
}

TEST(StridedShape, FoldsDownwardAndOutOfOrder) {
  const auto made = Given{{8, 3, 4}, {-32, -8}, {-32, -8}}.make();
  ASSERT_TRUE(made.ok());
  EXPECT_TRUE(made.value().dimensions().empty());
  EXPECT_EQ(made.value().segment_bytes(), 96U);
  EXPECT_EQ(made.value().dst_start(), -2 * 32 - 3 * 8);
}

TEST(StridedShape, KeepsWhatIsContiguousOnOneSideOnly) {
  const auto made = Given{{8, 4}, {8}, {16}}.make();
  ASSERT_TRUE(made.ok());
  ASSERT_EQ(made.value().dimensions().size(), 1U);
  EXPECT_EQ(made.value().segments(), 4U);
}

TEST(StridedShape, HoldsAllLevels) {
  Given given;
  given.counts.push_back(2);
  for (int i = 0; i < RMA_MAX_LEVELS; ++i) {
    given.counts.push_back(i < 9 ? 2 : 1);
    given.dst.push_back((i % 2 == 0 ? 3 : -3) * (std::ptrdiff_t{1} << i));
    given.src.push_back(5 * (std::ptrdiff_t{1} << i));
  }
  expect_equal(given);
}

TEST(StridedShape, IsEmptyWithAnyCountOfZeroWhateverTheStrides) {
  EXPECT_TRUE(Given({{8, 0, 4}, {kMost, kLeast}, {kMost, kLeast}}).make().value().empty());
  EXPECT_TRUE(Given({{0, 4}, {kMost}, {8}}).make().value().empty());
}

TEST(StridedShape, RefusesWhatReachesTooFar) {
  const auto code = [](const Given& given) { return given.make().status().code(); };
  EXPECT_EQ(code({{8, 3}, {kMost / 2}, {8}}), RMA_ERR_SIZE);
  EXPECT_EQ(code({{8, 3}, {8}, {kMost / 2}}), RMA_ERR_SIZE);
  EXPECT_EQ(code({{8, 2}, {kLeast}, {8}}), RMA_ERR_SIZE);
  EXPECT_EQ(code({{8, 2, 2}, {kMost - 8, -kMost}, {0, 0}}), RMA_ERR_SIZE);
  EXPECT_EQ(code({{std::numeric_limits<std::size_t>::max()}, {}, {}}), RMA_ERR_SIZE);
  EXPECT_EQ(code({{8, std::numeric_limits<std::size_t>::max() / 4}, {0}, {0}}), RMA_ERR_SIZE);
  EXPECT_EQ(code({{8, 2}, {kMost - 8}, {8}}), RMA_SUCCESS);
}

TEST(StridedShape, StopsVisitingWhenAsked) {
  const auto made = Given{{8, 4}, {16}, {16}}.make();
  int visits = 0;
  EXPECT_FALSE(made.value().for_each_segment([&](auto, auto) { return ++visits < 2; }));
  EXPECT_EQ(visits, 2);
}

}  // namespace
}  // namespace librma
