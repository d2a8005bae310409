// Copies between mapped memory: every byte of the block, and none beside it. Tables of the ways to copy.

#include "util/copying/copy_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace librma {
namespace {

constexpr std::byte kUntouched{0xee};

void copy_by_table(void* dst, const void* src, std::size_t bytes) { copy_mapped(dst, src, bytes); }

/// Every way that this processor has.
std::vector<BlockCopy> copies() {
  std::vector<BlockCopy> all = {copy_by_table};
  for (std::size_t method = 0; method < kCopyMethods; ++method) {
    const BlockCopy copy = block_copy(static_cast<CopyMethod>(method));
    if (copy != nullptr) all.push_back(copy);
  }
  return all;
}

/// Copies `bytes` bytes between places at these distances from a page's start. Returns whether the result is
/// right.
bool copies_exactly(BlockCopy copy, std::size_t bytes, std::size_t dst_offset, std::size_t src_offset) {
  constexpr std::size_t kPage = 4096;
  static std::vector<std::byte> source(kMostBlock + 3 * kPage);
  static std::vector<std::byte> target(source.size());
  const auto page_of = [](std::vector<std::byte>& memory) {
    return memory.data() + (kPage - reinterpret_cast<std::uintptr_t>(memory.data()) % kPage);
  };
  std::byte* const src = page_of(source) + src_offset;
  std::byte* const dst = page_of(target) + dst_offset;
  for (std::size_t i = 0; i < bytes; ++i)
    src[i] = static_cast<std::byte>((i * 7 + i / 256) % 238);  // never equal to kUntouched
  constexpr std::size_t kMargin = 64;
  std::fill(dst - kMargin, dst + bytes + kMargin, kUntouched);
  copy(dst, src, bytes);
  const auto untouched = [](std::byte value) { return value == kUntouched; };
  return std::equal(src, src + bytes, dst) && std::all_of(dst - kMargin, dst, untouched) &&
         std::all_of(dst + bytes, dst + bytes + kMargin, untouched);
}

TEST(Copy, ABlockArrivesWholeAtEveryAlignment) {
  constexpr std::array<std::size_t, 8> kOffsets = {0, 1, 8, 31, 32, 33, 64, 100};
  for (const BlockCopy copy : copies()) {
    for (std::size_t bytes = kLeastBlock; bytes < kLeastBlock + 260; ++bytes) {
      for (const std::size_t dst : kOffsets) {
        for (const std::size_t src : kOffsets) {
          ASSERT_TRUE(copies_exactly(copy, bytes, dst, src))
              << bytes << " bytes from " << src << " to " << dst;
        }
      }
    }
  }
}

TEST(Copy, ALongBlockArrivesWhole) {
  for (const BlockCopy copy : copies()) {
    for (const std::size_t bytes : {std::size_t{65536}, std::size_t{100003}, kMostBlock - 1, kMostBlock}) {
      for (const std::size_t offset : {std::size_t{0}, std::size_t{5}, std::size_t{32}}) {
        ASSERT_TRUE(copies_exactly(copy, bytes, offset, 0)) << bytes << " bytes to " << offset;
      }
    }
  }
}

TEST(Copy, ShortOnesAndTheirBordersArriveWhole) {
  for (std::size_t bytes = 0; bytes <= kLeastBlock + 1; ++bytes) {
    ASSERT_TRUE(copies_exactly(copy_by_table, bytes, bytes % 9, bytes % 5)) << bytes << " bytes";
  }
  ASSERT_TRUE(copies_exactly(copy_by_table, kMostBlock + 1, 3, 0));
}

TEST(Copy, AClassEndsBeforeTheNextPowerOfTwo) {
  for (std::size_t size_class = 0; size_class < kCopyClasses; ++size_class) {
    EXPECT_EQ(copy_class(copy_class_bytes(size_class)), size_class);
    EXPECT_EQ(copy_class(2 * copy_class_bytes(size_class) - 1), size_class);
  }
  EXPECT_EQ(copy_class(kLeastBlock), 0U);
  EXPECT_EQ(copy_class(kMostBlock), kCopyClasses - 1);
}

/// The functions in use before a test, which it puts back.
class CopyTableInUse : public testing::Test {
 protected:
  void TearDown() override { internal::copies_in_use = before_; }

