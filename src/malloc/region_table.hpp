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

/// Where a region comes from; what Region::flags is made of.
enum RegionFlag : std::uint32_t {
  kRegionWindow = 1U << 0U,   ///< the heap window: mapped by every process of the owner's host
  kRegionForeign = 1U << 1U,  ///< memory of the owner that the user registered
  kRegionExtent = 1U << 2U    ///< part of the heap window that is registered with the network's devices
};

/// Memory of one process that others may reach.
struct Region {
  std::uintptr_t base = 0;  ///< in the owner's address space
  std::size_t bytes = 0;
  std::uint64_t generation = 0;  ///< differs for every region that a table ever held
  std::uint32_t flags = 0;       ///< RegionFlag
  std::uint32_t count = 0;       ///< how often it was added and not removed; only the owner knows it
  RailKeys keys = {};            ///< remote keys; 0 where a rail does not reach it

  /// True when [address, address + length) lies inside; no overflow makes it so.
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
  /// Bytes of a directory of up to `capacity` regions (the setting RMA_MAX_REGIONS).
  static std::size_t directory_bytes(std::size_t capacity);

  /// Starts with no region. `directory` is zeroed memory that outlives the table, 64-byte aligned, of
  /// directory_bytes(capacity) bytes.
  explicit RegionTable(std::span<std::byte> directory);

  /// Makes [base, base + bytes) reachable. Regions may overlap; adding the same base, bytes and flags again
  /// is counted (and the keys stay as they were). RMA_ERR_SIZE for 0 bytes or an end past the last address;
  /// RMA_ERR_NO_MEMORY when the directory is full. Of `region`, generation and count are ignored.
  Status add(const Region& region);
  Status add(std::uintptr_t base, std::size_t bytes, std::uint32_t flags);

  /// Takes back one add of a region that starts at `base` and has these flags: of several, of the shortest,
  /// so that what remains covers what the others asked for. RMA_ERR_ADDRESS when there is none.
  Status remove(std::uintptr_t base, std::uint32_t flags = kRegionForeign);

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 private:
  void publish();

  std::span<std::byte> directory_;
  std::size_t capacity_;
  mutable std::mutex mutex_;
  std::vector<Region> regions_;  // sorted by base, then bytes, then flags
  std::uint64_t version_ = 0;
  std::uint64_t next_generation_ = 1;
};

/// A reader's side: finds regions in a directory that is mapped here (or copied) while its owner changes it.
/// Believes nothing it reads: whatever the directory holds, find() ends and stays inside it. Thread-safe.
class RegionView {
 public:
  RegionView() noexcept = default;
  /// `directory` as given to the owner's RegionTable; one that is too small or misaligned holds no region.
  explicit RegionView(std::span<const std::byte> directory) noexcept;
  RegionView(const RegionView& other) noexcept;
  RegionView& operator=(const RegionView& other) noexcept;
  ~RegionView() = default;

  /// A region that holds all of [address, address + bytes), as it was at one moment of the call.
  [[nodiscard]] std::optional<Region> find(std::uintptr_t address, std::size_t bytes) const;

 private:
  struct Copy;

  [[nodiscard]] std::uint64_t version() const;

  const std::uint64_t* words_ = nullptr;
  std::size_t capacity_ = 0;
  mutable std::atomic<std::size_t> last_hit_{0};  // the entry to look at first: a hint, checked as any other
};

}  // namespace rma
