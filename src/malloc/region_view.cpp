#include <algorithm>

#include "malloc/directory_layout.hpp"
#include "malloc/region_table.hpp"

namespace rma {
namespace {

// The maximum number of retries of one search. An owner rewrites all entries for each change, and a search
// reads only a few, so even one retry is rare. A directory that changes more often is damaged.
constexpr int kMaxTries = 10'000;

// Acquire: a reader that has read a word of a newer version also sees that the version has moved. Pairs
// with the release in region_table.cpp, write_word(). The cast is needed because std::atomic_ref of C++20
// takes no const.
std::uint64_t read_word(const std::uint64_t& word) {
  return std::atomic_ref(const_cast<std::uint64_t&>(word)).load(std::memory_order_acquire);
}

}  // namespace

/// One copy of the entries. The words that it returns may mix two versions, until the caller has checked
/// the version again.
struct RegionView::Copy {
  const std::uint64_t* words;
  std::size_t start;
  std::size_t entries;

  [[nodiscard]] std::uint64_t word(std::size_t index, std::size_t which) const {
    return read_word(words[directory::entry_at(start, index) + which]);
  }

  [[nodiscard]] bool covers(std::size_t index, std::uintptr_t address, std::size_t bytes) const {
    Region region;
    region.base = word(index, directory::kBase);
    region.bytes = word(index, directory::kBytes);
    return region.covers(address, bytes);
  }

  [[nodiscard]] Region entry(std::size_t index) const {
    Region region;
    region.base = word(index, directory::kBase);
    region.bytes = word(index, directory::kBytes);
    const std::uint64_t generation_and_flags = word(index, directory::kGenerationAndFlags);
    region.generation = directory::generation_of(generation_and_flags);
    region.flags = directory::flags_of(generation_and_flags);
    for (std::size_t rail = 0; rail < kMaxRails; ++rail) {
      region.keys[rail] = word(index, directory::kKeys + rail);
    }
    return region;
  }

  /// Returns the index of an entry that covers the range, or `entries` if there is none. Looks
  /// at `hint` first.
  [[nodiscard]] std::size_t search(std::uintptr_t address, std::size_t bytes, std::size_t hint) const {
    if (hint < entries && covers(hint, address, bytes)) return hint;
    std::size_t begin = 0;
    std::size_t end = entries;
    while (begin < end) {
      const std::size_t middle = begin + (end - begin) / 2;
      if (word(middle, directory::kBase) <= address) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    // The entries before `begin` start early enough. If regions overlap, the last of them may not cover the
    // range and an earlier one may. Once no end reaches the address, no earlier entry covers it.
    while (begin-- > 0) {
      if (covers(begin, address, bytes)) return begin;
      if (word(begin, directory::kReach) < address) break;
    }
    return entries;
  }
};

RegionView::RegionView(std::span<const std::byte> directory) noexcept {
  if (reinterpret_cast<std::uintptr_t>(directory.data()) % alignof(std::uint64_t) != 0) return;
  words_ = reinterpret_cast<const std::uint64_t*>(directory.data());
  capacity_ = directory::capacity_of(directory.size());
}

RegionView::RegionView(const RegionView& other) noexcept : words_(other.words_), capacity_(other.capacity_) {}

RegionView& RegionView::operator=(const RegionView& other) noexcept {
  if (this == &other) return *this;
  words_ = other.words_;
  capacity_ = other.capacity_;
  return *this;
}

// Acquire: the reader sees the copy of this version. Pairs with the last store of RegionTable::publish().
std::uint64_t RegionView::version() const { return read_word(words_[0]); }

std::optional<Region> RegionView::find(std::uintptr_t address, std::size_t bytes) const {
  if (capacity_ == 0) return std::nullopt;
  std::uint64_t before = version();
  for (int i = 0; i < kMaxTries; ++i) {
    const std::size_t start = directory::copy_at(before, capacity_);
    const Copy copy{words_, start, std::min<std::size_t>(read_word(words_[start]), capacity_)};
    // Relaxed, because this is only a hint, which is checked.
    const std::size_t at = copy.search(address, bytes, last_hit_.load(std::memory_order_relaxed));
    std::optional<Region> found;
    if (at < copy.entries) found = copy.entry(at);
    const std::uint64_t after = version();
    if (after == before) {
      // The region is checked again, because a directory that no RegionTable keeps may change
      // without its version.
      if (!found || !found->covers(address, bytes) || found->bytes > UINTPTR_MAX - found->base)
        return std::nullopt;
      if (last_hit_.load(std::memory_order_relaxed) != at) last_hit_.store(at, std::memory_order_relaxed);
      return found;
    }
    before = after;
  }
  return std::nullopt;
}

}  // namespace rma
