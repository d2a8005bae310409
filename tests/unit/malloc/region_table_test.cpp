#include "malloc/region_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "../seed.hpp"

namespace rma {
namespace {

using testing::HasSubstr;

struct Directory {
  explicit Directory(std::size_t capacity) : words(RegionTable::directory_bytes(capacity) / 8) {}
  std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(words)); }
  std::vector<std::uint64_t> words;
};

TEST(RegionTableTest, StartsEmpty) {
  Directory directory(4);
  const RegionTable table(directory.bytes());
  EXPECT_EQ(table.capacity(), 4U);
  EXPECT_EQ(table.size(), 0U);
  EXPECT_FALSE(RegionView(directory.bytes()).find(0, 0).has_value());
  EXPECT_FALSE(RegionView().find(0, 1).has_value());
}

TEST(RegionTableTest, FindsExactlyWhatIsInside) {
  Directory directory(4);
  RegionTable table(directory.bytes());
  Region region;
  region.base = 0x1000;
  region.bytes = 0x100;
  region.flags = kRegionForeign;
  region.keys = {1, 2, 3, 0xffff'ffff'ffff'ffff};
  ASSERT_TRUE(table.add(region).ok());
  const RegionView view(directory.bytes());
  const auto found = view.find(0x1010, 8);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->base, 0x1000U);
  EXPECT_EQ(found->bytes, 0x100U);
  EXPECT_EQ(found->flags, kRegionForeign);
  EXPECT_EQ(found->keys, region.keys);
  EXPECT_TRUE(view.find(0x1000, 0x100).has_value());
  EXPECT_TRUE(view.find(0x1100, 0).has_value());
  EXPECT_FALSE(view.find(0x1000, 0x101).has_value());
  EXPECT_FALSE(view.find(0xfff, 1).has_value());
  EXPECT_FALSE(view.find(0x1100, 1).has_value());
  EXPECT_FALSE(view.find(0x1010, SIZE_MAX).has_value());
  EXPECT_FALSE(view.find(UINTPTR_MAX, SIZE_MAX).has_value());
}

TEST(RegionTableTest, CountsTheSameRegion) {
  Directory directory(4);
  RegionTable table(directory.bytes());
  const RegionView view(directory.bytes());
  ASSERT_TRUE(table.add(0x1000, 16, kRegionForeign).ok());
  ASSERT_TRUE(table.add(0x1000, 16, kRegionForeign).ok());
  EXPECT_EQ(table.size(), 1U);
  ASSERT_TRUE(table.remove(0x1000).ok());
  EXPECT_TRUE(view.find(0x1000, 16).has_value());
  ASSERT_TRUE(table.remove(0x1000).ok());
  EXPECT_FALSE(view.find(0x1000, 16).has_value());
  EXPECT_EQ(table.remove(0x1000).code(), RMA_ERR_ADDRESS);
}

TEST(RegionTableTest, ANewRegionIsNotItsFormerSelf) {
  Directory directory(4);
  RegionTable table(directory.bytes());
  const RegionView view(directory.bytes());
  ASSERT_TRUE(table.add(0x1000, 16, kRegionForeign).ok());
  const std::uint64_t first = view.find(0x1000, 1)->generation;
  ASSERT_TRUE(table.remove(0x1000).ok());
  ASSERT_TRUE(table.add(0x1000, 16, kRegionForeign).ok());
  EXPECT_NE(view.find(0x1000, 1)->generation, first);
}

TEST(RegionTableTest, OfOneStartTheShortestEndsFirst) {
  Directory directory(4);
  RegionTable table(directory.bytes());
  const RegionView view(directory.bytes());
  ASSERT_TRUE(table.add(0x1000, 64, kRegionForeign).ok());
  ASSERT_TRUE(table.add(0x1000, 16, kRegionForeign).ok());
  ASSERT_TRUE(table.remove(0x1000).ok());
  EXPECT_TRUE(view.find(0x1000, 64).has_value());
}

