#include "core/network/remote_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "../seed.hpp"
#include "malloc/directory_layout.hpp"

namespace librma {
namespace {

constexpr std::size_t kCapacity = 4000;
constexpr std::uintptr_t kBase = 0x10'0000;  ///< of memory that is never accessed

/// Reads the test's memory, and nothing outside the directory.
class CountingReader final : public RemoteMemory::Reader {
 public:
  CountingReader(const std::byte* begin, std::size_t bytes) : begin_(begin), bytes_(bytes) {}
  [[nodiscard]] Status read(std::byte* to, std::uintptr_t address, std::size_t bytes,
                            const RailKeys& keys) override {
    ++reads;
    bytes_read += bytes;
    EXPECT_NE(keys, RailKeys{});
    if (before_read) before_read();
    if (fails) return {RMA_ERR_PEER_LOST, "gone"};
    const std::uintptr_t offset = address - reinterpret_cast<std::uintptr_t>(begin_);
    EXPECT_TRUE(offset <= bytes_ && bytes <= bytes_ - offset) << offset << ", " << bytes;
    if (offset <= bytes_ && bytes <= bytes_ - offset) std::memcpy(to, begin_ + offset, bytes);
    return {};
  }
  int reads = 0;
  std::size_t bytes_read = 0;
  bool fails = false;
  std::function<void()> before_read;

 private:
  const std::byte* const begin_;
  const std::size_t bytes_;
};

const std::array<std::string, kMaxRails> kNames = {"a", "b", "c", "d"};
const RailMatch kSameRails(kNames, kNames);

class RemoteMemoryTest : public testing::Test {
 protected:
  [[nodiscard]] std::byte* begin() { return reinterpret_cast<std::byte*>(words.data()); }
  [[nodiscard]] std::size_t bytes() const { return words.size() * sizeof(std::uint64_t); }
  [[nodiscard]] DirectoryPlace place() {
    return {.address = reinterpret_cast<std::uintptr_t>(begin()), .bytes = bytes(), .keys = {1, 1}};
  }
  void list(std::uintptr_t base, std::size_t length, std::uint32_t flags, transport::Key key) {
    ASSERT_TRUE(table
                    .add({.base = base,
                          .bytes = length,
                          .generation = 0,
                          .flags = flags,
                          .count = 0,
                          .keys = {key, key == 0 ? 0 : key + 1}})
                    .ok());
  }
  [[nodiscard]] Result<RemoteRange> find(std::uintptr_t address, std::size_t length = 1) {
    reader.reads = 0;
    return memory.find(address, length, reader);
  }
  /// Returns the key under which the address is found, or 0 if it is not found.
  [[nodiscard]] transport::Key key_at(std::uintptr_t address) {
    const auto found = find(address);
    return found.ok() ? found.value().keys[0] : 0;
  }
  /// Writes an entry that no table would list, and numbers of entries and leaves.
  void forge(std::uintptr_t base, std::uint64_t length, std::uint64_t entries, std::uint64_t leaves = 1) {
    words[0] += 2;  // the same root
    const auto geometry = directory::Geometry::in_bytes(bytes());
    const std::size_t root = geometry.root_at(words[0]);
    words[root] = leaves;
    std::uint64_t* const leaf = &words[directory::Geometry::leaf_at(root, 0)];
    const std::size_t block = directory::LeafPlace::of(leaf[directory::kLeafPlace]).block;
    leaf[directory::kLeafBase] = base;
    leaf[directory::kLeafEnd] = UINT64_MAX;
    leaf[directory::kLeafPlace] = directory::LeafPlace{.outer = 0, .block = block, .entries = entries}.word();
    leaf[directory::kLeafWritten] = words[0];
    std::uint64_t* const entry = &words[geometry.block_at(block)];
    entry[directory::kBase] = base;
    entry[directory::kBytes] = length;
    entry[directory::kGenerationAndFlags] = kRegionExtent;
    entry[directory::kKeys] = 7;
  }

