#include "fabric/registration_cache.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <utility>
#include <vector>

#include "tag_registrar.hpp"

namespace librma {
namespace {

using Use = RegistrationCache::Use;

TEST_F(RegistrationCacheTest, SecondUseOfTheSameMemoryIsAHit) {
  std::byte* memory = map_pages(8);
  const auto first = get_pages(memory, 8).registered();
  const Use again = get_pages(memory, 8);
  EXPECT_EQ(again.registered().local, first.local);
  EXPECT_EQ(hits(), 1U);
  EXPECT_EQ(misses(), 1U);
  unmap_pages(memory, 8);
}

TEST_F(RegistrationCacheTest, PartsOfWhatIsRegisteredAreHits) {
  std::byte* memory = map_pages(8);
  get_pages(memory, 8);
  get(memory + 1, 1);
  get(memory + 5 * page_bytes() + 7, 2 * page_bytes());
  get(memory + 8 * page_bytes() - 1, 1);
  EXPECT_EQ(hits(), 3U);
  EXPECT_EQ(registrar_.adds(), 1U);
  unmap_pages(memory, 8);
}

TEST_F(RegistrationCacheTest, RoundsToPages) {
  std::byte* memory = map_pages(4);
  const Use use = get(memory + page_bytes() + 100, page_bytes());
  EXPECT_EQ(use.registered().address, memory + page_bytes());
  EXPECT_EQ(use.registered().bytes, 2 * page_bytes());
  unmap_pages(memory, 4);
}

TEST_F(RegistrationCacheTest, ManyEntriesAreEachFound) {
  constexpr std::size_t kEntries = 100;
  std::byte* memory = map_pages(2 * kEntries);
  for (std::size_t i = 0; i < kEntries; ++i) get_pages(memory + 2 * i * page_bytes(), 1);
  for (std::size_t i = kEntries; i-- > 0;) get_pages(memory + 2 * i * page_bytes(), 1);
  EXPECT_EQ(hits(), kEntries);
  EXPECT_EQ(registrar_.live(), kEntries);
  // Memory between two entries belongs to none.
  get_pages(memory + 3 * page_bytes(), 1);
  EXPECT_EQ(hits(), kEntries);
  unmap_pages(memory, 2 * kEntries);
}

TEST_F(RegistrationCacheTest, OverlappingNeighboursAreMerged) {
  std::byte* memory = map_pages(8);
  get_pages(memory, 4);
  const Use both = get_pages(memory + 2 * page_bytes(), 4);
  EXPECT_EQ(both.registered().address, memory);
  EXPECT_EQ(both.registered().bytes, 6 * page_bytes());
  EXPECT_EQ(registrar_.live(), 1U) << "what the merged one replaces";
  unmap_pages(memory, 8);
}

TEST_F(RegistrationCacheTest, MergingKeepsWhatIsInUse) {
  std::byte* memory = map_pages(8);
  Use first = get_pages(memory, 4);
  const Use both = get_pages(memory + 2 * page_bytes(), 4);
  EXPECT_EQ(both.registered().bytes, 6 * page_bytes());
  EXPECT_TRUE(registrar_.is_live(first.registered()));
  first.release();
  EXPECT_EQ(registrar_.live(), 1U);
  unmap_pages(memory, 8);
}

TEST_F(RegistrationCacheTest, ASmallRangeDoesNotRegisterALargeOneAnew) {
  std::byte* memory = map_pages(32);
  get_pages(memory, 24);
  const Use edge = get_pages(memory + 23 * page_bytes(), 2);
  EXPECT_EQ(edge.registered().bytes, 2 * page_bytes());
  EXPECT_EQ(registrar_.live(), 2U);
  // Both entries are found, each for the pages that only it covers.
  get_pages(memory, 24);
  get_pages(memory + 23 * page_bytes(), 2);
  EXPECT_EQ(hits(), 2U);
  unmap_pages(memory, 32);
}

TEST_F(RegistrationCacheTest, ALargerRangeReplacesWhatItContains) {
  std::byte* memory = map_pages(64);
  for (std::size_t page = 0; page < 64; page += 8) get_pages(memory + page * page_bytes(), 4);
  get_pages(memory, 64);
  EXPECT_EQ(registrar_.live(), 1U);
  get_pages(memory + 8 * page_bytes(), 4);
  EXPECT_EQ(hits(), 1U);
  unmap_pages(memory, 64);
}

// Two threads may register the same memory at the same time.
TEST_F(RegistrationCacheTest, ASmallerRangeRegisteredMeanwhileIsReplaced) {
  std::byte* memory = map_pages(8);
  registrar_.set_after_next_add([&] { get_pages(memory + 2 * page_bytes(), 2); });
  get_pages(memory, 8);
  EXPECT_EQ(registrar_.live(), 1U);
  get_pages(memory + 3 * page_bytes(), 3);
  EXPECT_EQ(hits(), 1U);
  unmap_pages(memory, 8);
}

TEST_F(RegistrationCacheTest, ALargerRangeRegisteredMeanwhileIsKept) {
  std::byte* memory = map_pages(8);
  registrar_.set_after_next_add([&] { get_pages(memory, 8); });
  Use small = get_pages(memory + 2 * page_bytes(), 2);
  EXPECT_EQ(registrar_.live(), 2U);
  small.release();
  EXPECT_EQ(registrar_.live(), 1U);
  get_pages(memory, 8);
  EXPECT_EQ(hits(), 1U);
  unmap_pages(memory, 8);
}

TEST_F(RegistrationCacheTest, WalkingOverMemoryWithOverlapRegistersEachPageAFewTimes) {
  constexpr std::size_t kSteps = 64;
  std::byte* memory = map_pages(4 * kSteps + 1);
  std::size_t registered_pages = 0;
  for (std::size_t i = 0; i < kSteps; ++i) {
    registered_pages += get_pages(memory + 4 * i * page_bytes(), 5).registered().bytes / page_bytes();
  }
  EXPECT_LE(registered_pages, 2 * 5 * kSteps);
  unmap_pages(memory, 4 * kSteps + 1);
}

TEST_F(RegistrationCacheTest, LimitOnEntriesEvictsTheLeastRecentlyUsed) {
  make({.max_bytes = std::size_t{1} << 30U, .max_entries = 3});
  std::byte* memory = map_pages(8);
  const auto page = [&](std::size_t i) { return memory + 2 * i * page_bytes(); };
  for (std::size_t i = 0; i < 3; ++i) get_pages(page(i), 1);
  get_pages(page(0), 1);  // now page 1 is the one used longest ago
  get_pages(page(3), 1);
  EXPECT_EQ(registrar_.live(), 3U);
  EXPECT_EQ(evictions(), 1U);
  const auto before = hits();
  get_pages(page(0), 1);
  get_pages(page(2), 1);
  get_pages(page(3), 1);
  EXPECT_EQ(hits(), before + 3);
  get_pages(page(1), 1);
  EXPECT_EQ(hits(), before + 3);
  unmap_pages(memory, 8);
}

TEST_F(RegistrationCacheTest, LimitOnBytesEvicts) {
  make({.max_bytes = 10 * page_bytes(), .max_entries = 1000});
  std::byte* memory = map_pages(20);
  get_pages(memory, 4);
  get_pages(memory + 5 * page_bytes(), 4);
  get_pages(memory + 10 * page_bytes(), 4);
  EXPECT_EQ(evictions(), 1U);
  EXPECT_EQ(registrar_.used(), 8 * page_bytes());
  unmap_pages(memory, 20);
}

TEST_F(RegistrationCacheTest, MoreThanTheLimitIsRegisteredForItsUse) {
  make({.max_bytes = 10 * page_bytes(), .max_entries = 1000});
  std::byte* memory = map_pages(20);
  get_pages(memory, 4);
  Use large = get_pages(memory, 20);
  EXPECT_EQ(registrar_.live(), 2U);
  large.release();
  EXPECT_EQ(registrar_.live(), 1U) << "the small one stays";
  get_pages(memory, 4);
  EXPECT_EQ(hits(), 1U);
  unmap_pages(memory, 20);
}

TEST_F(RegistrationCacheTest, WhatIsInUseIsNotEvicted) {
  make({.max_bytes = std::size_t{1} << 30U, .max_entries = 2});
  std::byte* memory = map_pages(8);
  std::vector<Use> uses;
  for (std::size_t i = 0; i < 4; ++i) uses.push_back(get_pages(memory + 2 * i * page_bytes(), 1));
  for (const Use& use : uses) EXPECT_TRUE(registrar_.is_live(use.registered()));
  uses.clear();
  EXPECT_EQ(registrar_.live(), 2U);
  unmap_pages(memory, 8);
}

TEST_F(RegistrationCacheTest, RegistrarOutOfMemoryGetsItFromUnusedEntries) {
  registrar_.set_limit(10 * page_bytes());
  std::byte* memory = map_pages(40);
  get_pages(memory, 4);
  get_pages(memory + 5 * page_bytes(), 4);
  const Use held = get_pages(memory + 10 * page_bytes(), 2);
  const Use large = get_pages(memory + 20 * page_bytes(), 8);
  EXPECT_TRUE(registrar_.is_live(held.registered()));
  EXPECT_EQ(evictions(), 2U);
  unmap_pages(memory, 40);
}

TEST_F(RegistrationCacheTest, RegistrarOutOfMemoryForGoodIsAnError) {
  registrar_.set_limit(10 * page_bytes());
  std::byte* memory = map_pages(40);
  const Use held = get_pages(memory, 4);
  get_pages(memory + 5 * page_bytes(), 4);
  const auto refused = cache_->get(memory + 20 * page_bytes(), 8 * page_bytes());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), RMA_ERR_NO_MEMORY);
  EXPECT_EQ(registrar_.live(), 1U) << "all that was not in use was given up";
  EXPECT_TRUE(registrar_.is_live(held.registered()));
  get_pages(memory + 20 * page_bytes(), 6);
  unmap_pages(memory, 40);
}

