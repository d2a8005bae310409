// Copies between mapped memory: every byte of the block, and none beside it.

#include "core/one_sided/copy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace rma {
namespace {

constexpr std::byte kUntouched{0xee};

std::vector<BlockCopy> copies() {
  std::vector<BlockCopy> all = {
      copy_block, [](void* dst, const void* src, std::size_t bytes) { copy_bytes(dst, src, bytes); }};
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx") != 0) all.push_back(copy_by_vectors);
#endif
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
    ASSERT_TRUE(copies_exactly(copy_bytes, bytes, bytes % 9, bytes % 5)) << bytes << " bytes";
  }
  ASSERT_TRUE(copies_exactly(copy_bytes, kMostBlock + 1, 3, 0));
}

}  // namespace
}  // namespace rma
