#include "malloc/extent_pool.hpp"

#include <algorithm>
#include <iterator>

#include "util/round.hpp"
#include "util/text.hpp"
#include "util/try.hpp"

namespace rma {
ExtentPool::ExtentPool(Window& window, Backing& backing, std::size_t reserved)
    : window_(window), backing_(backing), granule_(backing.granule()) {
  insert({reserved, window.address_bytes()}, make_record());
}

ExtentPool::Record ExtentPool::make_record() {
  Record record;
  std::map<std::size_t, std::size_t> by_begin = {{0, 0}};
  record.by_begin_ = by_begin.extract(by_begin.begin());
  std::set<std::pair<std::size_t, std::size_t>> by_size = {{0, 0}};
  record.by_size_ = by_size.extract(by_size.begin());
  return record;
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
  // Takes the best fit with the lowest address. The loop looks at more than one range only for alignments
  // above a page.
  for (auto it = size_and_begin_.lower_bound({bytes, 0}); it != size_and_begin_.end(); ++it) {
    const auto [size, begin] = *it;
    std::size_t skipped = (alignment - (base + begin) % alignment) % alignment;
    if (memory == Memory::without) {
      // Such addresses share no granule with others, whose memory comes and goes at other times.
      skipped = round_up(begin, granule_) - begin;
      while (skipped <= size - bytes && (base + begin + skipped) % alignment != 0) skipped += granule_;
    }
    if (skipped > size - bytes) continue;
    const Range free{begin, begin + size};
    const Range part{begin + skipped, begin + skipped + bytes};
    const Range fresh = memory == Memory::with ? granules(part, free) : Range{0, 0};
    // Up to two free ranges remain. One of them reuses the record of `free`.
    Record more = free.begin < part.begin ? make_record() : Record();
    if (fresh.begin < fresh.end) {
      RMA_TRY(backing_.back(fresh.begin, fresh.end - fresh.begin));
    }
    insert({part.end, free.end}, erase(free));
    insert({free.begin, part.begin}, std::move(more));
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
  Range free = part;
  const auto next = end_by_begin_.lower_bound(part.begin);
  const bool joins_next = next != end_by_begin_.end() && next->first == part.end;
  const bool joins_previous = next != end_by_begin_.begin() && std::prev(next)->second == part.begin;
  const Range before = joins_previous ? Range{std::prev(next)->first, part.begin} : Range{0, 0};
  const Range after = joins_next ? Range{part.end, next->second} : Range{0, 0};
  if (joins_previous) {
    free.begin = before.begin;
    record = erase(before);
  }
  if (joins_next) {
    free.end = after.end;
    record = erase(after);
  }
  const Range unused = granules(part, free);
  if (memory == Memory::with && unused.begin < unused.end)
    backing_.release(unused.begin, unused.end - unused.begin);
  insert(free, std::move(record));
}

// Returns the granules that `part` touches and that lie wholly in `free`, which contains `part`: nobody else
// has a byte of them. The result is empty if begin >= end.
ExtentPool::Range ExtentPool::granules(Range part, Range free) const noexcept {
  return {std::max(round_down(part.begin, granule_), round_up(free.begin, granule_)),
          std::min(round_up(part.end, granule_), round_down(free.end, granule_))};
}

void ExtentPool::insert(Range range, Record record) noexcept {
  if (range.begin == range.end) return;
  record.by_begin_.key() = range.begin;
  record.by_begin_.mapped() = range.end;
  end_by_begin_.insert(std::move(record.by_begin_));
  record.by_size_.value() = {range.end - range.begin, range.begin};
  size_and_begin_.insert(std::move(record.by_size_));
}

ExtentPool::Record ExtentPool::erase(Range range) noexcept {
  Record record;
  record.by_begin_ = end_by_begin_.extract(range.begin);
  record.by_size_ = size_and_begin_.extract({range.end - range.begin, range.begin});
  return record;
}

}  // namespace rma
