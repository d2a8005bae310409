#include "core/network/remote_memory.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "malloc/directory_layout.hpp"
#include "util/statistics.hpp"
#include "util/text.hpp"

namespace rma {
namespace {

/// The most times that a directory is read again because it has changed meanwhile. A directory of a
/// RegionTable does not change so often.
constexpr int kMaxTries = 1000;

Region region_of(const std::uint64_t* words, const RailMatch& rails) {
  Region region;
  region.base = words[directory::kBase];
  region.bytes = words[directory::kBytes];
  region.generation = directory::generation_of(words[directory::kGenerationAndFlags]);
  region.flags = directory::flags_of(words[directory::kGenerationAndFlags]);
  for (std::size_t i = 0; i < kMaxRails; ++i) region.keys[i] = words[directory::kKeys + i];
  region.keys = rails.by_mine(region.keys);
  return region;
}

bool has_keys(const Region& region) {
  return std::any_of(region.keys.begin(), region.keys.end(), [](transport::Key key) { return key != 0; });
}

}  // namespace

std::optional<Region> RemoteMemory::known(std::uintptr_t address) const {
  auto next = std::upper_bound(regions_.begin(), regions_.end(), address,
                               [](std::uintptr_t a, const Region& region) { return a < region.base; });
  // Regions overlap. The window's own entry, which has no key, contains all extents, and the user's regions
  // may lie anywhere. A region with keys is better than any without.
  std::optional<Region> found;
  while (next != regions_.begin()) {
    --next;
    if (!next->covers(address, 1)) continue;
    if (has_keys(*next)) return *next;
    if (!found) found = *next;
  }
  return found;
}

Status RemoteMemory::read_entries(Reader& reader, std::uint64_t version, std::vector<Region>& regions) {
  const std::size_t capacity = directory::capacity_of(place_.bytes);
  const std::uintptr_t copy = place_.address + directory::copy_at(version, capacity) * sizeof(std::uint64_t);
  std::uint64_t count = 0;
  if (Status status = reader.read(reinterpret_cast<std::byte*>(&count), copy, sizeof count); !status.ok()) {
    return status;
  }
  count = std::min<std::uint64_t>(count, capacity);
  std::vector<std::uint64_t> words(count * directory::kEntryWords);
  if (count != 0) {
    const std::uintptr_t first = copy + directory::kCopyHeaderWords * sizeof(std::uint64_t);
    if (Status status = reader.read(reinterpret_cast<std::byte*>(words.data()), first, words.size() * 8);
        !status.ok()) {
      return status;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Region region = region_of(&words[i * directory::kEntryWords], rails_);
    if (region.bytes <= UINTPTR_MAX - region.base) regions.push_back(region);
  }
  return {};
}

Status RemoteMemory::refresh(Reader& reader) {
  rma::count(Counter::directory_read);
  for (int i = 0; i < kMaxTries; ++i) {
    std::uint64_t before = 0;
    std::uint64_t after = 0;
    std::vector<Region> regions;
    const auto read_version = [&](std::uint64_t& version) {
      return reader.read(reinterpret_cast<std::byte*>(&version), place_.address, sizeof version);
    };
    if (Status status = read_version(before); !status.ok()) return status;
    if (Status status = read_entries(reader, before, regions); !status.ok()) return status;
    if (Status status = read_version(after); !status.ok()) return status;
    if (before != after) continue;
    std::stable_sort(regions.begin(), regions.end(),
                     [](const Region& a, const Region& b) { return a.base < b.base; });
    const std::unique_lock guard(lock_);
    regions_ = std::move(regions);
    version_ = before;
    return {};
  }
  return {RMA_ERR_STATE, text("the list of rank {}'s memory changes all the time", rank_)};
}

Result<RemoteRange> RemoteMemory::find(std::uintptr_t address, std::size_t bytes, Reader& reader) {
  std::optional<Region> region;
  std::uint64_t version = 0;
  {
    const std::shared_lock guard(lock_);
    region = known(address);
    version = version_;
  }
  bool current = region && (region->flags & kRegionExtent) != 0;
  if (!current) {
    if (place_.keys == decltype(place_.keys){}) {
      return Status(RMA_ERR_UNSUPPORTED, text("rank {} could not register the list of its memory with the "
                                              "network: raise its limit of locked memory (ulimit -l)",
                                              rank_));
    }
    std::uint64_t now = 0;
    if (region && has_keys(*region)) {
      Status status = reader.read(reinterpret_cast<std::byte*>(&now), place_.address, sizeof now);
      if (!status.ok()) return status;
      current = now == version;
    }
  }
  if (!current) {
    if (Status status = refresh(reader); !status.ok()) return status;
    const std::shared_lock guard(lock_);
    region = known(address);
  }
  // A region without a key is the window or the user's. No memory is listed beyond its end.
  if (!region || (!has_keys(*region) && !region->covers(address, bytes))) {
    return Status(RMA_ERR_ADDRESS,
                  text("{} bytes at {:#x} of rank {} are neither in its heap nor registered there "
                       "(rma_malloc, rma_malloc_local, rma_register)",
                       bytes, address, rank_));
  }
  if (!has_keys(*region)) {
    return Status(RMA_ERR_UNSUPPORTED,
                  text("{} bytes at {:#x} of rank {} are out of the network's reach: that memory is not "
                       "allocated, or could not be registered there; raise its limit of locked memory "
                       "(ulimit -l)",
                       bytes, address, rank_));
  }
  return RemoteRange{.bytes = region->bytes - (address - region->base), .keys = region->keys};
}

}  // namespace rma
