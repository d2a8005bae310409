#include "malloc/region_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "../../sanitized.hpp"
#include "../seed.hpp"

namespace librma {
namespace {

using testing::HasSubstr;

struct Directory {
  explicit Directory(std::size_t most) : capacity(most), words(RegionTable::directory_bytes(most) / 8) {}
  std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(words)); }
  std::size_t capacity;
  std::vector<std::uint64_t> words;
};

TEST(RegionTableTest, StartsEmpty) {
  Directory directory(4);
  const RegionTable table(directory.bytes(), directory.capacity);
  EXPECT_EQ(table.capacity(), 4U);
  EXPECT_EQ(table.size(), 0U);
  EXPECT_FALSE(RegionView(directory.bytes()).find(0, 0).has_value());
  EXPECT_FALSE(RegionView().find(0, 1).has_value());
}

TEST(RegionTableTest, FindsExactlyWhatIsInside) {
  Directory directory(4);
  RegionTable table(directory.bytes(), directory.capacity);
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
  RegionTable table(directory.bytes(), directory.capacity);
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
  RegionTable table(directory.bytes(), directory.capacity);
  const RegionView view(directory.bytes());
  ASSERT_TRUE(table.add(0x1000, 16, kRegionForeign).ok());
  const std::uint64_t first = view.find(0x1000, 1)->generation;
  ASSERT_TRUE(table.remove(0x1000).ok());
  ASSERT_TRUE(table.add(0x1000, 16, kRegionForeign).ok());
  EXPECT_NE(view.find(0x1000, 1)->generation, first);
}

TEST(RegionTableTest, OfOneStartTheShortestEndsFirst) {
  Directory directory(4);
  RegionTable table(directory.bytes(), directory.capacity);
  const RegionView view(directory.bytes());
  ASSERT_TRUE(table.add(0x1000, 64, kRegionForeign).ok());
  ASSERT_TRUE(table.add(0x1000, 16, kRegionForeign).ok());
  ASSERT_TRUE(table.remove(0x1000).ok());
  EXPECT_TRUE(view.find(0x1000, 64).has_value());
}

TEST(RegionTableTest, UnregisteringSparesTheWindow) {
  Directory directory(4);
  RegionTable table(directory.bytes(), directory.capacity);
  ASSERT_TRUE(table.add(0x1000, 64, kRegionWindow).ok());
  EXPECT_EQ(table.remove(0x1000).code(), RMA_ERR_ADDRESS);
  ASSERT_TRUE(table.add(0x1000, 64, kRegionForeign).ok());
  EXPECT_TRUE(table.remove(0x1000).ok());
  EXPECT_EQ(table.size(), 1U);
  EXPECT_TRUE(table.remove(0x1000, kRegionWindow).ok());
}

