#include "malloc/extent_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "malloc/window_backing.hpp"
#include "small_window.hpp"

namespace librma {
namespace {

constexpr std::size_t kPage = ExtentPool::kPage;

/// The window's memory, in granules of a size that the test chooses.
class CoarseBacking final : public Backing {
 public:
  CoarseBacking(Window& window, std::size_t granule) : window_(window), granule_(granule) {}
  [[nodiscard]] std::size_t granule() const override { return granule_; }
  [[nodiscard]] Status back(std::size_t offset, std::size_t bytes) override {
    return window_.back(offset, bytes);
  }
  [[nodiscard]] Status back_zeroed(std::size_t offset, std::size_t bytes) override {
    return window_.back(offset, bytes);
  }
  void release(std::size_t offset, std::size_t bytes) override { window_.release(offset, bytes); }

 private:
  Window& window_;
  const std::size_t granule_;
};

// Compares random extents with the set of granules that they touch: exactly those must be backed. Extents
// come back whole, in halves, or joined with a neighbour, as jemalloc returns them.
void run_model(std::size_t granule, std::uint64_t seed) {
  auto made = Window::create({.limit = 32 * kMiB});
  ASSERT_TRUE(made.ok());
  Window window = std::move(made).value();
  CoarseBacking backing(window, granule);
  ExtentPool pool(window, backing, 2 * granule);
  std::mt19937_64 random(seed);
  struct Extent {
    std::size_t begin, end;
  };
  std::vector<Extent> extents;
  for (int step = 0; step < 1500; ++step) {
    if (extents.empty() || random() % 2 == 0) {
      const std::size_t bytes = (1 + random() % (std::size_t{1} << random() % 8U)) * kPage;
      const std::size_t alignment = kPage << random() % 6U;
      auto taken = pool.take(bytes, alignment);
      if (!taken.ok()) {
        ASSERT_EQ(taken.status().code(), RMA_ERR_NO_MEMORY);
        ASSERT_GT(window.used() + bytes + 2 * granule, window.limit());
        continue;
      }
      const Extent extent{taken.value(), taken.value() + bytes};
      ASSERT_EQ((reinterpret_cast<std::uintptr_t>(window.base()) + extent.begin) % alignment, 0U);
      ASSERT_GE(extent.begin, 2 * granule);
      ASSERT_LE(extent.end, window.address_bytes());
      for (const Extent& other : extents) ASSERT_TRUE(extent.end <= other.begin || other.end <= extent.begin);
      extents.push_back(extent);
    } else {
      const std::size_t index = random() % extents.size();
      Extent extent = extents[index];
      extents.erase(extents.begin() + static_cast<std::ptrdiff_t>(index));
      const auto next = std::find_if(extents.begin(), extents.end(),
                                     [&](const Extent& other) { return other.begin == extent.end; });
      if (extent.end - extent.begin > kPage && random() % 3 == 0) {
        const std::size_t middle = extent.begin + kPage;
        extents.push_back({middle, extent.end});
        extent.end = middle;
      } else if (next != extents.end()) {
        extent.end = next->end;
        extents.erase(next);
      }
      pool.give(extent.begin, extent.end - extent.begin, ExtentPool::make_record());
    }
    std::set<std::size_t> granules;
    for (const Extent& extent : extents) {
      for (std::size_t at = extent.begin; at < extent.end; at += kPage) granules.insert(at / granule);
    }
    ASSERT_EQ(window.used(), granules.size() * granule);
  }
  for (const Extent& extent : extents)
    pool.give(extent.begin, extent.end - extent.begin, ExtentPool::make_record());
  EXPECT_EQ(window.used(), 0U);
}

TEST(ExtentPoolTest, BacksWhatIsTakenAndNothingElse) {
  const char* text = std::getenv("LIBRMA_TEST_SEED");
  const std::uint64_t seed = text != nullptr ? std::strtoull(text, nullptr, 10) : 20'240'611;
  std::printf("LIBRMA_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  for (const std::size_t granule : {kPage, 16 * kPage, 2 * kMiB}) {
    run_model(granule, seed);
    if (HasFatalFailure()) return;
  }
}

TEST(ExtentPoolTest, ARefusedExtentChangesNothing) {
  auto made = Window::create({.limit = 2 * kMiB});
  ASSERT_TRUE(made.ok());
  Window window = std::move(made).value();
  WindowBacking backing(window);
  ExtentPool pool(window, backing, 0);
  EXPECT_EQ(pool.take(3 * kMiB, kPage).status().code(), RMA_ERR_NO_MEMORY);
  EXPECT_EQ(pool.take(window.address_bytes() + kPage, kPage).status().code(), RMA_ERR_NO_MEMORY);
  const auto all = pool.take(2 * kMiB, kPage);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all.value(), 0U);
}

}  // namespace
}  // namespace librma
