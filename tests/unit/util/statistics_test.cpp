#include "util/statistics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <latch>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>
#include <vector>

namespace librma {
namespace {

constexpr auto kPuts = static_cast<std::size_t>(Counter::put_direct);
constexpr auto kBytes = static_cast<std::size_t>(Counter::put_bytes);

TEST(Statistics, ThreadsThatRunAndThreadsThatEndedAreInTheTotal) {
  constexpr std::size_t kThreads = 4;
  constexpr std::uint64_t kCounts = 5000;
  const auto before = total_counts();
  std::latch counted(kThreads);
  std::latch leave(1);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (std::uint64_t n = 0; n < kCounts; ++n) {
        count(Counter::put_direct);
        count(Counter::put_bytes, 3);
      }
      counted.count_down();
      leave.wait();
    });
  }
  // Totals taken while others count never shrink.
  std::uint64_t last = before[kPuts];
  while (!counted.try_wait()) {
    const std::uint64_t now = total_counts()[kPuts];
    ASSERT_GE(now, last);
    last = now;
    std::this_thread::yield();
  }
  const auto running = total_counts();
  leave.count_down();
  for (std::thread& thread : threads) thread.join();
  const auto ended = total_counts();
  EXPECT_EQ(running[kPuts] - before[kPuts], kThreads * kCounts);
  EXPECT_EQ(running[kBytes] - before[kBytes], 3 * kThreads * kCounts);
  EXPECT_EQ(ended, running);
}

TEST(Statistics, WhatAnOwnerCountsItselfStaysInTheTotal) {
  const std::uint64_t before = total_count(Counter::put_direct);
  const std::uint64_t others = total_count(Counter::put_bytes);
  std::uint64_t own = 0;
  {
    const SeparateCount separate(Counter::put_direct, [&own] { return own; });
    {
      const SeparateCount another(Counter::put_direct, [] { return std::uint64_t{100}; });
      own = 7;
      count(Counter::put_direct);
      EXPECT_EQ(total_count(Counter::put_direct) - before, 108U);
    }
    own = 8;
    EXPECT_EQ(total_counts()[kPuts] - before, 109U);
  }
  EXPECT_EQ(total_count(Counter::put_direct) - before, 109U);
  EXPECT_EQ(total_count(Counter::put_bytes), others);
}

/// Counts when its thread ends, after or before the thread's own counts have ended.
struct CountsAtTheEnd {
  ~CountsAtTheEnd() { count(Counter::put_direct); }
};

TEST(Statistics, AThreadThatHasEndedLeavesItsCountsAndNoMemory) {
  constexpr int kWarm = 50;
  constexpr int kThreads = 3000;
  const auto before = total_counts();
  const auto run = [](int threads) {
    for (int i = 0; i < threads; ++i) {
      std::thread([] {
        static thread_local CountsAtTheEnd last;
        static_cast<void>(&last);
        count(Counter::put_direct, 2);
      }).join();
    }
  };
  run(kWarm);
  const std::size_t used = mallinfo2().uordblks;
  run(kThreads);
  // 440 bytes of each would be more than a MiB.
  EXPECT_LT(mallinfo2().uordblks, used + 100'000);
  EXPECT_EQ(total_counts()[kPuts] - before[kPuts], 3U * (kWarm + kThreads));
}

TEST(Statistics, MoreThreadsThanPlacesCountRight) {
  constexpr std::size_t kThreads = 3 * kCountingPlaces;
  constexpr std::uint64_t kCounts = 500;
  const auto before = total_counts();
  std::latch all_run(kThreads);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      count(Counter::put_direct);
      all_run.arrive_and_wait();  // so no place is free for another
      for (std::uint64_t n = 1; n < kCounts; ++n) count(Counter::put_direct);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(total_counts()[kPuts] - before[kPuts], kThreads * kCounts);
}

TEST(Statistics, ThreadsThatEndWhileTotalsAreTakenAreCountedOnce) {
  constexpr std::uint64_t kThreads = 200;
  const auto before = total_counts();
  std::thread ending([] {
    for (std::uint64_t i = 0; i < kThreads; ++i) std::thread([] { count(Counter::put_bytes, 5); }).join();
  });
  std::uint64_t last = before[kBytes];
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const std::uint64_t now = total_counts()[kBytes];
    ASSERT_GE(now, last);
    ASSERT_LE(now, before[kBytes] + 5 * kThreads);
    last = now;
  }
  ending.join();
  EXPECT_EQ(total_counts()[kBytes] - before[kBytes], 5 * kThreads);
}

TEST(Statistics, EveryCounterHasANameOfItsOwnAndHelp) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kCounters; ++i) {
    const auto counter = static_cast<Counter>(i);
    EXPECT_FALSE(counter_name(counter).empty());
    EXPECT_FALSE(counter_help(counter).empty()) << counter_name(counter);
    names.insert(counter_name(counter));
  }
  EXPECT_EQ(names.size(), kCounters);
  EXPECT_EQ(counter_name(Counter::put_direct), "put_direct");
  EXPECT_EQ(counter_name(Counter::sleep), "sleep");
  EXPECT_EQ(counter_name(Counter::allocate), "allocate");
}

TEST(Statistics, TheTableHoldsWhatWasCountedSince) {
  count(Counter::atomic, 1000);
  const auto before = total_counts();
  EXPECT_EQ(counts_table(3, before), "rma statistics of rank 3\n");
  count(Counter::atomic, 12);
  count(Counter::fence);
  const std::string table = counts_table(3, before);
  EXPECT_THAT(table, testing::ContainsRegex("\n  atomic +12\n"));
  EXPECT_THAT(table, testing::ContainsRegex("\n  fence +1\n"));
  EXPECT_THAT(table, testing::Not(testing::HasSubstr("barrier")));
}

TEST(Statistics, TheJsonHoldsEveryCounterSince) {
  count(Counter::notify, 1000);
  const auto before = total_counts();
  count(Counter::notify, 7);
  const std::string text = counts_json(2, before);
  ASSERT_TRUE(text.ends_with("}\n"));
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json.size(), kCounters + 1);
  EXPECT_EQ(json.at("rank"), 2);
  for (std::size_t i = 0; i < kCounters; ++i) {
    const auto counter = static_cast<Counter>(i);
    EXPECT_EQ(json.at(std::string(counter_name(counter))), counter == Counter::notify ? 7 : 0);
  }
}

}  // namespace
}  // namespace librma