TEST(RegionTableTest, UnregisteringSparesTheWindow) {
  Directory directory(4);
  RegionTable table(directory.bytes());
  ASSERT_TRUE(table.add(0x1000, 64, kRegionWindow).ok());
  EXPECT_EQ(table.remove(0x1000).code(), RMA_ERR_ADDRESS);
  ASSERT_TRUE(table.add(0x1000, 64, kRegionForeign).ok());
  EXPECT_TRUE(table.remove(0x1000).ok());
  EXPECT_EQ(table.size(), 1U);
  EXPECT_TRUE(table.remove(0x1000, kRegionWindow).ok());
}

TEST(RegionTableTest, RefusesWhatIsNoRangeAndWhatDoesNotFit) {
  Directory directory(2);
  RegionTable table(directory.bytes());
  EXPECT_EQ(table.add(0x1000, 0, kRegionForeign).code(), RMA_ERR_SIZE);
  EXPECT_EQ(table.add(UINTPTR_MAX - 8, 16, kRegionForeign).code(), RMA_ERR_SIZE);
  ASSERT_TRUE(table.add(0x1000, 8, kRegionForeign).ok());
  ASSERT_TRUE(table.add(0x2000, 8, kRegionForeign).ok());
  const Status full = table.add(0x3000, 8, kRegionForeign);
  EXPECT_EQ(full.code(), RMA_ERR_NO_MEMORY);
  EXPECT_THAT(std::string(full.text()), HasSubstr("RMA_MAX_REGIONS"));
  EXPECT_TRUE(table.add(0x2000, 8, kRegionForeign).ok()) << "what is listed needs no room";
  ASSERT_TRUE(table.remove(0x1000).ok());
  EXPECT_TRUE(table.add(0x3000, 8, kRegionForeign).ok());
}

TEST(RegionTableTest, AgreesWithAListOfRegions) {
  constexpr std::size_t kCapacity = 40;
  Directory directory(kCapacity);
  RegionTable table(directory.bytes());
  const RegionView view(directory.bytes());
  std::vector<Region> model;
  std::mt19937_64 random(test_seed());
  for (int step = 0; step < 4000; ++step) {
    const std::uintptr_t base = 1000 + random() % 100;
    if (random() % 2 == 0) {
      const std::size_t bytes = 1 + random() % 30;
      const bool listed = std::any_of(model.begin(), model.end(),
                                      [&](const Region& r) { return r.base == base && r.bytes == bytes; });
      const Status status = table.add(base, bytes, kRegionForeign);
      if (status.ok()) {
        Region region;
        region.base = base;
        region.bytes = bytes;
        model.push_back(region);
      } else {
        ASSERT_EQ(status.code(), RMA_ERR_NO_MEMORY);
        ASSERT_FALSE(listed);
        ASSERT_EQ(table.size(), kCapacity);
      }
    } else {
      auto shortest = model.end();
      for (auto it = model.begin(); it != model.end(); ++it) {
        if (it->base == base && (shortest == model.end() || it->bytes < shortest->bytes)) shortest = it;
      }
      ASSERT_EQ(table.remove(base).code(), shortest == model.end() ? RMA_ERR_ADDRESS : RMA_SUCCESS);
      if (shortest != model.end()) model.erase(shortest);
    }
    for (int i = 0; i < 5; ++i) {
      const std::uintptr_t address = 990 + random() % 150;
      const std::size_t bytes = random() % 32;
      const bool expected =
          std::any_of(model.begin(), model.end(), [&](const Region& r) { return r.covers(address, bytes); });
      const auto found = view.find(address, bytes);
      ASSERT_EQ(found.has_value(), expected) << address << " " << bytes;
      ASSERT_TRUE(!found || found->covers(address, bytes));
    }
  }
}

