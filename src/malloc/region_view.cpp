#include <algorithm>

#include "malloc/directory_search.hpp"
#include "malloc/region_table.hpp"

namespace librma {
namespace {

// The maximum number of retries of one search. An owner writes a leaf and a root for each change, and a
// search reads a few of their words, so even one retry is rare. A directory that changes more often is
// damaged.
constexpr int kMaxTries = 10'000;

// Acquire: a reader that has read a word of a newer version also sees that the version has moved. Pairs
// with the release in region_table.cpp, write_word(). The cast is needed because std::atomic_ref of C++20
// takes no const.
std::uint64_t read_word(const std::uint64_t& word) {
  return std::atomic_ref(const_cast<std::uint64_t&>(word)).load(std::memory_order_acquire);
}

}  // namespace

/// The words of one version, for directory::visit_covering(). They may mix two versions, until the caller has
/// checked the version again.
struct RegionView::Version {
  struct Leaf {
    const std::uint64_t* block;
    std::size_t entries;
    std::size_t outer;
    std::uint64_t end;

    [[nodiscard]] std::uint64_t word(std::size_t at, std::size_t which) const {
      return read_word(block[at * directory::kEntryWords + which]);
    }
    [[nodiscard]] Region region(std::size_t at) const {
      Region region;
      region.base = word(at, directory::kBase);
      region.bytes = word(at, directory::kBytes);
      const std::uint64_t generation_and_flags = word(at, directory::kGenerationAndFlags);
      region.generation = directory::generation_of(generation_and_flags);
      region.flags = directory::flags_of(generation_and_flags);
      for (std::size_t rail = 0; rail < kMaxRails; ++rail)
        region.keys[rail] = word(at, directory::kKeys + rail);
      return region;
    }
  };

  const std::uint64_t* words;
  const directory::Geometry& geometry;
  std::size_t root;
  std::size_t count;

  [[nodiscard]] std::size_t leaves() const { return count; }
  [[nodiscard]] std::uint64_t leaf_word(std::size_t number, std::size_t which) const {
    return read_word(words[geometry.leaf_at(root, number) + which]);
  }
  [[nodiscard]] std::uint64_t base_of(std::size_t number) const {
    return leaf_word(number, directory::kLeafBase);
  }
  [[nodiscard]] Leaf leaf(std::size_t number) const {
    const auto place = directory::LeafPlace::of(leaf_word(number, directory::kLeafPlace));
    const bool valid = place.block < geometry.blocks();
    return {.block = words + geometry.block_at(valid ? place.block : 0),
            .entries = valid ? std::min(place.entries, directory::kLeafEntries) : 0,
            .outer = place.outer,
            .end = leaf_word(number, directory::kLeafEnd)};
  }

  /// Finds an entry that contains the range, and sets `hint` to it. Looks at `hint` first.
  [[nodiscard]] std::optional<Region> search(std::uintptr_t address, std::size_t bytes,
                                             std::size_t& hint) const {
    if (const std::size_t number = hint / directory::kLeafEntries; number < count) {
      const Leaf hinted = leaf(number);
      if (const std::size_t at = hint % directory::kLeafEntries; at < hinted.entries) {
        const Region region = hinted.region(at);
        if (region.covers(address, bytes)) return region;
      }
    }
    std::optional<Region> found;
    directory::visit_covering(*this, address, bytes,
                              [&](std::size_t number, const Leaf& leaf, std::size_t at) {
                                found = leaf.region(at);
                                hint = number * directory::kLeafEntries + at;
                                return true;
                              });
    return found;
  }
};

RegionView::RegionView(std::span<const std::byte> directory) noexcept {
  if (reinterpret_cast<std::uintptr_t>(directory.data()) % alignof(std::uint64_t) != 0) return;
  words_ = reinterpret_cast<const std::uint64_t*>(directory.data());
  geometry_ = directory::Geometry::in_bytes(directory.size());
}

RegionView::RegionView(const RegionView& other) noexcept : words_(other.words_), geometry_(other.geometry_) {}

RegionView& RegionView::operator=(const RegionView& other) noexcept {
  if (this == &other) return *this;
  words_ = other.words_;
  geometry_ = other.geometry_;
  return *this;
}

// Acquire: the reader sees the copy of this version. Pairs with the last store of RegionTable::publish().
std::uint64_t RegionView::version() const { return read_word(words_[0]); }

std::optional<Region> RegionView::find(std::uintptr_t address, std::size_t bytes) const {
  if (geometry_.leaves == 0) return std::nullopt;
  std::uint64_t before = version();
  for (int i = 0; i < kMaxTries; ++i) {
    const std::size_t root = geometry_.root_at(before);
    const Version current{words_, geometry_, root,
                          std::min<std::size_t>(read_word(words_[root]), geometry_.leaves)};
    // Relaxed, because this is only a hint, which is checked.
    const std::size_t old_hint = last_hit_.load(std::memory_order_relaxed);
    std::size_t hint = old_hint;
    std::optional<Region> found = current.search(address, bytes, hint);
    const std::uint64_t after = version();
    if (after == before) {
      // The region is checked again, because a directory that no RegionTable keeps may change
      // without its version.
      if (!found || !found->covers(address, bytes) || found->bytes > UINTPTR_MAX - found->base)
        return std::nullopt;
      if (hint != old_hint) last_hit_.store(hint, std::memory_order_relaxed);
      return found;
    }
    before = after;
  }
  return std::nullopt;
}

bool RegionView::covers(std::uintptr_t address, std::size_t bytes) const {
  if (find(address, bytes)) return true;
  if (bytes == 0) return false;
  // Each step passes the end of a region. A directory that offers more regions than it can hold is damaged.
  for (std::size_t steps = 0; bytes != 0 && steps <= geometry_.leaves * directory::kLeafEntries; ++steps) {
    const std::optional<Region> region = find(address, 1);
    if (!region) return false;
    const std::size_t inside = std::min<std::size_t>(bytes, region->base + region->bytes - address);
    address += inside;
    bytes -= inside;
  }
  return bytes == 0;
}

}  // namespace librma
