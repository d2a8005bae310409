#include "util/spare_memory.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <deque>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "util/statistics.hpp"

namespace librma {
namespace {

constexpr std::size_t kBlock = 64;

TEST(SpareMemory, TheOwnerGetsBackWhatItGave) {
  SpareMemory spares;
  spares.set_owner(this_thread());
  void* const one = spares.take(kBlock);
  void* const other = spares.take(kBlock);
  EXPECT_NE(one, other);
  spares.give(one);
  spares.give(other);
  EXPECT_EQ((std::set{spares.take(kBlock), spares.take(kBlock)}), (std::set{one, other}));
  ::operator delete(one);
  ::operator delete(other);
}

// One thread makes objects and the owner frees them, and the other way round: the memory must go round.
TEST(SpareMemory, MemoryGoesRoundBetweenTheOwnerAndOtherThreads) {
  constexpr std::size_t kAtOnce = 2 * SpareMemory::kMostOwn;
  SpareMemory spares;
  spares.set_owner(this_thread());
  std::set<void*> known;
  for (int round = 0; round < 6; ++round) {
    std::vector<void*> taken(kAtOnce);
    const auto take = [&] {
      for (void*& each : taken) each = spares.take(kBlock);
    };
    const auto give = [&] {
      for (void* const each : taken) spares.give(each);
    };
    if (round % 2 == 0) {
      std::thread(take).join();
      give();
    } else {
      take();
      std::thread(give).join();
    }
    EXPECT_EQ(std::set(taken.begin(), taken.end()).size(), kAtOnce) << "each is given out once";
    known.insert(taken.begin(), taken.end());
  }
  EXPECT_LE(known.size(), kAtOnce + SpareMemory::kMostOwn);
  for (void* const each : known) ::operator delete(each);
}

TEST(SpareMemory, ThreadsThatTakeAndGiveAtOnceNeverGetTheSameMemory) {
  constexpr int kThreads = 4;
  constexpr int kSteps = 5000;
  SpareMemory spares;
  spares.set_owner(this_thread());
  std::mutex lock;
  std::deque<int*> shared;  // each block holds a number of the thread that took it
  std::set<void*> known;
  const auto work = [&](int me) {
    std::vector<void*> mine;
    for (int step = 0; step < kSteps; ++step) {
      int* const number = new (spares.take(kBlock)) int(me * kSteps + step);
      mine.push_back(number);
      const std::lock_guard guard(lock);
      shared.push_back(number);
      if (shared.size() < 100) continue;
      int* const first = shared.front();
      shared.pop_front();
      const int value = *first;
      EXPECT_TRUE(value >= 0 && value < kThreads * kSteps);
      *first = -1;  // a second owner of the memory would find this
      spares.give(first);
    }
    const std::lock_guard guard(lock);
    known.insert(mine.begin(), mine.end());
  };
  std::vector<std::thread> others;
  for (int me = 1; me < kThreads; ++me) others.emplace_back(work, me);
  work(0);
  for (std::thread& each : others) each.join();
  for (void* const each : known) ::operator delete(each);
}

TEST(SpareMemory, AFloodDoesNotStay) {
  constexpr std::size_t kFlood = 2 * (SpareMemory::kMostOwn + SpareMemory::kMostShared);
  SpareMemory spares;
  spares.set_owner(this_thread());
  std::vector<void*> taken(kFlood);
  for (void*& each : taken) each = spares.take(kBlock);
  for (void* const each : taken) spares.give(each);
  EXPECT_EQ(spares.kept(), SpareMemory::kMostOwn + SpareMemory::kMostShared);
  for (std::size_t left = spares.kept(); left > 0; --left) ::operator delete(spares.take(kBlock));
  EXPECT_EQ(spares.kept(), 0U);
}

}  // namespace
}  // namespace librma
