#include "collectives/members/rank_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "../seed.hpp"

namespace librma {
namespace {

TEST(RankSetTest, AgreesWithASet) {
  constexpr int kRanks = 40;
  RankSet set(kRanks);
  std::mt19937_64 random(test_seed());
  int found = 0;
  for (int round = 0; round < 5000; ++round) {
    std::vector<int> ranks(random() % 12);
    for (int& rank : ranks) rank = static_cast<int>(random() % kRanks);
    if (round % 4 == 0) std::ranges::sort(ranks);
    std::optional<int> expected;
    std::set<int> seen;
    for (const int rank : ranks) {
      if (!seen.insert(rank).second) {
        expected = rank;
        break;
      }
    }
    found += expected.has_value() ? 1 : 0;
    ASSERT_EQ(set.find_twice(ranks), expected) << "round " << round;
  }
  EXPECT_GT(found, 500);
}

// With a comparison of each rank with all before it, these lists would take 10^12 steps.
TEST(RankSetTest, LongListsTakeStepsInProportion) {
  constexpr int kRanks = 1'000'000;
  RankSet set(kRanks);
  std::vector<int> ranks(kRanks);
  std::iota(ranks.rbegin(), ranks.rend(), 0);
  EXPECT_EQ(set.find_twice(ranks), std::nullopt);
  std::ranges::shuffle(ranks, std::mt19937_64(test_seed()));
  EXPECT_EQ(set.find_twice(ranks), std::nullopt);
  ranks.back() = ranks.front();
  EXPECT_EQ(set.find_twice(ranks), ranks.front());
}

}  // namespace
}  // namespace librma
