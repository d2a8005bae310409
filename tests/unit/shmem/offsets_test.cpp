#include "shmem/memory/offsets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <random>
#include <vector>

#include "../seed.hpp"

namespace librma::shmem {
namespace {

constexpr std::size_t kBytes = std::size_t{1} << 20;

TEST(Offsets, BlocksNeverOverlapAndAllRoomComesBack) {
  std::mt19937_64 draw(test_seed());
  Offsets offsets(kBytes);
  std::map<std::size_t, std::size_t> blocks;  // end by begin
  for (int i = 0; i < 20000; ++i) {
    if (!blocks.empty() && draw() % 2 == 0) {
      const auto chosen = std::next(blocks.begin(), static_cast<std::ptrdiff_t>(draw() % blocks.size()));
      EXPECT_TRUE(offsets.give(chosen->first));
      EXPECT_FALSE(offsets.give(chosen->first));
      blocks.erase(chosen);
      continue;
    }
    const std::size_t bytes = 1 + draw() % (std::size_t{1} << draw() % 15);
    const std::size_t alignment = std::size_t{1} << draw() % 13;
    const auto offset = offsets.take(bytes, alignment);
    if (!offset) continue;
    EXPECT_EQ(*offset % std::max(alignment, Offsets::kUnit), 0U);
    EXPECT_GE(offsets.size_at(*offset).value_or(0), bytes);
    const auto after = blocks.lower_bound(*offset);
    EXPECT_TRUE(after == blocks.end() || after->first >= *offset + bytes);
    EXPECT_TRUE(after == blocks.begin() || std::prev(after)->second <= *offset);
    EXPECT_LE(*offset + bytes, kBytes);
    blocks.emplace(*offset, *offset + bytes);
  }
  for (const auto& [begin, end] : blocks) EXPECT_TRUE(offsets.give(begin));
  EXPECT_EQ(offsets.take(kBytes, 1), 0U);
  EXPECT_EQ(offsets.take(1, 1), std::nullopt);
}

TEST(Offsets, TheSameCallsGiveTheSameOffsets) {
  const std::uint64_t seed = test_seed();
  const auto all_of_them = [&] {
    std::mt19937_64 draw(seed);
    Offsets offsets(kBytes);
    std::vector<std::size_t> taken;
    for (int i = 0; i < 500; ++i) {
      taken.push_back(offsets.take(1 + draw() % 5000, 1).value_or(kBytes));
      if (draw() % 3 == 0) offsets.give(taken[draw() % taken.size()]);
    }
    return taken;
  };
  EXPECT_EQ(all_of_them(), all_of_them());
}

TEST(Offsets, AFreedBlockServesTheNextOneOfItsSizeIfItsAlignmentFits) {
  Offsets offsets(kBytes);
  const std::size_t first = offsets.take(64, 64).value_or(kBytes);
  const std::size_t second = offsets.take(64, 64).value_or(kBytes);
  ASSERT_EQ(second % 128, 64U);
  EXPECT_TRUE(offsets.give(second));
  EXPECT_EQ(offsets.size_at(second), std::nullopt);
  EXPECT_FALSE(offsets.give(second));
  const std::size_t aligned = offsets.take(64, 128).value_or(kBytes);
  EXPECT_EQ(aligned % 128, 0U);
  EXPECT_NE(aligned, first);
  EXPECT_EQ(offsets.take(64, 64), second);
}

TEST(Offsets, FreedBlocksMakeRoomForALargerOne) {
  Offsets offsets(4 * Offsets::kUnit);
  std::vector<std::size_t> blocks;
  for (int i = 0; i < 4; ++i) blocks.push_back(offsets.take(1, 1).value_or(kBytes));
  for (const std::size_t block : blocks) EXPECT_TRUE(offsets.give(block));
  EXPECT_EQ(offsets.take(4 * Offsets::kUnit, 1), 0U);
}

TEST(Offsets, TooMuchIsRefused) {
  Offsets offsets(kBytes);
  EXPECT_EQ(offsets.take(kBytes + 1, 1), std::nullopt);
  EXPECT_EQ(offsets.take(SIZE_MAX, 1), std::nullopt);
  EXPECT_FALSE(offsets.give(0));
}

}  // namespace
}  // namespace librma::shmem
