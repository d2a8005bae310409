#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "malloc/arena.hpp"
#include "malloc/backing.hpp"
#include "malloc/extent_pool.hpp"
#include "malloc/region_table.hpp"
#include "malloc/window.hpp"
#include "util/status.hpp"

namespace rma {

/// Who a block is for; it is freed as what it was allocated as.
enum class MemoryKind {
  collective,  ///< rma_malloc
  local,       ///< rma_malloc_local
  internal     ///< the library itself
};

/// The allocator of the heap window. Thread-safe.
///
/// Blocks of up to 14 KiB come from jemalloc, from an arena for each kind (internal shares local's) whose
/// extents are taken from the window. Larger ones, and those aligned to more than a page, are extents of
/// their own, so that RMA_HEAP_SIZE counts whole pages of what was asked for and not jemalloc's larger size
/// classes. All of a block is backed before it is given out, and what is freed goes back to the system as
/// soon as its page holds no other block.
class Allocator {
 public:
  /// Lists the window in `regions` and manages it from its byte `reserved` on (a multiple of the backing's
  /// granule): what is before is the caller's to back and use. All three must outlive the allocator and stay
  /// where they are, and a window has one allocator at a time.
  static Result<std::unique_ptr<Allocator>> create(Window& window, Backing& backing, RegionTable& regions,
                                                   std::size_t reserved = 0);

  /// Gives back whatever is still allocated and takes the window out of the region table.
  ~Allocator();
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  /// A block of `bytes` bytes (above 0) whose address is a multiple of `alignment` (a power of two). Its
  /// contents are arbitrary. RMA_ERR_SIZE, RMA_ERR_ALIGNMENT, RMA_ERR_NO_MEMORY.
  Result<std::byte*> allocate(MemoryKind kind, std::size_t bytes, std::size_t alignment);

  /// Ends a block. RMA_ERR_ADDRESS, naming the address, when no live block of that kind starts there: freed
  /// before, the middle of a block, allocated as another kind, or not this allocator's at all.
  Status free(MemoryKind kind, void* address);

  /// True when [address, address + bytes) lies inside the window.
  [[nodiscard]] bool contains(const void* address, std::size_t bytes) const noexcept;

  /// Sum of the sizes asked for of live blocks.
  [[nodiscard]] std::size_t bytes_in_use() const;
  [[nodiscard]] std::size_t blocks_in_use() const;

 private:
  struct Block {
    std::size_t bytes = 0;
    MemoryKind kind = MemoryKind::internal;
    bool own_extent = false;
    ExtentPool::Record record;  ///< to give its own extent back with
  };

  Allocator(Window& window, Backing& backing, RegionTable& regions, std::size_t reserved);
  [[nodiscard]] Arena& arena(MemoryKind kind) noexcept;
  Result<std::byte*> take_extent(std::size_t bytes, std::size_t alignment);
  void give_extent(std::byte* address, std::size_t bytes, ExtentPool::Record record) noexcept;
  [[nodiscard]] static std::size_t extent_bytes(std::size_t bytes) noexcept;

  Window& window_;
  RegionTable& regions_;
  ExtentPool extents_;
  std::unique_ptr<Arena> collective_;  // these two take from extents_
  std::unique_ptr<Arena> local_;
  bool listed_ = false;  // in regions_

  mutable std::mutex mutex_;  // of the two below
  std::unordered_map<std::uintptr_t, Block> blocks_;
  std::size_t bytes_in_use_ = 0;
};

}  // namespace rma
