#include "util/tables/number_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "../seed.hpp"

namespace librma {
namespace {

constexpr int kMostRanks = 1 << 24;  // so that a rank has few numbers
constexpr std::uint32_t kEach = 16;

TEST(NumberPool, EachRankHasNumbersOfItsOwn) {
  NumberPool one(1000, 0, 3);
  NumberPool other(1000, 2, 3);
  EXPECT_EQ(one.size(), std::uint32_t{1} << 26U);
  EXPECT_EQ(one.draw(), 1000U);
  EXPECT_EQ(one.draw(), 1001U);
  EXPECT_EQ(other.draw(), 1000U + 2 * one.size());
  EXPECT_TRUE(one.has_drawn(1001));
  EXPECT_FALSE(one.has_drawn(1002));
  EXPECT_FALSE(one.has_drawn(999));
  EXPECT_FALSE(one.has_drawn(1000 + 2 * one.size()));
}

TEST(NumberPool, NumbersThatComeBackServeForEver) {
  NumberPool pool(0, 5, kMostRanks);
  ASSERT_EQ(pool.size(), kEach);
  std::mt19937_64 random(test_seed());
  std::set<std::uint32_t> drawn;
  for (int cycle = 0; cycle < 100'000; ++cycle) {
    if (drawn.size() < kEach && random() % 2 == 0) {
      const std::optional<std::uint32_t> number = pool.draw();
      ASSERT_TRUE(number);
      EXPECT_EQ(*number / kEach, 5U);
      EXPECT_TRUE(drawn.insert(*number).second) << "it is in use";
    } else if (!drawn.empty()) {
      pool.give_back(*drawn.begin());
      drawn.erase(drawn.begin());
    }
  }
  while (drawn.size() < kEach) drawn.insert(pool.draw().value());
  EXPECT_EQ(pool.draw(), std::nullopt);
  EXPECT_EQ(pool.drawn(), kEach);
  pool.give_back(*drawn.begin());
  EXPECT_EQ(pool.draw(), *drawn.begin());
}

TEST(NumberPool, ThreadsDoNotGetTheSameNumber) {
  NumberPool pool(0, 0, kMostRanks);
  std::vector<std::atomic<int>> users(kEach);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int cycle = 0; cycle < 20'000; ++cycle) {
        const std::uint32_t number = pool.draw().value();
        EXPECT_EQ(users[number].fetch_add(1, std::memory_order_relaxed), 0);
        users[number].fetch_sub(1, std::memory_order_relaxed);
        pool.give_back(number);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(pool.drawn(), 3U);
}

}  // namespace
}  // namespace librma
