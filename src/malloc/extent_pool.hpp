#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "malloc/backing.hpp"
#include "malloc/window.hpp"
#include "util/status.hpp"

namespace rma {

/// Hands out extents: ranges of the window's addresses that are backed. Thread-safe.
///
/// Knows free ranges only, so what was taken in one piece may come back in several, or joined with its
/// neighbour. The backing has a granule exactly while some byte of it is taken; that is why the lock is held
/// while the system gives memory: a neighbour in the same granule must not be handed out before it is there.
class ExtentPool {
 public:
  /// What sizes and offsets of extents are multiples of. A granule is a multiple of it.
  static constexpr std::size_t kPage = 4096;

  /// Manages [reserved, window.address_bytes()); `backing`, of this window, puts memory there.
  ExtentPool(Window& window, Backing& backing, std::size_t reserved);

  /// The memory in which the pool notes one free range. What is given back brings some, so that giving back
  /// cannot fail; who must not fail then makes it when he takes.
  class Record {
   public:
    Record() = default;

   private:
    friend class ExtentPool;
    std::map<std::size_t, std::size_t>::node_type by_begin_;
    std::set<std::pair<std::size_t, std::size_t>>::node_type by_size_;
  };
  [[nodiscard]] static Record make_record();

  /// The offset of `bytes` bytes (a multiple of kPage, above 0), itself a multiple of `alignment` (a power of
  /// two) as an address. RMA_ERR_NO_MEMORY.
  Result<std::size_t> take(std::size_t bytes, std::size_t alignment);
  /// [offset, offset + bytes), all of it taken before.
  void give(std::size_t offset, std::size_t bytes, Record record) noexcept;

  [[nodiscard]] Window& window() const noexcept { return window_; }

 private:
  struct Range {
    std::size_t begin;
    std::size_t end;
  };

  [[nodiscard]] Range granules(Range part, Range free) const noexcept;
  void insert(Range range, Record record) noexcept;
  /// What it was noted in.
  Record erase(Range range) noexcept;

  Window& window_;
  Backing& backing_;
  const std::size_t granule_;
  std::mutex mutex_;
  // The free ranges, none empty and no two adjacent, by offset and by size.
  std::map<std::size_t, std::size_t> end_by_begin_;
  std::set<std::pair<std::size_t, std::size_t>> size_and_begin_;
};

}  // namespace rma