  std::vector<std::uint64_t> words =
      std::vector<std::uint64_t>(RegionTable::directory_bytes(kCapacity) / sizeof(std::uint64_t));
  // Each part by which the directory grows has a key of its own, as the directory's: 1 on rail 0.
  RegionTable table =
      RegionTable(std::span(begin(), bytes()), kCapacity, [](std::size_t, std::size_t) -> Result<RailKeys> {
        return RailKeys{1, 1};
      });
  CountingReader reader = CountingReader(begin(), bytes());
  RemoteMemory memory = RemoteMemory(3, place(), kSameRails);
};

TEST_F(RemoteMemoryTest, TheHeapIsReadOnce) {
  list(kBase, 0x1000, kRegionExtent, 5);
  list(kBase + 0x1000, 0x1000, kRegionExtent, 6);
  const auto found = find(kBase + 0x800, 0x400);
  ASSERT_TRUE(found.ok()) << found.status().text();
  EXPECT_EQ(found.value().bytes, 0x800U) << "up to the registration's end";
  EXPECT_EQ(found.value().keys, (RailKeys{5, 6, 0, 0}));
  EXPECT_GT(reader.reads, 0);
  EXPECT_EQ(key_at(kBase), 5U);
  EXPECT_EQ(reader.reads, 0);
  EXPECT_EQ(key_at(kBase + 0xfff), 5U);
  EXPECT_EQ(key_at(kBase + 0x1000), 6U);
  EXPECT_EQ(key_at(kBase + 0x1fff), 6U);
  EXPECT_EQ(reader.reads, 0);
}

TEST_F(RemoteMemoryTest, NewMemoryIsFoundByReadingAgain) {
  list(kBase, 0x1000, kRegionExtent, 5);
  EXPECT_EQ(key_at(kBase), 5U);
  list(kBase + 0x1000, 0x1000, kRegionExtent, 6);
  EXPECT_EQ(key_at(kBase + 0x1000), 6U);
  EXPECT_EQ(reader.reads, 4) << "the version, the root, the entries, the version";
  EXPECT_EQ(key_at(kBase + 0x1000), 6U);
  EXPECT_EQ(reader.reads, 0);
}

TEST_F(RemoteMemoryTest, RegisteredMemoryIsLookedAtEachTime) {
  list(kBase, 0x1000, kRegionForeign, 5);
  EXPECT_EQ(key_at(kBase), 5U);
  EXPECT_EQ(key_at(kBase), 5U);
  EXPECT_EQ(reader.reads, 1) << "the version";
  ASSERT_TRUE(table.remove(kBase).ok());
  list(kBase, 0x1000, kRegionForeign, 9);
  EXPECT_EQ(key_at(kBase), 9U) << "registered again";
  ASSERT_TRUE(table.remove(kBase).ok());
  EXPECT_EQ(find(kBase).status().code(), RMA_ERR_ADDRESS);
}

TEST_F(RemoteMemoryTest, WhatIsOutOfReachHasItsOwnError) {
  list(kBase, 0x10000, kRegionWindow, 0);
  list(kBase + 0x1000, 0x1000, kRegionExtent, 5);
  EXPECT_EQ(find(kBase - 1).status().code(), RMA_ERR_ADDRESS);
  EXPECT_EQ(find(kBase + 0x10000).status().code(), RMA_ERR_ADDRESS);
  EXPECT_EQ(find(kBase).status().code(), RMA_ERR_UNSUPPORTED) << "in the window, without a key";
  EXPECT_EQ(find(kBase + 0x2000).status().code(), RMA_ERR_UNSUPPORTED);
  EXPECT_EQ(key_at(kBase + 0x1000), 5U) << "in the window and in an extent";
  list(0x1000, 0x100, kRegionForeign, 0);
  EXPECT_EQ(find(0x1000).status().code(), RMA_ERR_UNSUPPORTED) << "the user's, refused by the network";
}

TEST_F(RemoteMemoryTest, NeighboursWithoutKeysAreCopiedByTheirOwner) {
  list(kBase, 0x1000, kRegionForeign, 0);
  list(kBase + 0x1000, 0x800, kRegionForeign, 0);
  list(kBase + 0x1800, 0x800, kRegionForeign, 9);
  EXPECT_EQ(find(kBase + 0x800, 0x1800).status().code(), RMA_ERR_UNSUPPORTED) << "all of it is listed";
  EXPECT_EQ(find(kBase + 0x800, 0x1801).status().code(), RMA_ERR_ADDRESS);
  ASSERT_TRUE(table.remove(kBase + 0x1000).ok());
  EXPECT_EQ(find(kBase + 0x800, 0x1800).status().code(), RMA_ERR_ADDRESS) << "a gap";
}

TEST_F(RemoteMemoryTest, OfOverlappingRegionsOneWithKeysIsTaken) {
  list(kBase, 0x4000, kRegionForeign, 5);
  list(kBase + 0x1000, 0x100, kRegionForeign, 0);
  EXPECT_EQ(key_at(kBase + 0x1000), 5U);
  EXPECT_EQ(key_at(kBase + 0x2000), 5U) << "the nearest beginning does not reach so far";
}

TEST_F(RemoteMemoryTest, OfOverlappingRegionsAnExtentIsTakenBecauseItLasts) {
  list(kBase, 0x4000, kRegionExtent, 5);
  list(kBase + 0x1000, 0x100, kRegionForeign, 7);
  EXPECT_EQ(key_at(kBase + 0x1000), 5U);
  EXPECT_EQ(key_at(kBase + 0x1000), 5U);
  EXPECT_EQ(reader.reads, 0);
}

TEST_F(RemoteMemoryTest, WithoutAKeyOfTheDirectoryNothingIsReached) {
  list(kBase, 0x1000, kRegionExtent, 5);
  DirectoryPlace unregistered = place();
  unregistered.keys = {};
  RemoteMemory blind(3, unregistered, kSameRails);
  EXPECT_EQ(blind.find(kBase, 1, reader).status().code(), RMA_ERR_UNSUPPORTED);
  EXPECT_EQ(reader.reads, 0);
}

TEST_F(RemoteMemoryTest, TheReadersErrorsAreItsOwnAndPass) {
  list(kBase, 0x1000, kRegionForeign, 5);
  reader.fails = true;
  EXPECT_EQ(find(kBase).status().code(), RMA_ERR_PEER_LOST);
  reader.fails = false;
  EXPECT_EQ(key_at(kBase), 5U);
  reader.fails = true;
  EXPECT_EQ(find(kBase).status().code(), RMA_ERR_PEER_LOST);
}

TEST_F(RemoteMemoryTest, ADirectoryThatChangesWhileItIsReadIsReadAgain) {
  list(kBase, 0x1000, kRegionExtent, 5);
  for (const int change_at : {2, 3, 4}) {
    RemoteMemory fresh(3, place(), kSameRails);
    const auto key = static_cast<std::uint32_t>(10 * change_at);
    const std::uintptr_t base = kBase + 0x1000 * static_cast<std::uintptr_t>(change_at);
    int left = change_at;
    reader.before_read = [&] {
      // Twice, so that the copy that is being read is written too.
      if (--left != 0) return;
      list(base, 0x1000, kRegionExtent, key);
      list(base + 0x100000, 0x1000, kRegionExtent, key + 1);
    };
    const auto found = fresh.find(base, 1, reader);
    ASSERT_TRUE(found.ok()) << change_at << ": " << found.status().text();
    EXPECT_EQ(found.value().keys[0], key);
    EXPECT_EQ(fresh.find(kBase, 1, reader).value().keys[0], 5U);
    EXPECT_EQ(fresh.find(base + 0x100000, 1, reader).value().keys[0], key + 1);
  }
}

TEST_F(RemoteMemoryTest, ADirectoryThatNeverRestsIsGivenUp) {
  list(kBase, 0x1000, kRegionExtent, 5);
  reader.before_read = [&] { ++words[0]; };
  EXPECT_EQ(find(kBase).status().code(), RMA_ERR_STATE);
}

TEST_F(RemoteMemoryTest, HostileDirectoriesAreReadWithinTheirBoundsAndBelievedNothing) {
  list(kBase, 0x1000, kRegionExtent, 5);
  forge(kBase, 0x1000, 1);
  EXPECT_EQ(key_at(kBase), 7U);
  for (const std::uint64_t leaves : {std::uint64_t{1}, ~std::uint64_t{0}}) {
    forge(kBase, 0x1000, 0xffff, leaves);
    EXPECT_EQ(find(kBase + 0x2000).status().code(), RMA_ERR_ADDRESS)
        << "the numbers are cut to what there is";
  }
  RemoteMemory second(3, place(), kSameRails);
  forge(~std::uintptr_t{0} - 10, 100, 1);
  EXPECT_EQ(second.find(~std::uintptr_t{0} - 5, 1, reader).status().code(), RMA_ERR_ADDRESS)
      << "past the last address";
  EXPECT_EQ(second.find(10, 1, reader).status().code(), RMA_ERR_ADDRESS) << "and around it";
  forge(kBase, ~std::uint64_t{0}, 1);
  EXPECT_EQ(second.find(kBase + 1, 1, reader).status().code(), RMA_ERR_ADDRESS);
  std::mt19937_64 random(test_seed());
  for (int round = 0; round < 200; ++round) {
    for (int i = 0; i < 30; ++i) {
      const std::size_t near = 1 + random() % 400;
      words[random() % 2 == 0 ? near : 1 + random() % (words.size() - 1)] =
          random() % 2 == 0 ? random() : random() % 500;
    }
    RemoteMemory other(3, place(), kSameRails);
    const auto found = other.find(random() % 0x20'0000, 1, reader);
    EXPECT_TRUE(!found.ok() || found.value().bytes > 0);
  }
}

TEST_F(RemoteMemoryTest, OfALongListOnlyWhatChangedIsReadAgain) {
  constexpr std::uintptr_t kStep = 0x1000;
  std::mt19937_64 random(test_seed());
  std::vector<std::uintptr_t> bases;
  for (std::uintptr_t i = 0; i < 3000; ++i) bases.push_back(kBase + i * kStep);
  std::ranges::shuffle(bases, random);
  for (const std::uintptr_t base : bases)
    list(base, 0x800, kRegionForeign, static_cast<std::uint32_t>(base / kStep));
  EXPECT_EQ(key_at(kBase), kBase / kStep);
  EXPECT_GT(reader.bytes_read, 3000 * 64U);
  for (int round = 0; round < 50; ++round) {
    const std::uintptr_t base = bases[random() % bases.size()];
    reader.bytes_read = 0;
    ASSERT_TRUE(table.remove(base).ok());
    EXPECT_EQ(find(base).status().code(), RMA_ERR_ADDRESS);
    EXPECT_LT(reader.bytes_read, 30'000U) << "the root and two leaves";
    list(base, 0x800, kRegionForeign, 9);
    EXPECT_EQ(key_at(base), 9U);
    const std::uintptr_t other = bases[random() % bases.size()];
    EXPECT_NE(key_at(other), 0U);
    EXPECT_EQ(find(other + 0x800).status().code(), RMA_ERR_ADDRESS);
  }
}

TEST_F(RemoteMemoryTest, APartOfTheListThatCouldNotBeRegisteredIsOutOfReach) {
  RegionTable deaf(std::span(begin(), bytes()), kCapacity,
                   [](std::size_t, std::size_t) -> Result<RailKeys> { return RailKeys{}; });
  for (std::uintptr_t i = 0; i < 2000; ++i) ASSERT_TRUE(deaf.add(kBase + 0x10 * i, 8, kRegionForeign).ok());
  EXPECT_EQ(find(kBase + 0x10 * 1999).status().code(), RMA_ERR_UNSUPPORTED);
}

}  // namespace
}  // namespace librma
