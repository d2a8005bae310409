#include "malloc/extent_pool.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "util/round.hpp"
#include "util/text.hpp"
#include "util/try.hpp"

namespace librma {
ExtentPool::ExtentPool(Window& window, Backing& backing, std::size_t reserved)
    : window_(window), backing_(backing), granule_(backing.granule()) {
  free_.give({reserved, window.address_bytes()}, make_record());
}

Result<std::size_t> ExtentPool::take(std::size_t bytes, std::size_t alignment) {
  return take(bytes, alignment, Memory::with);
}

Result<std::size_t> ExtentPool::take_addresses(std::size_t bytes, std::size_t alignment) {
  return take(bytes, alignment, Memory::without);
}

void ExtentPool::give(std::size_t offset, std::size_t bytes, Record record) noexcept {
  give(offset, bytes, std::move(record), Memory::with);
}

void ExtentPool::give_addresses(std::size_t offset, std::size_t bytes, Record record) noexcept {
  give(offset, bytes, std::move(record), Memory::without);
}

Status ExtentPool::back_zeroed(std::size_t offset, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  return backing_.back_zeroed(offset, bytes);
}

void ExtentPool::release(std::size_t offset, std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  backing_.release(offset, bytes);
}

Result<std::size_t> ExtentPool::take(std::size_t bytes, std::size_t alignment, Memory memory) {
  const std::lock_guard lock(mutex_);
  const auto base = reinterpret_cast<std::uintptr_t>(window_.base());
  // More than one range is looked at only for alignments above a page.
  const auto found = free_.find(bytes, [&](Range free) -> std::optional<std::size_t> {
    const std::size_t size = free.end - free.begin;
    std::size_t skipped = (alignment - (base + free.begin) % alignment) % alignment;
    if (memory == Memory::without) {
      // Such addresses share no granule with others, whose memory comes and goes at other times.
      skipped = round_up(free.begin, granule_) - free.begin;
      while (skipped <= size - bytes && (base + free.begin + skipped) % alignment != 0) skipped += granule_;
    }
    return skipped <= size - bytes ? std::optional(free.begin + skipped) : std::nullopt;
  });
  if (found) {
    const auto [free, begin] = *found;
    const Range part{begin, begin + bytes};
    const Range fresh = memory == Memory::with ? granules(part, free) : Range{0, 0};
    // Up to two free ranges remain. One of them reuses the record of `free`.
    Record more = free.begin < part.begin ? make_record() : Record();
    if (fresh.begin < fresh.end) {
      RMA_TRY(backing_.back(fresh.begin, fresh.end - fresh.begin));
    }
    free_.take(free, part, std::move(more));
    return part.begin;
  }
  return Status(
      RMA_ERR_NO_MEMORY,
      text("no {} addresses in a row (aligned to {}) are free in the heap window: {} of {} bytes are "
           "used; raise RMA_HEAP_SIZE",
           bytes, alignment, window_.used(), window_.limit()));
}

void ExtentPool::give(std::size_t offset, std::size_t bytes, Record record, Memory memory) noexcept {
  const std::lock_guard lock(mutex_);
  const Range part{offset, offset + bytes};
  const Range unused = granules(part, free_.joined(part));
  if (memory == Memory::with && unused.begin < unused.end)
    backing_.release(unused.begin, unused.end - unused.begin);
  free_.give(part, std::move(record));
}

// Returns the granules that `part` touches and that lie wholly in `free`, which contains `part`: nobody else
// has a byte of them. The result is empty if begin >= end.
ExtentPool::Range ExtentPool::granules(Range part, Range free) const noexcept {
  return {std::max(round_down(part.begin, granule_), round_up(free.begin, granule_)),
          std::min(round_up(part.end, granule_), round_down(free.end, granule_))};
}

}  // namespace librma