TEST(RegionTableTest, RefusesWhatIsNoRangeAndWhatDoesNotFit) {
  Directory directory(2);
  RegionTable table(directory.bytes(), directory.capacity);
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

/// A list of regions, which finds by looking at all.
class RegionModel {
 public:
  void add(std::uintptr_t base, std::size_t bytes) {
    Region region;
    region.base = base;
    region.bytes = bytes;
    regions_.push_back(region);
  }
  [[nodiscard]] bool lists(std::uintptr_t base, std::size_t bytes) const {
    return std::ranges::any_of(regions_, [&](const Region& r) { return r.base == base && r.bytes == bytes; });
  }
  [[nodiscard]] std::size_t size() const { return regions_.size(); }
  [[nodiscard]] const Region& at(std::size_t i) const { return regions_[i]; }
  /// Removes the shortest region at `base`. Returns whether there is one.
  bool remove(std::uintptr_t base) {
    auto shortest = regions_.end();
    for (auto it = regions_.begin(); it != regions_.end(); ++it) {
      if (it->base == base && (shortest == regions_.end() || it->bytes < shortest->bytes)) shortest = it;
    }
    if (shortest == regions_.end()) return false;
    regions_.erase(shortest);
    return true;
  }
  [[nodiscard]] bool one_covers(std::uintptr_t address, std::size_t bytes) const {
    return std::ranges::any_of(regions_, [&](const Region& r) { return r.covers(address, bytes); });
  }
  [[nodiscard]] bool all_cover(std::uintptr_t address, std::size_t bytes) const {
    if (bytes == 0) return one_covers(address, 0);
    for (const std::uintptr_t end = address + bytes; address < end;) {
      std::uintptr_t next = address;
      for (const Region& region : regions_) {
        if (region.covers(address, 1)) next = std::max(next, region.base + region.bytes);
      }
      if (next == address) return false;
      address = next;
    }
    return true;
  }

 private:
  std::vector<Region> regions_;
};

/// The addresses of the regions of one test, and how long they are.
struct Shape {
  const char* name;
  std::size_t capacity;
  std::size_t places;    ///< the regions begin at so many places
  std::size_t distance;  ///< between two places
  std::size_t longest;   ///< most regions are at most so long
  bool huge;             ///< some contain very many others
};
class RegionTableModelTest : public testing::TestWithParam<Shape> {};

TEST_P(RegionTableModelTest, AgreesWithAListOfRegions) {
  const Shape& shape = GetParam();
  Directory directory(shape.capacity);
  RegionTable table(directory.bytes(), directory.capacity);
  const RegionView view(directory.bytes());
  RegionModel model;
  std::mt19937_64 random(test_seed());
  const std::uintptr_t all = shape.places * shape.distance;
  for (int step = 0; step < 6000; ++step) {
    // The table fills, and empties again.
    const bool adds = random() % 8 < (step / 1500 % 2 == 0 ? 7U : 1U);
    const std::uintptr_t base = 1000 + random() % shape.places * shape.distance;
    if (adds) {
      const bool huge = shape.huge && random() % 64 == 0;
      const std::size_t bytes = 1 + random() % (huge ? all : shape.longest);
      const bool listed = model.lists(base, bytes);
      const Status status = table.add(base, bytes, kRegionForeign);
      if (status.ok()) {
        model.add(base, bytes);
      } else {
        ASSERT_EQ(status.code(), RMA_ERR_NO_MEMORY);
        ASSERT_FALSE(listed);
        ASSERT_EQ(table.size(), shape.capacity);
      }
    } else {
      const std::uintptr_t removed = model.size() != 0 ? model.at(random() % model.size()).base : base;
      ASSERT_EQ(table.remove(removed).code(), model.remove(removed) ? RMA_SUCCESS : RMA_ERR_ADDRESS);
    }
    for (int i = 0; i < 3; ++i) {
      const std::uintptr_t address = 990 + random() % (all + 40);
      const std::size_t bytes = random() % (2 * shape.longest + 2);
      const auto found = view.find(address, bytes);
      ASSERT_EQ(found.has_value(), model.one_covers(address, bytes)) << address << " " << bytes;
      ASSERT_TRUE(!found || found->covers(address, bytes));
      ASSERT_EQ(view.covers(address, bytes), model.all_cover(address, bytes)) << address << " " << bytes;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, RegionTableModelTest,
                         testing::Values(Shape{"dense", 40, 100, 1, 30, false},
                                         Shape{"adjacent", 2000, 3000, 16, 16, false},
                                         Shape{"overlapping", 2000, 900, 8, 40, true},
                                         Shape{"one_place", 700, 3, 50, 2000, false}),
                         [](const auto& shape) { return shape.param.name; });

/// Addresses that are backed when a table asks for it. Others raise SIGSEGV.
class GrowingDirectory {
 public:
  explicit GrowingDirectory(std::size_t capacity) : bytes_(RegionTable::directory_bytes(capacity)) {
    memory_ = static_cast<std::byte*>(
        mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    back(RegionTable::first_bytes(capacity));
  }
  ~GrowingDirectory() { munmap(memory_, bytes_); }
  GrowingDirectory(const GrowingDirectory&) = delete;
  GrowingDirectory& operator=(const GrowingDirectory&) = delete;
  [[nodiscard]] std::span<std::byte> bytes() const { return {memory_, bytes_}; }
  [[nodiscard]] std::size_t backed() const { return backed_; }
  [[nodiscard]] RegionTable::Grow grow() {
    return [this](std::size_t offset, std::size_t bytes) -> Result<RailKeys> {
      if (refuses) return Status(RMA_ERR_NO_MEMORY, "no memory");
      EXPECT_LE(offset, backed_) << "in the order of the offsets";
      back(offset + bytes);
      return RailKeys{offset};
    };
  }
  bool refuses = false;

 private:
  void back(std::size_t bytes) {
    constexpr std::size_t kSystemPage = 4096;
    EXPECT_EQ(
        mprotect(memory_, (bytes + kSystemPage - 1) / kSystemPage * kSystemPage, PROT_READ | PROT_WRITE), 0);
    backed_ = bytes;
  }
  std::size_t bytes_;
  std::byte* memory_ = nullptr;
  std::size_t backed_ = 0;
};

TEST(RegionTableTest, TakesMemoryForWhatItListsOnly) {
  constexpr std::size_t kCapacity = fewer_if_sanitized(70'000U);
  GrowingDirectory directory(kCapacity);
  RegionTable table(directory.bytes(), kCapacity, directory.grow());
  EXPECT_LT(directory.backed(), 200'000U);
  const RegionView view(directory.bytes());
  std::vector<std::uintptr_t> bases(kCapacity);
  for (std::size_t i = 0; i < kCapacity; ++i) bases[i] = 0x10000 + 0x100 * i;
  std::mt19937_64 random(test_seed());
  std::ranges::shuffle(bases, random);
  for (const std::uintptr_t base : bases) ASSERT_TRUE(table.add(base, 0x100, kRegionForeign).ok());
  EXPECT_EQ(table.add(1, 1, kRegionForeign).code(), RMA_ERR_NO_MEMORY);
  EXPECT_LE(directory.backed(), directory.bytes().size());
  for (const std::uintptr_t base : bases) ASSERT_TRUE(view.find(base + 1, 0xff).has_value());
  EXPECT_TRUE(view.covers(0x10000, 0x100 * kCapacity));
  EXPECT_FALSE(view.covers(0x10000, 0x100 * kCapacity + 1));
  for (std::size_t i = 0; i < kCapacity / 2; ++i) ASSERT_TRUE(table.remove(bases[i]).ok());
  for (std::size_t i = 0; i < kCapacity; ++i)
    ASSERT_EQ(view.find(bases[i], 1).has_value(), i >= kCapacity / 2) << i;
}

TEST(RegionTableTest, WithoutMoreMemoryItKeepsWhatItLists) {
  constexpr std::size_t kCapacity = 10'000;
  GrowingDirectory directory(kCapacity);
  RegionTable table(directory.bytes(), kCapacity, directory.grow());
  const RegionView view(directory.bytes());
  directory.refuses = true;
  std::uintptr_t base = 0x1000;
  Status status;
  while ((status = table.add(base, 0x10, kRegionForeign)).ok()) base += 0x20;
  EXPECT_EQ(status.code(), RMA_ERR_NO_MEMORY);
  const std::size_t listed = table.size();
  EXPECT_GE(listed, 100U);
  EXPECT_TRUE(view.covers(base - 0x20, 0x10));
  EXPECT_FALSE(view.covers(base, 1));
  for (std::uintptr_t at = 0x1000; at < base; at += 0x40) ASSERT_TRUE(table.remove(at).ok());
  directory.refuses = false;
  for (std::uintptr_t at = 0x1000; at < base; at += 0x40)
    ASSERT_TRUE(table.add(at, 0x10, kRegionForeign).ok());
  EXPECT_TRUE(table.add(base, 0x10, kRegionForeign).ok());
  EXPECT_EQ(table.size(), listed + 1);
  for (std::uintptr_t at = 0x1000; at <= base; at += 0x20) ASSERT_TRUE(view.covers(at, 0x10));
}

TEST(RegionViewTest, IsConsistentWhileTheOwnerChanges) {
  // Region i, while it exists, has a size and keys that follow from its base, so that a mixture of two is
  // noticed.
  // One region always exists, and must be found at any moment although its place in the table moves.
  Directory directory(640);  // so many that leaves split and join
  RegionTable table(directory.bytes(), directory.capacity);
  const auto region_at = [](std::uintptr_t base) {
    Region region;
    region.base = base;
    region.bytes = 0x10 + base / 0x1000;
    region.flags = kRegionForeign;
    const auto key = static_cast<transport::Key>(base) << 32U;
    region.keys = {key, key + 1, key + 2, key + 3};
    return region;
  };
  const std::uintptr_t constant = 0x120'000;
  ASSERT_TRUE(table.add(region_at(constant)).ok());
  const RegionView shared(directory.bytes());
  std::atomic<int> reading{2};
  std::atomic<int> wrong{0};
  std::vector<std::thread> readers;
  for (unsigned reader = 0; reader < 2; ++reader) {
    readers.emplace_back([&, reader] {
      std::mt19937_64 random(reader);
      for (int i = 0; i < 20'000; ++i) {
        const std::uintptr_t base = 0x1000 * (1 + random() % 600);
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
    const std::uintptr_t base = 0x1000 * (1 + random() % 600);
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
  RegionTable table(directory.bytes(), directory.capacity);
  ASSERT_TRUE(table.add(0x1000, 16, kRegionForeign).ok());
  std::vector<RegionView> views(3, RegionView(directory.bytes()));
  views[1] = RegionView();
  EXPECT_TRUE(views[0].find(0x1000, 16).has_value());
  EXPECT_FALSE(views[1].find(0x1000, 16).has_value());
  const Directory copied = directory;
  EXPECT_TRUE(RegionView(std::as_bytes(std::span(copied.words))).find(0x1008, 8).has_value());
}

TEST(RegionViewTest, SurvivesHostileDirectories) {
  Directory directory(256);
  std::mt19937_64 random(test_seed());
  const std::vector<std::uint64_t> nasty = {
      0, 1, 8, 9, UINT64_MAX, UINT64_MAX - 1, std::uint64_t{1} << 63U, 0x1000};
  for (int round = 0; round < 600; ++round) {
    if (round % 2 == 0) {
      for (auto& word : directory.words) word = random() % 2 == 0 ? nasty[random() % nasty.size()] : random();
    } else {
      // A table of which some words are others, so that searches come far.
      std::ranges::fill(directory.words, 0);
      RegionTable table(directory.bytes());
      for (std::uintptr_t base = 0x1000; base < 0x1180; ++base) {
        const Status added = table.add(base, 0x1000, kRegionForeign);
        ASSERT_TRUE(added.ok() || added.code() == RMA_ERR_NO_MEMORY);
      }
      for (int i = 0; i < 40; ++i) {
        const std::size_t root =
            directory::Geometry::in_bytes(directory.bytes().size()).root_at(directory.words[0]);
        const std::size_t at = i % 2 == 0 ? root + random() % 100 : random() % directory.words.size();
        directory.words[at] = random() % 2 == 0 ? nasty[random() % nasty.size()] : random() % 1000;
      }
    }
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
  const std::size_t one = directory::Geometry{.leaves = 1}.bytes() / 8;
  const std::size_t three = directory::Geometry{.leaves = 3}.bytes() / 8;
  for (const std::size_t from : {std::size_t{0}, one - 20, three - 20}) {
    for (std::size_t words = from; words < from + 40; ++words) {
      const std::vector<std::uint64_t> directory(words, UINT64_MAX);
      EXPECT_FALSE(RegionView(std::as_bytes(std::span(directory))).find(0x1000, 8).has_value());
    }
  }
  const Directory misaligned(4);
  EXPECT_FALSE(RegionView(std::as_bytes(std::span(misaligned.words)).subspan(1)).find(0, 1).has_value());
}

}  // namespace
}  // namespace librma