TEST_F(RegistrationCacheTest, MergesOnlyWhatTheRegistrarHasMemoryFor) {
  registrar_.set_limit(9 * page_bytes());
  std::byte* memory = map_pages(8);
  const Use held = get_pages(memory, 4);
  // The merged entry would have 6 pages, beside the 4 in use.
  const Use other = get_pages(memory + 2 * page_bytes(), 4);
  EXPECT_EQ(other.registered().bytes, 4 * page_bytes());
  unmap_pages(memory, 8);
}

TEST_F(RegistrationCacheTest, MemoryThatIsNotMappedIsTheRegistrarsError) {
  std::byte* memory = map_pages(4);
  unmap_pages(memory, 4);
  const auto refused = cache_->get(memory, page_bytes());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), RMA_ERR_ADDRESS);
}

TEST_F(RegistrationCacheTest, FlushLeavesWhatIsInUse) {
  std::byte* memory = map_pages(8);
  get_pages(memory, 2);
  Use held = get_pages(memory + 4 * page_bytes(), 2);
  cache_->flush();
  EXPECT_EQ(registrar_.live(), 1U);
  EXPECT_TRUE(registrar_.is_live(held.registered()));
  const Use anew = get_pages(memory + 4 * page_bytes(), 2);
  EXPECT_NE(anew.registered().local, held.registered().local);
  held.release();
  EXPECT_EQ(registrar_.live(), 1U);
  unmap_pages(memory, 8);
}

