#include "malloc/arena.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <vector>

#include "../forked.hpp"
#include "malloc/extent_pool.hpp"
#include "malloc/window.hpp"
#include "malloc/window_backing.hpp"

namespace librma {
namespace {

// These tests leave too few addresses for a sanitizer.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

constexpr std::size_t kGiB = std::size_t{1} << 30U;

/// Limits the process to the addresses that it has now, and a little more for malloc.
void limit_addresses() {
  unsigned long pages = 0;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/self/statm", "re"),
                                                             &std::fclose);
  ASSERT_EQ(std::fscanf(file.get(), "%lu", &pages), 1);  // NOLINT(cert-err34-c)
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = pages * static_cast<unsigned long>(getpagesize()) + (std::size_t{512} << 10U);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
}

void lift_limit() {
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = limit.rlim_max;
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
}

/// jemalloc notes extents in a table that takes 2 MiB for each GiB of addresses. Here each GiB has one arena.
void exhaust_table() {
  constexpr std::size_t kArenas = 8;
  auto made = Window::create({.limit = kArenas * kGiB});
  ASSERT_TRUE(made.ok()) << made.status().text();
  Window window = std::move(made).value();
  WindowBacking backing(window, 0);
  std::vector<std::unique_ptr<ExtentPool>> pools;
  std::vector<std::unique_ptr<Arena>> arenas;
  for (std::size_t i = 0; i < kArenas; ++i) {
    pools.push_back(std::make_unique<ExtentPool>(window, backing, i * kGiB));
    auto arena = Arena::create(*pools.back());
    ASSERT_TRUE(arena.ok());
    arenas.push_back(std::move(arena).value());
  }
  limit_addresses();
  int refused = 0;
  for (const auto& arena : arenas) {
    const std::size_t used = window.used();
    // Again after a failure: it fails again, neither waits nor takes memory.
    for (int attempt = 0; attempt < 3; ++attempt) {
      auto block = arena->allocate(1000, 16);
      if (block.ok()) {
        ASSERT_EQ(attempt, 0);
        arena->free(block.value());
        break;
      }
      ++refused;
      EXPECT_EQ(block.status().code(), RMA_ERR_NO_MEMORY);
      EXPECT_EQ(window.used(), used);
    }
  }
  EXPECT_GT(refused, 0);
  lift_limit();
  for (const auto& arena : arenas) {
    auto block = arena->allocate(1000, 16);
    ASSERT_TRUE(block.ok()) << block.status().text();
    arena->free(block.value());
  }
}

TEST(Arena, AnAllocationFailsAndLeavesNothingWhereItsExtentCannotBeNoted) {
  Forked child([] {
    exhaust_table();
    return true;
  });
  EXPECT_TRUE(child.ended_well());
}

#endif

}  // namespace
}  // namespace librma
