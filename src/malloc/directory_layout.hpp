#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "fabric/registrar.hpp"

namespace librma {

/// The layout of a directory of regions, in 64-bit words. region_table.hpp has the picture.
namespace directory {

inline constexpr std::size_t kWord = sizeof(std::uint64_t);
inline constexpr std::size_t kHeaderWords = 8;  // the version, alone in its cache line
inline constexpr std::size_t kLeafEntries = 128;
inline constexpr std::size_t kEntryWords = 8;
inline constexpr std::size_t kBlockWords = kLeafEntries * kEntryWords;
inline constexpr std::size_t kChunks = 16;
inline constexpr std::size_t kFirstBlocks = 4;  // of chunk 0; with each further chunk there are twice as many
/// The owner has always so many blocks more than leaves: it writes a change to blocks that no reader reads.
inline constexpr std::size_t kSpareBlocks = 3;
inline constexpr std::size_t kRootHeaderWords = 8 + kChunks * kMaxRails;
inline constexpr std::size_t kLeafWords = 4;

/// The words of an entry. `kOuter` is 1 + the number of the nearest entry before it in the leaf that ends
/// later; 0: none does.
enum Word : std::size_t { kBase, kBytes, kGenerationAndFlags, kOuter, kKeys };
/// The words of a leaf in the root. `kLeafEnd` is the largest end of its entries, and `kLeafWritten` the
/// version that wrote its block.
enum LeafWord : std::size_t { kLeafBase, kLeafEnd, kLeafPlace, kLeafWritten };

/// Returns the third word of an entry. Its lowest byte holds the flags.
constexpr std::uint64_t generation_and_flags(std::uint64_t generation, std::uint32_t flags) {
  return generation << 8U | flags;
}
constexpr std::uint64_t generation_of(std::uint64_t word) { return word >> 8U; }
constexpr std::uint32_t flags_of(std::uint64_t word) { return static_cast<std::uint32_t>(word & 0xffU); }

/// The third word of a leaf: where its entries are.
struct LeafPlace {
  std::size_t outer =
      0;  ///< 1 + the number of the nearest leaf before it whose kLeafEnd is larger; 0: none is
  std::size_t block = 0;
  std::size_t entries = 0;

  [[nodiscard]] constexpr std::uint64_t word() const { return outer << 40U | block << 16U | entries; }
  static constexpr LeafPlace of(std::uint64_t word) {
    return {.outer = word >> 40U, .block = word >> 16U & 0xff'ffffU, .entries = word & 0xffffU};
  }
};

/// Returns the number of blocks in the chunks before `chunk`.
constexpr std::size_t blocks_before(std::size_t chunk) {
  return chunk == 0 ? 0 : kFirstBlocks << (chunk - 1);
}
/// Returns the chunk of a block.
constexpr std::size_t chunk_of(std::size_t block) {
  std::size_t chunk = 0;
  while (block >= blocks_before(chunk + 1)) ++chunk;
  return chunk;
}

/// The places of everything in a directory with room for `leaves` leaves.
struct Geometry {
  std::size_t leaves = 0;  ///< 0: the directory is too small to hold any region

  static constexpr std::size_t kMostLeaves = blocks_before(kChunks) - kSpareBlocks;

  [[nodiscard]] constexpr std::size_t blocks() const { return leaves + kSpareBlocks; }
  /// Roots and blocks begin at cache lines.
  [[nodiscard]] constexpr std::size_t root_words() const {
    return kRootHeaderWords + (leaves * kLeafWords + 7) / 8 * 8;
  }
  /// Returns the index of the first word of the root that is current in this version.
  [[nodiscard]] constexpr std::size_t root_at(std::uint64_t version) const {
    return kHeaderWords + (version & 1U) * root_words();
  }
  /// Returns the index of a root's first key of a chunk.
  static constexpr std::size_t chunk_keys_at(std::size_t root, std::size_t chunk) {
    return root + 8 + chunk * kMaxRails;
  }
  static constexpr std::size_t leaf_at(std::size_t root, std::size_t leaf) {
    return root + kRootHeaderWords + leaf * kLeafWords;
  }
  [[nodiscard]] constexpr std::size_t block_at(std::size_t block) const {
    return kHeaderWords + 2 * root_words() + block * kBlockWords;
  }
  [[nodiscard]] constexpr std::size_t bytes() const { return block_at(blocks()) * kWord; }
  /// Returns the bytes that the owner must back before it makes its table.
  [[nodiscard]] constexpr std::size_t first_bytes() const {
    return block_at(std::min(blocks(), kFirstBlocks)) * kWord;
  }

  /// Returns the geometry of a directory that holds `capacity` regions in any order of changes.
  static constexpr Geometry for_capacity(std::size_t capacity) {
    // All leaves but the last are at least half full.
    return {.leaves = std::min(kMostLeaves, 2 * ((capacity + kLeafEntries - 1) / kLeafEntries) + 1)};
  }
  /// Returns the largest geometry that fits into so many bytes.
  static constexpr Geometry in_bytes(std::size_t bytes) {
    const std::size_t fixed = Geometry{.leaves = 0}.bytes();
    if (bytes < fixed) return {};
    // Two leaves take twice a whole number of cache lines; an odd one takes at most one line more in each
    // root.
    const std::size_t pair = Geometry{.leaves = 2}.bytes() - fixed;
    Geometry geometry = {.leaves = std::min(kMostLeaves, (bytes - fixed) / pair * 2 + 1)};
    if (geometry.bytes() > bytes) --geometry.leaves;
    return geometry;
  }
  [[nodiscard]] constexpr std::size_t capacity() const {
    return leaves == 0 ? 0 : (leaves - 1) / 2 * kLeafEntries;
  }
};

static_assert(kEntryWords * kWord == 64, "an entry is a cache line");
static_assert(kKeys + kMaxRails == kEntryWords);
static_assert(kHeaderWords % 8 == 0 && kRootHeaderWords % 8 == 0, "roots begin at a cache line");
static_assert(Geometry::in_bytes(Geometry::for_capacity(1024).bytes()).leaves == 17);
static_assert(Geometry::in_bytes(Geometry::for_capacity(1024).bytes() - 1).leaves == 16);
static_assert(Geometry::in_bytes(0).leaves == 0 &&
              Geometry::in_bytes(SIZE_MAX).leaves == Geometry::kMostLeaves);
static_assert(Geometry::for_capacity(std::size_t{4} << 20U).capacity() == std::size_t{4} << 20U);
static_assert(chunk_of(3) == 0 && chunk_of(4) == 1 && chunk_of(7) == 1 && chunk_of(8) == 2);

}  // namespace directory
}  // namespace librma