 private:
  decltype(internal::copies_in_use) before_ = internal::copies_in_use;
};

TEST_F(CopyTableInUse, EachBlockGoesByTheMethodOfItsClassAndAlignment) {
  static const void* last = nullptr;
  alignas(64) static std::array<std::byte, 4 * kLeastBlock> source = {};
  alignas(64) static std::array<std::byte, 4 * kLeastBlock + 64> target = {};
  static int alike = 0;
  static int apart = 0;
  internal::copies_in_use[1][1] = [](void* dst, const void* /*src*/, std::size_t /*bytes*/) {
    last = dst;
    ++alike;
  };
  internal::copies_in_use[0][1] = [](void* dst, const void* /*src*/, std::size_t /*bytes*/) {
    last = dst;
    ++apart;
  };
  copy_mapped(target.data(), source.data(), 2 * kLeastBlock);
  EXPECT_EQ(last, target.data());
  copy_mapped(target.data() + 3, source.data() + 3, 4 * kLeastBlock - 1);
  EXPECT_EQ(alike, 2);
  copy_mapped(target.data() + 8, source.data(), 2 * kLeastBlock);
  EXPECT_EQ(last, target.data() + 8);
  EXPECT_EQ(apart, 1);
  copy_mapped(target.data(), source.data(), 2 * kLeastBlock - 1);  // another class
  copy_mapped(target.data() + 8, source.data(), 4 * kLeastBlock);
  EXPECT_EQ(alike + apart, 3);
}

TEST_F(CopyTableInUse, ATableIsUsedAsItSays) {
  CopyTable table = CopyTable::of(CopyMethod::library);
  table.methods[0][3] = CopyMethod::movsb;
  if (!table.usable()) GTEST_SKIP() << "this processor has only memcpy";
  use_copies(table);
  EXPECT_EQ(internal::copies_in_use[0][3], block_copy(CopyMethod::movsb));
  EXPECT_EQ(internal::copies_in_use[1][3], block_copy(CopyMethod::library));
}

TEST(CopyTableOfAnother, IsCheckedBeforeItIsUsed) {
  CopyTable table = CopyTable::of(CopyMethod::library);
  EXPECT_TRUE(table.well_formed());
  EXPECT_TRUE(table.usable());
  for (const auto damaged : {kCopyMethods, std::size_t{255}}) {
    table.methods[1][kCopyClasses - 1] = static_cast<CopyMethod>(damaged);
    EXPECT_FALSE(table.well_formed());
  }
}

/// Times of all probes in which each method takes as long as memcpy, for either alignment.
CopyTimes equal_times() {
  CopyTimes times;
  for (auto& probes : times.at) {
    for (CopyTimes::OfMethods& all : probes) all = {100, 100, 100, 100, 0};
  }
  return times;
}

void set_time(CopyTimes& times, std::size_t probe, CopyMethod method, double time) {
  for (auto& probes : times.at) probes[probe][static_cast<std::size_t>(method)] = time;
}

/// Returns the methods of a table with the same rows for both alignments.
CopyTable::Row row_of(const CopyTable& table) {
  EXPECT_EQ(table.methods[0], table.methods[1]);
  return table.methods[0];
}

constexpr auto kLibrary = CopyMethod::library;
constexpr auto kMovsb = CopyMethod::movsb;
constexpr auto kVectors = CopyMethod::vectors32;

TEST(CopyChoice, LongBlocksGoByMovsbIfMemcpyIsNoFaster) {
  const CopyTable::Row expected = {kLibrary, kLibrary, kLibrary, kLibrary, kLibrary, kLibrary, kLibrary,
                                   kMovsb,   kMovsb,   kMovsb,   kMovsb,   kMovsb,   kMovsb};
  EXPECT_EQ(row_of(fastest_copies(equal_times())), expected);
}

TEST(CopyChoice, LongBlocksGoByMemcpyIfMovsbIsSlow) {
  CopyTimes times = equal_times();
  set_time(times, kCopyProbes.size() - 1, kMovsb, 110);
  EXPECT_EQ(fastest_copies(times).methods, CopyTable::of(kLibrary).methods);
}

TEST(CopyChoice, AFastMethodServesTheClassesOfItsProbeAndLongerOnesUntilAnotherIsFaster) {
  CopyTimes times = equal_times();
  set_time(times, 0, kVectors, 50);
  set_time(times, 1, kVectors, 99);
  set_time(times, 2, kVectors, 120);
  set_time(times, 3, kMovsb, 120);
  const CopyTable::Row expected = {kVectors, kVectors, kVectors, kVectors, kLibrary, kLibrary, kLibrary,
                                   kLibrary, kLibrary, kLibrary, kLibrary, kLibrary, kLibrary};
  EXPECT_EQ(row_of(fastest_copies(times)), expected);
}

TEST(CopyChoice, TheFastestOfAllIsTaken) {
  CopyTimes times = equal_times();
  set_time(times, 1, CopyMethod::vectors32, 96);
  set_time(times, 1, CopyMethod::vectors64, 94);
  EXPECT_EQ(row_of(fastest_copies(times))[2], CopyMethod::vectors64);
}

TEST(CopyChoice, SizesThatNobodyMeasuredGoByMemcpy) {
  EXPECT_EQ(fastest_copies(CopyTimes{}).methods, CopyTable::of(kLibrary).methods);
  CopyTimes longest_only;
  longest_only.at[1].back() = {100, 0, 0, 90, 0};
  const CopyTable table = fastest_copies(longest_only);
  EXPECT_EQ(table.methods[0], CopyTable::of(kLibrary).methods[0]);
  const CopyTable::Row expected = {kLibrary, kLibrary, kLibrary, kLibrary, kLibrary, kMovsb, kMovsb,
                                   kMovsb,   kMovsb,   kMovsb,   kMovsb,   kMovsb,   kMovsb};
  EXPECT_EQ(table.methods[1], expected);
}

TEST(CopyMeasurement, MeasuresWhatThisProcessorHasAndNoStreams) {
  const CopyTimes times = time_copies(std::chrono::seconds(10));
  for (const auto& probes : times.at) {
    for (const CopyTimes::OfMethods& all : probes) {
      for (std::size_t method = 0; method < kCopyMethods; ++method) {
        const auto name = static_cast<CopyMethod>(method);
        EXPECT_EQ(all[method] > 0, name != CopyMethod::stream && block_copy(name) != nullptr)
            << copy_method_name(name);
      }
    }
  }
  EXPECT_TRUE(fastest_copies(times).usable());
}

TEST(CopyMeasurement, WithoutTimeNothingIsMeasured) {
  EXPECT_EQ(time_copies(std::chrono::nanoseconds(-1)).at, CopyTimes{}.at);
}

}  // namespace
}  // namespace librma
