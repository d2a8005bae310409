// The names of entries: other processes bring them back late, twice, or invent them.

#include "util/tables/slot_table.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <unordered_map>
#include <vector>

#include "../seed.hpp"

namespace librma {
namespace {

struct TableEntry {
  explicit TableEntry(std::uint64_t own_name) : name(own_name) {}
  const std::uint64_t name;
  int value = 0;
};
using Table = SlotTable<TableEntry>;

bool finds(Table& table, std::uint64_t name) {
  return table.with(name, [&](const TableEntry& one) { return one.name == name; });
}

TEST(SlotTable, ANameFindsItsOperationUntilItEnds) {
  Table table;
  TableEntry& one = table.make();
  const std::uint64_t name = one.name;
  EXPECT_NE(name, 0U) << "0 is no name";
  EXPECT_TRUE(finds(table, name));
  EXPECT_FALSE(table.with(name, [](const TableEntry&) { return false; })) << "the result is that of the use";
  table.end(one);
  EXPECT_FALSE(finds(table, name)) << "late";
  TableEntry& next = table.make();
  EXPECT_EQ(&next, &one) << "the slot is used again";
  EXPECT_FALSE(finds(table, name)) << "the name of the slot's former operation";
  EXPECT_TRUE(finds(table, next.name));
}

TEST(SlotTable, AnEntryEndsByItsNameIfTheCallerAgrees) {
  Table table;
  const std::uint64_t name = table.make().name;
  EXPECT_FALSE(table.end(name, [](const TableEntry&) { return false; }));
  EXPECT_TRUE(finds(table, name));
  EXPECT_EQ(table.live(), 1U);
  EXPECT_TRUE(table.end(name, [&](const TableEntry& entry) { return entry.name == name; }));
  EXPECT_FALSE(table.end(name)) << "late";
  EXPECT_EQ(table.live(), 0U);
}

TEST(SlotTable, ForgedNamesFindNothing) {
  Table table;
  EXPECT_FALSE(finds(table, 0)) << "there is no slot";
  TableEntry& one = table.make();
  TableEntry& other = table.make();
  table.end(other);
  constexpr std::uint64_t kGeneration = std::uint64_t{1} << 32U;
  for (const std::uint64_t forged :
       {std::uint64_t{0}, one.name + 1, one.name + 2, one.name + kGeneration, one.name - kGeneration,
        one.name + (std::uint64_t{1} << 63U), ~std::uint64_t{0}, std::uint64_t{0xffffffff}, other.name,
        other.name + kGeneration}) {
    EXPECT_FALSE(table.with(forged, [](const TableEntry&) { return true; })) << std::hex << forged;
  }
  std::mt19937_64 random(test_seed());
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t forged = random() % 2 == 0 ? random() : random() & 0xffff00000003U;
    ASSERT_EQ(table.with(forged, [](const TableEntry&) { return true; }), forged == one.name);
  }
}

TEST(SlotTable, RandomOperationsAgreeWithAMap) {
  std::mt19937_64 random(test_seed());
  Table table;
  std::unordered_map<std::uint64_t, TableEntry*> open;
  std::vector<std::uint64_t> names;
  for (int step = 0; step < 20000; ++step) {
    if (random() % 100 < (step % 2000 < 1000 ? 60U : 40U)) {
      TableEntry& made = table.make();
      ASSERT_TRUE(open.emplace(made.name, &made).second) << "the name was given out before";
      names.push_back(made.name);
    } else if (!open.empty()) {
      const auto one = open.begin();
      ASSERT_EQ(one->first, one->second->name) << "a slot keeps its address";
      table.end(*one->second);
      open.erase(one);
    }
    if (names.empty()) continue;
    const std::uint64_t name = names[random() % names.size()];
    ASSERT_EQ(finds(table, name), open.contains(name));
  }
  std::size_t chosen = 0;
  table.each([](const TableEntry&) { return true; }, [&](const TableEntry&) { ++chosen; });
  EXPECT_EQ(chosen, open.size());
  std::size_t seen = 0;
  table.see_all([&](const TableEntry&) { ++seen; });
  EXPECT_EQ(seen, open.size());
}

TEST(SlotTable, OneThreadEndsWhatAnotherLooksUp) {
  Table table;
  std::atomic<std::uint64_t> name = 0;
  std::atomic<bool> over = false;
  std::thread looking([&] {
    while (!over.load(std::memory_order_relaxed)) {
      table.with(name.load(std::memory_order_relaxed), [](TableEntry& one) {
        ++one.value;
        return true;
      });
    }
  });
  for (int i = 0; i < 20000; ++i) {
    TableEntry& one = table.make();
    name.store(one.name, std::memory_order_relaxed);
    table.end(one);
  }
  over.store(true, std::memory_order_relaxed);
  looking.join();
}

}  // namespace
}  // namespace librma
