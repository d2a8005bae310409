#include "malloc/region_table.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>

#include "malloc/directory_layout.hpp"
#include "util/text.hpp"
#include "util/try.hpp"

namespace librma {
namespace {

auto order(const Region& region) { return std::tuple(region.base, region.bytes, region.flags); }
bool before(const Region& a, const Region& b) { return order(a) < order(b); }

// Release: a copy is rewritten only after the version has moved away from it. So a reader that sees a word of
// the rewriting also sees that the version has moved. Pairs with the acquire in region_view.cpp, read_word().
void write_word(std::uint64_t& word, std::uint64_t value) {
  std::atomic_ref(word).store(value, std::memory_order_release);
}

Status not_listed(std::uintptr_t base) {
  return {RMA_ERR_ADDRESS, text("no registered region starts at {:#x}", base)};
}

}  // namespace

std::size_t RegionTable::directory_bytes(std::size_t capacity) {
  return directory::Geometry::for_capacity(capacity).bytes();
}

std::size_t RegionTable::first_bytes(std::size_t capacity) {
  return directory::Geometry::for_capacity(capacity).first_bytes();
}

RegionTable::RegionTable(std::span<std::byte> directory, std::size_t capacity, Grow grow)
    : directory_(directory),
      geometry_(directory::Geometry::in_bytes(directory.size())),
      capacity_(std::min(capacity, geometry_.capacity())),
      grow_(std::move(grow)),
      blocks_(std::min(directory::kFirstBlocks, geometry_.blocks())) {
  free_.reserve(blocks_);
  for (std::size_t block = blocks_; block-- > 0;) free_.push_back(block);
  unused_.reserve(directory::kSpareBlocks);
}

Status RegionTable::add(std::uintptr_t base, std::size_t bytes, std::uint32_t flags) {
  Region region;
  region.base = base;
  region.bytes = bytes;
  region.flags = flags;
  return add(region);
}

Status RegionTable::add(const Region& region) {
  if (region.bytes == 0 || region.bytes > std::numeric_limits<std::uintptr_t>::max() - region.base) {
    return {RMA_ERR_SIZE, text("a region of {} bytes at {:#x}", region.bytes, region.base)};
  }
  const std::lock_guard lock(mutex_);
  if (!leaves_.empty()) {
    const auto leaf = leaf_for(region);
    const auto at = std::lower_bound(leaf->regions.begin(), leaf->regions.end(), region, before);
    if (at != leaf->regions.end() && order(*at) == order(region)) {
      if (at->count == std::numeric_limits<std::uint32_t>::max()) {
        return {RMA_ERR_STATE,
                text("the region at {:#x} is registered {} times already", at->base, at->count)};
      }
      ++at->count;
      return {};
    }
  }
  if (size_ >= capacity_) {
    return {RMA_ERR_NO_MEMORY,
            text("no room to list the {} bytes at {:#x}: {} regions are listed, of at most {}; raise "
                 "RMA_MAX_REGIONS, or unregister some",
                 region.bytes, region.base, size_, capacity_)};
  }
  // Two for the leaves that this change may write, less the one that it frees, and two for a removal, which
  // must not fail.
  RMA_TRY(make_free(directory::kSpareBlocks));
  Region listed = region;
  listed.count = 1;
  listed.generation = next_generation_;
  // Allocates before anything changes.
  if (leaves_.size() == leaves_.capacity()) leaves_.reserve(2 * leaves_.size() + 1);
  Leaf fresh;
  fresh.regions.reserve(directory::kLeafEntries);
  insert(listed, std::move(fresh));
  ++next_generation_;
  ++size_;
  publish();
  return {};
}

RegionTable::Leaves::iterator RegionTable::leaf_for(const Region& region) {
  const auto next =
      std::upper_bound(leaves_.begin(), leaves_.end(), region,
                       [](const Region& a, const Leaf& b) { return before(a, b.regions.front()); });
  return next == leaves_.begin() ? next : std::prev(next);
}

Status RegionTable::make_free(std::size_t count) {
  while (free_.size() < count) {
    const std::size_t chunk = directory::chunk_of(blocks_);
    const std::size_t end = std::min(geometry_.blocks(), directory::blocks_before(chunk + 1));
    free_.reserve(end);
    if (grow_) {
      auto keys = grow_(geometry_.block_at(blocks_) * directory::kWord,
                        (end - blocks_) * directory::kBlockWords * directory::kWord);
      if (!keys.ok()) return std::move(keys).status().within("the list of this rank's memory");
      chunk_keys_[chunk] = keys.value();
    }
    // The lowest is taken first, so that memory which was written is written again.
    const auto old = free_.size();
    for (std::size_t block = end; block-- > blocks_;) free_.push_back(block);
    std::rotate(free_.begin(), free_.begin() + static_cast<std::ptrdiff_t>(old), free_.end());
    blocks_ = end;
  }
  return {};
}

void RegionTable::insert(const Region& region, Leaf fresh) {
  if (leaves_.empty()) {
    fresh.regions.push_back(region);
    write(leaves_.emplace_back(std::move(fresh)));
    return;
  }
  const auto leaf = leaf_for(region);
  std::vector<Region>& regions = leaf->regions;
  const auto at = std::lower_bound(regions.begin(), regions.end(), region, before);
  if (regions.size() < directory::kLeafEntries) {
    regions.insert(at, region);
    write(*leaf);
    return;
  }
  if (at == regions.end() && std::next(leaf) == leaves_.end()) {
    // Regions that come in the order of their addresses fill their leaves.
    fresh.regions.push_back(region);
    write(leaves_.emplace_back(std::move(fresh)));
    return;
  }
  const auto half = regions.begin() + directory::kLeafEntries / 2;
  const bool is_low = at < half;
  const auto place = is_low ? at - regions.begin() : at - half;
  fresh.regions.assign(half, regions.end());
  regions.erase(half, regions.end());
  std::vector<Region>& into = is_low ? regions : fresh.regions;
  into.insert(into.begin() + place, region);
  write(*leaf);
  write(fresh);
  leaves_.insert(std::next(leaf), std::move(fresh));
}

Status RegionTable::remove(std::uintptr_t base, std::uint32_t flags) {
  const std::lock_guard lock(mutex_);
  Region first;
  first.base = base;
  if (leaves_.empty()) return not_listed(base);
  auto leaf = leaf_for(first);
  auto at = std::lower_bound(leaf->regions.begin(), leaf->regions.end(), first, before);
  while (true) {
    if (at == leaf->regions.end()) {
      if (++leaf == leaves_.end()) return not_listed(base);
      at = leaf->regions.begin();
    }
    if (at->base != base) return not_listed(base);
    if (at->flags == flags) break;
    ++at;
  }
  if (--at->count != 0) return {};
  leaf->regions.erase(at);
  --size_;
  refill(leaf);
  publish();
  return {};
}

void RegionTable::refill(Leaves::iterator leaf) {
  constexpr std::size_t kHalf = directory::kLeafEntries / 2;
  const bool is_last = std::next(leaf) == leaves_.end();
  if (leaf->regions.empty()) {
    unused_.push_back(leaf->block);
    leaves_.erase(leaf);
    return;
  }
  if (leaf->regions.size() >= kHalf || is_last) return write(*leaf);
  // Takes regions of the leaf behind, or all.
  const auto next = std::next(leaf);
  std::vector<Region>& low = leaf->regions;
  std::vector<Region>& high = next->regions;
  const std::size_t both = low.size() + high.size();
  const std::size_t moved = both <= directory::kLeafEntries ? high.size() : both / 2 - low.size();
  low.insert(low.end(), high.begin(), high.begin() + static_cast<std::ptrdiff_t>(moved));
  high.erase(high.begin(), high.begin() + static_cast<std::ptrdiff_t>(moved));
  write(*leaf);
  if (!high.empty()) return write(*next);
  unused_.push_back(next->block);
  leaves_.erase(next);
}

void RegionTable::write(Leaf& leaf) {
  if (leaf.written != 0) unused_.push_back(leaf.block);
  leaf.block = free_.back();
  free_.pop_back();
  leaf.written = version_ + 1;
  std::uint64_t* const block = words() + geometry_.block_at(leaf.block);
  leaf.end = 0;
  std::array<std::size_t, directory::kLeafEntries> open;  // entries, each of which ends later than the next
  std::size_t opened = 0;
  for (std::size_t i = 0; i < leaf.regions.size(); ++i) {
    const Region& region = leaf.regions[i];
    const std::uint64_t end = region.base + region.bytes;
    const auto ends = [&](std::size_t at) { return leaf.regions[at].base + leaf.regions[at].bytes; };
    while (opened != 0 && ends(open[opened - 1]) <= end) --opened;
    std::uint64_t* const entry = block + i * directory::kEntryWords;
    write_word(entry[directory::kBase], region.base);
    write_word(entry[directory::kBytes], region.bytes);
    write_word(entry[directory::kGenerationAndFlags],
               directory::generation_and_flags(region.generation, region.flags));
    write_word(entry[directory::kOuter], opened == 0 ? 0 : open[opened - 1] + 1);
    for (std::size_t rail = 0; rail < kMaxRails; ++rail) {
      write_word(entry[directory::kKeys + rail], region.keys[rail]);
    }
    open[opened++] = i;
    leaf.end = std::max(leaf.end, end);
  }
}

std::size_t RegionTable::size() const {
  const std::lock_guard lock(mutex_);
  return size_;
}

// Writes the root that is not current, which no reader of the current version reads. Then makes it current.
void RegionTable::publish() {
  const std::uint64_t next = version_ + 1;
  const std::size_t root = geometry_.root_at(next);
  for (std::size_t chunk = 0; directory::blocks_before(chunk) < blocks_; ++chunk) {
    for (std::size_t rail = 0; rail < kMaxRails; ++rail) {
      write_word(words()[geometry_.chunk_keys_at(root, chunk) + rail], chunk_keys_[chunk][rail]);
    }
  }
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    const Leaf& leaf = leaves_[i];
    // The nearest leaf before that ends later. Those in between end earlier than it, so it is among their
    // outer ones.
    std::size_t outer = i;
    while (outer != 0 && leaves_[outer - 1].end <= leaf.end) outer = leaves_[outer - 1].outer;
    leaves_[i].outer = outer;
    std::uint64_t* const words_of_leaf = words() + geometry_.leaf_at(root, i);
    const directory::LeafPlace place = {.outer = outer, .block = leaf.block, .entries = leaf.regions.size()};
    write_word(words_of_leaf[directory::kLeafBase], leaf.regions.front().base);
    write_word(words_of_leaf[directory::kLeafEnd], leaf.end);
    write_word(words_of_leaf[directory::kLeafPlace], place.word());
    write_word(words_of_leaf[directory::kLeafWritten], leaf.written);
  }
  write_word(words()[root], leaves_.size());
  version_ = next;
  // Release: a reader that sees this version sees the whole root and its blocks. Pairs with the acquire in
  // RegionView::version().
  std::atomic_ref(words()[0]).store(next, std::memory_order_release);
  // The change after this one may write what only the version before this one used.
  free_.insert(free_.end(), unused_.begin(), unused_.end());
  unused_.clear();
}

}  // namespace librma
