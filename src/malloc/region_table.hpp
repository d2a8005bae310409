#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "fabric/registrar.hpp"
#include "util/status.hpp"

namespace rma {

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

  /// Returns whether [address, address + length) lies inside. The computation cannot overflow.
  [[nodiscard]] bool covers(std::uintptr_t address, std::size_t length) const noexcept {
    return address >= base && length <= bytes && address - base <= bytes - length;
  }
};

// The directory, as others read it: 64-bit words in the owner's byte order.
//
//   word 0     version: how many changes were published. The current copy of the entries is number
//              version & 1.
//   words 8..  copy 0, then copy 1. A copy is 8 words, of which the first is the number of entries, then
//              `capacity` entries of 8 words, sorted by base: base, bytes, generation << 8 | flags, the
//              largest end of this entry and those before it, the remote keys of rails 0 to 3.
//
// The owner writes a change to the copy that is not current and then publishes it by storing the version. So
// a reader waits for nobody. It retries only if the version has changed meanwhile, which means that a change
// was completed. An owner that stops in the middle of a change stops no reader.

/// The owner's side of the directory of regions. Thread-safe.
class RegionTable {
 public:
  /// Returns the size in bytes of a directory of up to `capacity` regions (the setting RMA_MAX_REGIONS).
  static std::size_t directory_bytes(std::size_t capacity);

  /// Makes a table without regions. `directory` is zeroed memory of directory_bytes(capacity) bytes, aligned
  /// to 64 bytes, that outlives the table.
  explicit RegionTable(std::span<std::byte> directory);

  /// Lists [base, base + bytes). Regions may overlap. If the same base, bytes and flags are added again, the
  /// table counts it and keeps the keys as they were. The generation and count of `region` are ignored.
  /// RMA_ERR_SIZE for 0 bytes or an end beyond the last address; RMA_ERR_NO_MEMORY if the directory is full;
  /// RMA_ERR_STATE if the same region was added 2^32 - 1 times.
  Status add(const Region& region);
  Status add(std::uintptr_t base, std::size_t bytes, std::uint32_t flags);

  /// Undoes one add of a region that starts at `base` and has these flags. If there are several, undoes the
  /// shortest, so that the remaining ones still cover what the other adds asked for. RMA_ERR_ADDRESS if
  /// there is none.
  Status remove(std::uintptr_t base, std::uint32_t flags = kRegionForeign);

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 private:
  void publish();

  std::span<std::byte> directory_;
  std::size_t capacity_;
  mutable std::mutex mutex_;
  std::vector<Region> regions_;  // sorted by base, then by bytes, then by flags
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

 private:
  struct Copy;

  [[nodiscard]] std::uint64_t version() const;

  const std::uint64_t* words_ = nullptr;
  std::size_t capacity_ = 0;
  mutable std::atomic<std::size_t> last_hit_{0};  // a hint: the entry to look at first, which is checked
                                                  // like any other
};

}  // namespace rma
