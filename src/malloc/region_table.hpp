#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "fabric/registrar.hpp"
#include "malloc/directory_layout.hpp"
#include "util/range_check.hpp"
#include "util/status.hpp"

namespace librma {

/// The bits of Region::flags, which say where a region comes from.
enum RegionFlag : std::uint32_t {
  kRegionWindow = 1U << 0U,   ///< the heap window, which every process of the owner's host maps
  kRegionForeign = 1U << 1U,  ///< memory of the owner that the user registered
  kRegionExtent = 1U << 2U    ///< part of the heap window that is registered with the network's devices
};

/// A range of a process's memory that other ranks may access.
struct Region {
  std::uintptr_t base = 0;  ///< address in the owner's address space
  std::size_t bytes = 0;
  std::uint64_t generation = 0;  ///< unique among all regions that the table ever held
  std::uint32_t flags = 0;       ///< RegionFlag
  std::uint32_t count = 0;       ///< the number of adds that were not removed; only the owner knows it
  RailKeys keys = {};            ///< remote keys; 0 if the rail does not reach the region

  /// Returns whether [address, address + length) lies inside.
  [[nodiscard]] bool covers(std::uintptr_t address, std::size_t length) const noexcept {
    return range_contains(bytes, address - base, length);
  }
};

// The directory, as others read it: 64-bit words in the owner's byte order. It is a tree of two
// levels, so that a change writes little however many regions there are.
//
//   word 0     version: how many changes were published. The current root is number version & 1.
//   words 8..  root 0, then root 1. A root is 8 words, of which the first is the number of leaves, then the
//              remote keys of rails 0 to 3 for each chunk of blocks, then the leaves of 4 words, sorted by
//              base: the first entry's base, the largest end, the place (block, number of entries), the
//              version that wrote the block.
//   then       blocks of 128 entries of 8 words, sorted by base: base, bytes, generation << 8 | flags, the
//              nearest entry before that ends later, the remote keys of rails 0 to 3.
//
// directory_layout.hpp has the details. The blocks are reserved addresses. The owner backs them chunk by
// chunk when it needs them, and registers each chunk with the network; the key of the directory itself is
// that of chunk 0 and of all that precedes it.
//
// The owner writes a change to blocks and to the root that the current version does not use, and then
// publishes it by storing the version. So a reader waits for nobody. It retries only if the version has
// changed meanwhile, which means that a change was completed. An owner that stops in the middle of a change
// stops no reader.

/// The owner's side of the directory of regions. Thread-safe.
class RegionTable {
 public:
  /// Returns the size in bytes of a directory of up to `capacity` regions (the setting RMA_MAX_REGIONS).
  static std::size_t directory_bytes(std::size_t capacity);
  /// Returns how many of these bytes have to be backed when the table is made.
  static std::size_t first_bytes(std::size_t capacity);

  /// Backs bytes [offset, offset + bytes) of the directory with zeroed memory, and returns the keys by which
  /// the network reaches them; keys of 0 if it does not. Called in the order of the offsets, each time once.
  using Grow = std::function<Result<RailKeys>(std::size_t offset, std::size_t bytes)>;

  /// Makes a table without regions, for at most `capacity` of them or what `directory` holds. `directory` is
  /// aligned to 64 bytes and outlives the table. It is zeroed memory, all of it or, with `grow`, its
  /// first_bytes().
  explicit RegionTable(std::span<std::byte> directory, std::size_t capacity = SIZE_MAX, Grow grow = {});

  /// Lists [base, base + bytes). Regions may overlap. If the same base, bytes and flags are added again, the
  /// table counts it and keeps the keys as they were. The generation and count of `region` are ignored.
  /// RMA_ERR_SIZE for 0 bytes or an end beyond the last address; RMA_ERR_NO_MEMORY if the directory is full,
  /// or cannot grow; RMA_ERR_STATE if the same region was added 2^32 - 1 times.
  Status add(const Region& region);
  Status add(std::uintptr_t base, std::size_t bytes, std::uint32_t flags);

  /// Undoes one add of a region that starts at `base` and has these flags. If there are several, undoes the
  /// shortest, so that the remaining ones still cover what the other adds asked for. RMA_ERR_ADDRESS if
  /// there is none.
  Status remove(std::uintptr_t base, std::uint32_t flags = kRegionForeign);

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 private:
  struct Leaf {
    std::vector<Region> regions;  // sorted by base, then by bytes, then by flags; with room for all entries
    std::size_t block = 0;
    std::uint64_t written = 0;  // the version that wrote the block
    std::uint64_t end = 0;      // the largest end of its regions
    std::size_t outer = 0;      // 1 + the number of the nearest leaf before it that ends later; 0: none does
  };
  using Leaves = std::vector<Leaf>;

  /// Returns the last leaf that does not begin behind the region, or the first one. There are leaves.
  [[nodiscard]] Leaves::iterator leaf_for(const Region& region);
  /// Makes blocks until `count` are free.
  [[nodiscard]] Status make_free(std::size_t count);
  /// Inserts a region, and `fresh` if one more leaf is needed. There is room for both.
  void insert(const Region& region, Leaf fresh);
  /// Makes up for the removal of one of the leaf's regions: no leaf but the last is less than half full.
  void refill(Leaves::iterator leaf);
  /// Writes a changed leaf to a free block. Its old one is free once the change is published.
  void write(Leaf& leaf);
  void publish();
  [[nodiscard]] std::uint64_t* words() const { return reinterpret_cast<std::uint64_t*>(directory_.data()); }

  const std::span<std::byte> directory_;
  const directory::Geometry geometry_;
  const std::size_t capacity_;
  const Grow grow_;
  mutable std::mutex mutex_;
  Leaves leaves_;  // none is empty
  std::size_t size_ = 0;
  std::array<RailKeys, directory::kChunks> chunk_keys_ = {};
  std::size_t blocks_ = 0;         // those that are backed
  std::vector<std::size_t> free_;  // backed blocks that the current version does not use; room for all
  std::vector<std::size_t>
      unused_;  // blocks that are free after the next publish(); room for all of one change
  std::uint64_t version_ = 0;
  std::uint64_t next_generation_ = 1;
};

/// The reader's side: finds regions in a directory that is mapped here (or copied), while its owner changes
/// it. It trusts nothing that it reads: with any contents of the directory, find() ends and reads only
/// inside it. Thread-safe.
class RegionView {
 public:
  RegionView() noexcept = default;
  /// `directory` is the memory that the owner's RegionTable was given. A directory that is too small or
  /// misaligned holds no region.
  explicit RegionView(std::span<const std::byte> directory) noexcept;
  RegionView(const RegionView& other) noexcept;
  RegionView& operator=(const RegionView& other) noexcept;
  ~RegionView() = default;

  /// Returns a region that contains all of [address, address + bytes), as it was at one moment of the call.
  [[nodiscard]] std::optional<Region> find(std::uintptr_t address, std::size_t bytes) const;
  /// Returns whether regions contain all of [address, address + bytes) together: one, or several between
  /// which nothing is left out.
  [[nodiscard]] bool covers(std::uintptr_t address, std::size_t bytes) const;

 private:
  struct Version;

  [[nodiscard]] std::uint64_t version() const;

  const std::uint64_t* words_ = nullptr;
  directory::Geometry geometry_;
  mutable std::atomic<std::size_t> last_hit_{0};  // a hint: the entry to look at first, which is checked
                                                  // like any other
};

}  // namespace librma
