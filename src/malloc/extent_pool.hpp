#pragma once

#include <cstddef>
#include <mutex>

#include "malloc/backing.hpp"
#include "malloc/window.hpp"
#include "util/free_ranges.hpp"
#include "util/status.hpp"

namespace librma {

/// Hands out extents, which are backed ranges of the window's addresses. Thread-safe.
///
/// The pool records free ranges only. So an extent may come back in several pieces, or joined with its
/// neighbour. A granule is backed exactly while some byte of it is taken. The lock is therefore held
/// while the system gives memory: a neighbour in the same granule must not be handed out before the
/// memory is there.
class ExtentPool {
 public:
  /// Sizes and offsets of extents are multiples of this number of bytes. A granule is a multiple of it, too.
  static constexpr std::size_t kPage = 4096;

  /// Manages [reserved, window.address_bytes()). `backing` puts memory there and belongs to this window.
  ExtentPool(Window& window, Backing& backing, std::size_t reserved);

  /// The memory in which the pool records one free range. give() takes a Record, so that it need not allocate
  /// and cannot fail. A caller that must not fail in give() makes the Record when it takes the extent.
  using Record = FreeRanges::Record;
  [[nodiscard]] static Record make_record() { return FreeRanges::make_record(); }

  /// Returns the offset of an extent of `bytes` bytes (a multiple of kPage, above 0). Its address is a
  /// multiple of `alignment` (a power of two). RMA_ERR_NO_MEMORY.
  Result<std::size_t> take(std::size_t bytes, std::size_t alignment);
  /// Gives [offset, offset + bytes) back. All of it was taken before.
  void give(std::size_t offset, std::size_t bytes, Record record) noexcept;

  /// Does the same as take() for whole granules of addresses without memory. `bytes` is a multiple of
  /// granule().
  Result<std::size_t> take_addresses(std::size_t bytes, std::size_t alignment);
  /// Gives such addresses back, from which all memory was released.
  void give_addresses(std::size_t offset, std::size_t bytes, Record record) noexcept;
  /// Takes memory for granules of such addresses, which have none. It reads as zeros. RMA_ERR_NO_MEMORY.
  Status back_zeroed(std::size_t offset, std::size_t bytes);
  /// Gives the memory of such granules back.
  void release(std::size_t offset, std::size_t bytes) noexcept;

  /// Returns the number of bytes of which memory is taken.
  [[nodiscard]] std::size_t granule() const noexcept { return granule_; }

  [[nodiscard]] Window& window() const noexcept { return window_; }

 private:
  using Range = FreeRanges::Range;

  enum class Memory { with, without };
  Result<std::size_t> take(std::size_t bytes, std::size_t alignment, Memory memory);
  void give(std::size_t offset, std::size_t bytes, Record record, Memory memory) noexcept;
  [[nodiscard]] Range granules(Range part, Range free) const noexcept;

  Window& window_;
  Backing& backing_;
  const std::size_t granule_;
  std::mutex mutex_;
  FreeRanges free_;
};

}  // namespace librma
