#include "malloc/window_backing.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <utility>

#include "../../sanitized.hpp"
#include "small_window.hpp"

namespace librma {
namespace {

constexpr std::size_t kSmallPage = 4096;

TEST(WindowBackingTest, KeepsNothingUnlessTold) {
  Window window = make_window(4 * kMiB);
  WindowBacking backing(window);
  ASSERT_TRUE(backing.back(0, kMiB).ok());
  EXPECT_EQ(bytes_held(window), kMiB);
  backing.release(0, kMiB);
  EXPECT_EQ(bytes_held(window), 0U);
  EXPECT_EQ(window.used(), 0U);
}

TEST(WindowBackingTest, WhatIsKeptIsUsedAgain) {
  Window window = make_window(4 * kMiB);
  WindowBacking backing(window, kMiB);
  ASSERT_TRUE(backing.back(0, kMiB).ok());
  window.base()[kSmallPage] = std::byte{7};
  backing.release(0, kMiB);
  EXPECT_EQ(bytes_held(window), kMiB);
  ASSERT_TRUE(backing.back(0, 2 * kMiB).ok());
  EXPECT_EQ(window.base()[kSmallPage], std::byte{7}) << "another page than before";
  EXPECT_EQ(bytes_held(window), 2 * kMiB);
  EXPECT_EQ(window.used(), 2 * kMiB);
  backing.release(0, 2 * kMiB);
  EXPECT_EQ(bytes_held(window), kMiB) << "the beginning stays, the rest is more than may be kept";
  EXPECT_EQ(window.used(), kMiB);
}

TEST(WindowBackingTest, WhatIsKeptMakesNoAllocationFail) {
  Window window = make_window(4 * kMiB);
  WindowBacking backing(window, 4 * kMiB);
  ASSERT_TRUE(backing.back(0, 3 * kMiB).ok());
  backing.release(0, kMiB);
  backing.release(2 * kMiB, kMiB);
  // Half of the range is kept, and the other half has no memory. Memory kept elsewhere fills the limit.
  ASSERT_TRUE(backing.back(5 * kMiB / 2, 3 * kMiB).ok());
  EXPECT_EQ(window.used(), 4 * kMiB);
  EXPECT_EQ(backing.back(0, kSmallPage).code(), RMA_ERR_NO_MEMORY);
  EXPECT_EQ(window.used(), 4 * kMiB);
  EXPECT_EQ(bytes_held(window), 4 * kMiB);
  backing.release(kMiB, kMiB);
  EXPECT_EQ(backing.back(0, 2 * kMiB).code(), RMA_ERR_NO_MEMORY);
  EXPECT_EQ(window.used(), 3 * kMiB) << "what was kept is given up, and no more than that";
}

// Compares random ranges with a model: memory in use keeps its contents, the backing never holds more than
// the limit, and it refuses no request that the limit allows.
TEST(WindowBackingTest, RandomRangesAgreeWithAModel) {
  const char* text = std::getenv("LIBRMA_TEST_SEED");
  const std::uint64_t seed = text != nullptr ? std::strtoull(text, nullptr, 10) : 20'261'122;
  std::printf("LIBRMA_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  constexpr std::size_t kLimit = 64 * kSmallPage;
  constexpr std::size_t kKeep = 24 * kSmallPage;
  Window window = make_window(kLimit);
  WindowBacking backing(window, kKeep);
  std::map<std::size_t, std::byte> mark_by_page;  // of the pages in use
  for (int step = 0; step < fewer_if_sanitized(4000); ++step) {
    const std::size_t first = random() % 90;
    const std::size_t pages = 1 + random() % 20;
    bool in_use = false;
    bool unused = false;
    for (std::size_t page = first; page < first + pages; ++page) {
      (mark_by_page.contains(page) ? in_use : unused) = true;
    }
    if (!in_use) {
      const Status backed = backing.back(first * kSmallPage, pages * kSmallPage);
      ASSERT_EQ(backed.ok(), (mark_by_page.size() + pages) * kSmallPage <= kLimit) << backed.text();
      if (!backed.ok()) continue;
      for (std::size_t page = first; page < first + pages; ++page) {
        const std::byte mark{static_cast<unsigned char>(random())};
        std::fill_n(window.base() + page * kSmallPage, kSmallPage, mark);
        mark_by_page[page] = mark;
      }
    } else if (!unused) {
      backing.release(first * kSmallPage, pages * kSmallPage);
      for (std::size_t page = first; page < first + pages; ++page) mark_by_page.erase(page);
    }
    const std::size_t needed = mark_by_page.size() * kSmallPage;
    ASSERT_GE(window.used(), needed);
    ASSERT_LE(window.used(), std::min(needed + kKeep, kLimit));
    ASSERT_EQ(bytes_held(window), window.used());
    for (const auto& [page, mark] : mark_by_page) {
      const std::byte* const begin = window.base() + page * kSmallPage;
      ASSERT_EQ(std::count(begin, begin + kSmallPage, mark), kSmallPage)
          << "page " << page << ", step " << step;
    }
  }
}

}  // namespace
}  // namespace librma