TEST_F(RegistrationCacheTest, UseEndsOnAnotherThread) {
  make({.max_bytes = 0, .max_entries = 0});
  std::byte* memory = map_pages(2);
  Use use = get_pages(memory, 2);
  std::thread([moved = std::move(use)]() mutable { moved.release(); }).join();
  EXPECT_TRUE(use.empty());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(registrar_.live(), 0U);
  unmap_pages(memory, 2);
}

TEST_F(RegistrationCacheTest, DisabledRegistersForEachUse) {
  make({.max_bytes = std::size_t{1} << 30U, .max_entries = 1000, .enabled = false});
  EXPECT_EQ(cache_->why_off(), "not asked for");
  std::byte* memory = map_pages(4);
  for (int i = 0; i < 3; ++i) {
    const Use use = get_pages(memory, 4);
    EXPECT_EQ(registrar_.live(), 1U);
  }
  EXPECT_EQ(registrar_.live(), 0U);
  EXPECT_EQ(hits(), 0U);
  EXPECT_EQ(misses(), 3U);
  registrar_.set_limit(0);
  EXPECT_EQ(cache_->get(memory, 1).status().code(), RMA_ERR_NO_MEMORY);
  cache_->reclaim();
  cache_->flush();
  unmap_pages(memory, 4);
}

}  // namespace
}  // namespace librma
