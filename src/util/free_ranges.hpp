#pragma once

#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace librma {

/// The free ranges of some room that is handed out in pieces, by offset and by size. No range is empty, and
/// no two touch. Not thread-safe.
class FreeRanges {
 public:
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  /// The memory in which one range is recorded. A caller that must not fail when it gives a range back makes
  /// the Record before.
  class Record {
   public:
    Record() = default;

   private:
    friend class FreeRanges;
    std::map<std::size_t, std::size_t>::node_type by_begin_;
    std::set<std::pair<std::size_t, std::size_t>>::node_type by_size_;
  };
  [[nodiscard]] static Record make_record() {
    Record record;
    std::map<std::size_t, std::size_t> by_begin = {{0, 0}};
    record.by_begin_ = by_begin.extract(by_begin.begin());
    std::set<std::pair<std::size_t, std::size_t>> by_size = {{0, 0}};
    record.by_size_ = by_size.extract(by_size.begin());
    return record;
  }

  /// Finds the best fit for `bytes` bytes: the smallest range in which `place(range)` finds a place for them,
  /// and among ranges of one size the first. `place` gets ranges of at least `bytes` bytes, and returns where
  /// in the range the bytes begin, or no value. Returns the range and the place.
  template <typename Place>
  [[nodiscard]] std::optional<std::pair<Range, std::size_t>> find(std::size_t bytes,
                                                                  const Place& place) const {
    for (auto it = by_size_.lower_bound({bytes, 0}); it != by_size_.end(); ++it) {
      const Range range{it->second, it->second + it->first};
      if (const std::optional<std::size_t> begin = place(range)) return std::pair(range, *begin);
    }
    return std::nullopt;
  }

  /// Takes `part` out of the free range `range`. `more` is the record for what stays free in front of it; it
  /// may be empty if nothing does.
  void take(Range range, Range part, Record more) noexcept {
    insert({part.end, range.end}, erase(range));
    insert({range.begin, part.begin}, std::move(more));
  }

  /// Returns the range that there will be once `part` is free.
  [[nodiscard]] Range joined(Range part) const noexcept {
    const auto next = end_by_begin_.lower_bound(part.begin);
    Range whole = part;
    if (next != end_by_begin_.end() && next->first == part.end) whole.end = next->second;
    if (next != end_by_begin_.begin() && std::prev(next)->second == part.begin)
      whole.begin = std::prev(next)->first;
    return whole;
  }
  /// Makes `part` free, which is in no free range.
  void give(Range part, Record record) noexcept {
    const Range whole = joined(part);
    if (whole.begin != part.begin) record = erase({whole.begin, part.begin});
    if (whole.end != part.end) record = erase({part.end, whole.end});
    insert(whole, std::move(record));
  }

 private:
  void insert(Range range, Record record) noexcept {
    if (range.begin == range.end) return;
    record.by_begin_.key() = range.begin;
    record.by_begin_.mapped() = range.end;
    end_by_begin_.insert(std::move(record.by_begin_));
    record.by_size_.value() = {range.end - range.begin, range.begin};
    by_size_.insert(std::move(record.by_size_));
  }
  /// Removes a free range and returns its record.
  Record erase(Range range) noexcept {
    Record record;
    record.by_begin_ = end_by_begin_.extract(range.begin);
    record.by_size_ = by_size_.extract({range.end - range.begin, range.begin});
    return record;
  }

  std::map<std::size_t, std::size_t> end_by_begin_;
  std::set<std::pair<std::size_t, std::size_t>> by_size_;  ///< size and begin
};

}  // namespace librma
