#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "malloc/arena.hpp"
#include "malloc/backing.hpp"
#include "malloc/extent_pool.hpp"
#include "malloc/region_table.hpp"
#include "malloc/window.hpp"
#include "util/status.hpp"

namespace librma {

/// The purpose of a block. A block must be freed with the kind that it was allocated with.
enum class MemoryKind {
  collective,  ///< rma_malloc
  local,       ///< rma_malloc_local
  internal     ///< the library itself
};

/// The allocator of the heap window. Thread-safe.
///
/// Blocks of up to 14 KiB come from jemalloc. Each kind has an arena (internal shares that of local), which
/// takes its extents from the window. Larger blocks, and blocks aligned to more than a page, are extents of
/// their own. RMA_HEAP_SIZE then counts whole pages of the requested size, not jemalloc's larger size
/// classes. All of a block is backed before it is given out. Freed memory goes back to the backing as soon as
/// its page holds no other block.
class Allocator {
 public:
  /// Lists the window in `regions` and manages it from its byte `reserved` on, which is a multiple of the
  /// backing's granule. The caller backs and uses the bytes before. All three objects must outlive the
  /// allocator and not move. A window has one allocator at a time.
  static Result<std::unique_ptr<Allocator>> create(Window& window, Backing& backing, RegionTable& regions,
                                                   std::size_t reserved = 0);

  /// Gives back all blocks that are still allocated and removes the window from the region table.
  ~Allocator();
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  /// Returns a block of `bytes` bytes (above 0) whose address is a multiple of `alignment` (a power of two).
  /// Its contents are arbitrary. RMA_ERR_SIZE, RMA_ERR_ALIGNMENT, RMA_ERR_NO_MEMORY.
  Result<std::byte*> allocate(MemoryKind kind, std::size_t bytes, std::size_t alignment);

  /// Returns a range of `bytes` addresses (above 0) without memory, which counts as a block of
  /// MemoryKind::collective. The arguments and errors are those of allocate().
  Result<std::byte*> reserve(std::size_t bytes, std::size_t alignment);
  /// Backs the pages of [address, address + bytes) that have no memory yet. New memory reads as zeros.
  /// RMA_ERR_ADDRESS if the bytes are not inside one live range of reserve(). After RMA_ERR_NO_MEMORY some of
  /// the pages may have memory.
  Status commit(const void* address, std::size_t bytes);

  /// Frees a block. RMA_ERR_ADDRESS if no live block of that kind starts at `address`: it was freed before,
  /// it is the middle of a block, it was allocated as another kind, or it is not from this allocator.
  Status free(MemoryKind kind, void* address);

  /// Returns whether [address, address + bytes) lies inside the window.
  [[nodiscard]] bool contains(const void* address, std::size_t bytes) const noexcept;

  /// Returns the sum of the requested sizes of all live blocks. Ranges of reserve() do not count.
  [[nodiscard]] std::size_t bytes_in_use() const;
  [[nodiscard]] std::size_t blocks_in_use() const;

 private:
  struct AllocatedBlock {
    std::size_t bytes = 0;
    MemoryKind kind = MemoryKind::internal;
    bool own_extent = false;
    ExtentPool::Record record;  ///< for giving its own extent back
  };

  /// Addresses whose memory comes piece by piece.
  struct Reservation {
    std::size_t bytes = 0;        ///< whole granules
    std::vector<bool> committed;  ///< by granule: whether it has memory
    ExtentPool::Record record;    ///< for giving the addresses back
  };

  Allocator(Window& window, Backing& backing, RegionTable& regions, std::size_t reserved);
  [[nodiscard]] std::size_t offset_of(std::uintptr_t address) const noexcept;
  void give_reservation(std::uintptr_t address, Reservation& reservation) noexcept;
  [[nodiscard]] Arena& arena(MemoryKind kind) noexcept;
  Result<std::byte*> take_extent(std::size_t bytes, std::size_t alignment);
  void give_extent(std::byte* address, std::size_t bytes, ExtentPool::Record record) noexcept;
  [[nodiscard]] static std::size_t extent_bytes(std::size_t bytes) noexcept;

  Window& window_;
  RegionTable& regions_;
  ExtentPool extents_;
  std::unique_ptr<Arena> collective_;  // these two arenas take from extents_
  std::unique_ptr<Arena> local_;
  bool listed_ = false;  // the window is in regions_

  mutable std::mutex mutex_;  // guards the members below
  std::unordered_map<std::uintptr_t, AllocatedBlock> blocks_;
  std::map<std::uintptr_t, Reservation> reservations_;
  std::size_t bytes_in_use_ = 0;
};

}  // namespace librma
