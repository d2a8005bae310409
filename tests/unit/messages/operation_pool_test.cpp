// The names of operations: other processes bring them back late, twice, or invent them.

#include "messages/matching/operation_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <unordered_map>
#include <vector>

#include "../seed.hpp"

namespace rma {
namespace {

struct PoolOperation {
  explicit PoolOperation(std::uint64_t own_name) : name(own_name) {}
  const std::uint64_t name;
  int value = 0;
};
using Pool = OperationPool<PoolOperation>;

bool finds(Pool& pool, std::uint64_t name) {
  return pool.with(name, [&](const PoolOperation& one) { return one.name == name; });
}

TEST(OperationPool, ANameFindsItsOperationUntilItEnds) {
  Pool pool;
  PoolOperation& one = pool.make();
  const std::uint64_t name = one.name;
  EXPECT_NE(name, 0U) << "0 is no name";
  EXPECT_TRUE(finds(pool, name));
  EXPECT_FALSE(pool.with(name, [](const PoolOperation&) { return false; }))
      << "the result is that of the use";
  pool.end(one);
  EXPECT_FALSE(finds(pool, name)) << "late";
  PoolOperation& next = pool.make();
  EXPECT_EQ(&next, &one) << "the slot is used again";
  EXPECT_FALSE(finds(pool, name)) << "the name of the slot's former operation";
  EXPECT_TRUE(finds(pool, next.name));
}

TEST(OperationPool, ForgedNamesFindNothing) {
  Pool pool;
  EXPECT_FALSE(finds(pool, 0)) << "there is no slot";
  PoolOperation& one = pool.make();
  PoolOperation& other = pool.make();
  pool.end(other);
  constexpr std::uint64_t kGeneration = std::uint64_t{1} << 32U;
  for (const std::uint64_t forged :
       {std::uint64_t{0}, one.name + 1, one.name + 2, one.name + kGeneration, one.name - kGeneration,
        one.name + (std::uint64_t{1} << 63U), ~std::uint64_t{0}, std::uint64_t{0xffffffff}, other.name,
        other.name + kGeneration}) {
    EXPECT_FALSE(pool.with(forged, [](const PoolOperation&) { return true; })) << std::hex << forged;
  }
  std::mt19937_64 random(test_seed());
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t forged = random() % 2 == 0 ? random() : random() & 0xffff00000003U;
    ASSERT_EQ(pool.with(forged, [](const PoolOperation&) { return true; }), forged == one.name);
  }
}

TEST(OperationPool, RandomOperationsAgreeWithAMap) {
  std::mt19937_64 random(test_seed());
  Pool pool;
  std::unordered_map<std::uint64_t, PoolOperation*> open;
  std::vector<std::uint64_t> names;
  for (int step = 0; step < 20000; ++step) {
    if (random() % 100 < (step % 2000 < 1000 ? 60U : 40U)) {
      PoolOperation& made = pool.make();
      ASSERT_TRUE(open.emplace(made.name, &made).second) << "the name was given out before";
      names.push_back(made.name);
    } else if (!open.empty()) {
      const auto one = open.begin();
      ASSERT_EQ(one->first, one->second->name) << "a slot keeps its address";
      pool.end(*one->second);
      open.erase(one);
    }
    if (names.empty()) continue;
    const std::uint64_t name = names[random() % names.size()];
    ASSERT_EQ(finds(pool, name), open.contains(name));
  }
  std::size_t chosen = 0;
  pool.each([](const PoolOperation&) { return true; }, [&](const PoolOperation&) { ++chosen; });
  EXPECT_EQ(chosen, open.size());
  std::size_t seen = 0;
  pool.see_all([&](const PoolOperation&) { ++seen; });
  EXPECT_EQ(seen, open.size());
}

TEST(OperationPool, OneThreadEndsWhatAnotherLooksUp) {
  Pool pool;
  std::atomic<std::uint64_t> name = 0;
  std::atomic<bool> over = false;
  std::thread looking([&] {
    while (!over.load(std::memory_order_relaxed)) {
      pool.with(name.load(std::memory_order_relaxed), [](PoolOperation& one) {
        ++one.value;
        return true;
      });
    }
  });
  for (int i = 0; i < 20000; ++i) {
    PoolOperation& one = pool.make();
    name.store(one.name, std::memory_order_relaxed);
    pool.end(one);
  }
  over.store(true, std::memory_order_relaxed);
  looking.join();
}

}  // namespace
}  // namespace rma