TEST(RegionViewTest, IsConsistentWhileTheOwnerChanges) {
  // Region i, while it exists, has a size and keys that follow from its base, so that a mixture of two is
  // noticed.
  // One region always exists, and must be found at any moment although its place in the table moves.
  Directory directory(64);
  RegionTable table(directory.bytes());
  const auto region_at = [](std::uintptr_t base) {
    Region region;
    region.base = base;
    region.bytes = 0x10 + base / 0x1000;
    region.flags = kRegionForeign;
    const auto key = static_cast<transport::Key>(base) << 32U;
    region.keys = {key, key + 1, key + 2, key + 3};
    return region;
  };
  const std::uintptr_t constant = 0x20'000;
  ASSERT_TRUE(table.add(region_at(constant)).ok());
  const RegionView shared(directory.bytes());
  std::atomic<int> reading{2};
  std::atomic<int> wrong{0};
  std::vector<std::thread> readers;
  for (unsigned reader = 0; reader < 2; ++reader) {
    readers.emplace_back([&, reader] {
      std::mt19937_64 random(reader);
      for (int i = 0; i < 20'000; ++i) {
        const std::uintptr_t base = 0x1000 * (1 + random() % 60);
        const auto found = shared.find(base + 1, 4);
        const Region expected = region_at(base);
        if (found &&
            (found->base != base || found->bytes != expected.bytes || found->keys != expected.keys)) {
          ++wrong;
        }
        if (!shared.find(constant, expected.base == constant ? expected.bytes : 1)) ++wrong;
      }
      --reading;
    });
  }
  std::mt19937_64 random(test_seed());
  while (reading > 0) {
    const std::uintptr_t base = 0x1000 * (1 + random() % 60);
    if (base == constant) continue;
    if (!table.remove(base).ok()) {
      const Status added = table.add(region_at(base));
      EXPECT_TRUE(added.ok()) << added.text();
    }
  }
  for (auto& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
}

TEST(RegionViewTest, CopiesKeepWorking) {
  Directory directory(4);
  RegionTable table(directory.bytes());
  ASSERT_TRUE(table.add(0x1000, 16, kRegionForeign).ok());
  std::vector<RegionView> views(3, RegionView(directory.bytes()));
  views[1] = RegionView();
  EXPECT_TRUE(views[0].find(0x1000, 16).has_value());
  EXPECT_FALSE(views[1].find(0x1000, 16).has_value());
  const Directory copied = directory;
  EXPECT_TRUE(RegionView(std::as_bytes(std::span(copied.words))).find(0x1008, 8).has_value());
}

TEST(RegionViewTest, SurvivesHostileDirectories) {
  Directory directory(8);
  std::mt19937_64 random(test_seed());
  const std::vector<std::uint64_t> nasty = {
      0, 1, 8, 9, UINT64_MAX, UINT64_MAX - 1, std::uint64_t{1} << 63U, 0x1000};
  for (int round = 0; round < 3000; ++round) {
    for (auto& word : directory.words) word = random() % 2 == 0 ? nasty[random() % nasty.size()] : random();
    const RegionView view(directory.bytes());
    for (int i = 0; i < 10; ++i) {
      const std::uint64_t address = nasty[random() % nasty.size()];
      const std::size_t bytes = nasty[random() % nasty.size()];
      const auto found = view.find(address, bytes);
      if (found) {
        ASSERT_TRUE(found->covers(address, bytes));
        ASSERT_LE(found->bytes, UINTPTR_MAX - found->base) << "a region does not wrap around";
      }
    }
  }
}

TEST(RegionViewTest, StaysInsideWhatItWasGiven) {
  // The heap blocks have the exact size, so that the address sanitizer notices an access one word too far.
  for (std::size_t words = 0; words < 60; ++words) {
    const std::vector<std::uint64_t> directory(words, UINT64_MAX);
    EXPECT_FALSE(RegionView(std::as_bytes(std::span(directory))).find(0x1000, 8).has_value());
  }
  const Directory misaligned(4);
  EXPECT_FALSE(RegionView(std::as_bytes(std::span(misaligned.words)).subspan(1)).find(0, 1).has_value());
}

}  // namespace
}  // namespace rma
