#include "malloc/region_table.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "malloc/directory_layout.hpp"
#include "util/text.hpp"

namespace rma {
namespace {

auto order(const Region& region) { return std::tuple(region.base, region.bytes, region.flags); }
bool before(const Region& a, const Region& b) { return order(a) < order(b); }

// Release: a copy is rewritten only after the version has moved away from it. So a reader that sees a word of
// the rewriting also sees that the version has moved. Pairs with the acquire in region_view.cpp, read_word().
void write_word(std::uint64_t& word, std::uint64_t value) {
  std::atomic_ref(word).store(value, std::memory_order_release);
}

}  // namespace

std::size_t RegionTable::directory_bytes(std::size_t capacity) { return directory::bytes_for(capacity); }

RegionTable::RegionTable(std::span<std::byte> directory)
    : directory_(directory), capacity_(directory::capacity_of(directory.size())) {}

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
  const auto at = std::lower_bound(regions_.begin(), regions_.end(), region, before);
  if (at != regions_.end() && order(*at) == order(region)) {
    if (at->count == std::numeric_limits<std::uint32_t>::max()) {
      return {RMA_ERR_STATE, text("the region at {:#x} is registered {} times already", at->base, at->count)};
    }
    ++at->count;
  } else if (regions_.size() >= capacity_) {
    return {RMA_ERR_NO_MEMORY,
            text("no room to list the {} bytes at {:#x}: {} regions are listed, of at most {}; raise "
                 "RMA_MAX_REGIONS, or unregister some",
                 region.bytes, region.base, regions_.size(), capacity_)};
  } else {
    Region listed = region;
    listed.count = 1;
    listed.generation = next_generation_++;
    regions_.insert(at, listed);
  }
  publish();
  return {};
}

Status RegionTable::remove(std::uintptr_t base, std::uint32_t flags) {
  const std::lock_guard lock(mutex_);
  Region first;
  first.base = base;
  auto at = std::lower_bound(regions_.begin(), regions_.end(), first, before);
  while (at != regions_.end() && at->base == base && at->flags != flags) ++at;
  if (at == regions_.end() || at->base != base) {
    return {RMA_ERR_ADDRESS, text("no registered region starts at {:#x}", base)};
  }
  if (--at->count == 0) regions_.erase(at);
  publish();
  return {};
}

std::size_t RegionTable::size() const {
  const std::lock_guard lock(mutex_);
  return regions_.size();
}

// Writes the table to the copy that is not current, which no reader of the current version reads. Then makes
// that copy current.
void RegionTable::publish() {
  auto* words = reinterpret_cast<std::uint64_t*>(directory_.data());
  const std::uint64_t next = version_ + 1;
  const std::size_t copy = directory::copy_at(next, capacity_);
  std::uint64_t reach = 0;
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    const Region& region = regions_[i];
    std::uint64_t* entry = words + directory::entry_at(copy, i);
    reach = std::max<std::uint64_t>(reach, region.base + region.bytes);
    write_word(entry[directory::kBase], region.base);
    write_word(entry[directory::kBytes], region.bytes);
    write_word(entry[directory::kGenerationAndFlags],
               directory::generation_and_flags(region.generation, region.flags));
    write_word(entry[directory::kReach], reach);
    for (std::size_t rail = 0; rail < kMaxRails; ++rail) {
      write_word(entry[directory::kKeys + rail], region.keys[rail]);
    }
  }
  write_word(words[copy], regions_.size());
  version_ = next;
  // Release: a reader that sees this version sees the whole copy. Pairs with the
  // acquire in RegionView::version().
  std::atomic_ref(words[0]).store(next, std::memory_order_release);
}

}  // namespace rma
