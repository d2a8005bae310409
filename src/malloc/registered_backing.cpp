#include "malloc/registered_backing.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <mutex>

#include "util/log.hpp"
#include "util/range_check.hpp"
#include "util/text.hpp"
#include "util/try.hpp"

namespace librma {
namespace {

/// If an extent cannot be registered as a whole, its halves are tried, and their halves, down to this size.
constexpr std::size_t kLeast = std::size_t{64} << 10U;

/// Returns a node for a map of this type. Inserting the node does not allocate.
template <typename Map>
typename Map::node_type node_of() {
  Map map;
  map.try_emplace({});
  return map.extract(map.begin());
}

}  // namespace

RegisteredBacking::RegisteredBacking(Window& window, RegionTable& regions, Registrar& registrar,
                                     std::size_t extent)
    : window_(window),
      regions_(regions),
      registrar_(registrar),
      extent_((extent + window.granule() - 1) / window.granule() * window.granule()) {}

RegisteredBacking::~RegisteredBacking() {
  for (const auto& [address, registered] : registered_) {
    // This cannot fail, because the extent was listed when it was registered.
    static_cast<void>(regions_.remove(address, kRegionExtent));
    registrar_.remove(registered);
  }
}

void RegisteredBacking::adopt(std::size_t offset, std::size_t bytes) {
  auto note = node_of<Ends>();
  enlist(offset, bytes);
  note_backed(offset, offset + bytes, std::move(note));
}

Status RegisteredBacking::back(std::size_t offset, std::size_t bytes) {
  return back(offset, offset + bytes, Old::kept);
}

Status RegisteredBacking::back_zeroed(std::size_t offset, std::size_t bytes) {
  return back(offset, offset + bytes, Old::zeroed);
}

Status RegisteredBacking::back(std::size_t offset, std::size_t end, Old old) {
  while (offset < end) {
    const auto next = backed_.upper_bound(offset);
    if (next != backed_.begin() && std::prev(next)->second > offset) {
      const std::size_t old_end = std::min(end, std::prev(next)->second);
      if (old == Old::zeroed) std::memset(window_.base() + offset, 0, old_end - offset);
      offset = old_end;
      continue;
    }
    const std::size_t gap_end = next == backed_.end() ? end : std::min(end, next->first);
    auto note = node_of<Ends>();
    RMA_TRY(window_.back(offset, gap_end - offset));
    enlist(offset, gap_end - offset);
    note_backed(offset, gap_end, std::move(note));
    offset = gap_end;
  }
  return {};
}

void RegisteredBacking::note_backed(std::size_t begin, std::size_t end, Ends::node_type note) noexcept {
  const std::unique_lock guard(lock_);
  const auto next = backed_.lower_bound(begin);
  if (next != backed_.end() && next->first == end) {
    end = next->second;
    backed_.erase(next);
  }
  const auto after = backed_.lower_bound(begin);
  if (after != backed_.begin() && std::prev(after)->second == begin) {
    std::prev(after)->second = end;
  } else {
    note.key() = begin;
    note.mapped() = end;
    backed_.insert(std::move(note));
  }
}

// If there is no memory to record the extent, it is not registered, as if the device had refused it.
void RegisteredBacking::enlist(std::size_t offset, std::size_t bytes) {
  std::byte* const address = window_.base() + offset;
  Registrations::node_type note;
  auto registered = unless_exhausted([&] {
    note = node_of<Registrations>();
    return registrar_.add(address, bytes);
  });
  if (registered.ok()) {
    const Region region = {.base = reinterpret_cast<std::uintptr_t>(address),
                           .bytes = bytes,
                           .generation = 0,
                           .flags = kRegionExtent,
                           .count = 0,
                           .keys = registered->remote};
    if (Status listed = unless_exhausted([&] { return regions_.add(region); }); listed.ok()) {
      const std::unique_lock guard(lock_);
      note.key() = region.base;
      note.mapped() = registered.value();
      registered_.insert(std::move(note));
      backed_bytes_ += bytes;
      return;
    }
    log(LogLevel::warn,
        "other hosts reach more of this rank's heap by copies only: raise RMA_MAX_REGIONS or RMA_EXTENT");
    registrar_.remove(registered.value());
  } else if (bytes > kLeast && registered.status().code() == RMA_ERR_NO_MEMORY) {
    const std::size_t half = (bytes / 2 + window_.granule() - 1) / window_.granule() * window_.granule();
    if (half < bytes) {
      enlist(offset, half);
      enlist(offset + half, bytes - half);
      return;
    }
  }
  const std::unique_lock guard(lock_);
  if (refused_ == 0 && !registered.ok()) {
    log(LogLevel::warn, "part of the heap cannot be registered, and other hosts reach it by copies only: {}",
        registered.status().text());
  }
  refused_ += bytes;
  backed_bytes_ += bytes;
}

std::optional<Registered> RegisteredBacking::find(const std::byte* address) const {
  const auto key = reinterpret_cast<std::uintptr_t>(address);
  const std::shared_lock guard(lock_);
  auto next = registered_.upper_bound(key);
  if (next == registered_.begin()) return std::nullopt;
  const Registered& candidate = std::prev(next)->second;
  if (key - std::prev(next)->first >= candidate.bytes) return std::nullopt;
  return candidate;
}

bool RegisteredBacking::covers(std::uintptr_t address, std::size_t bytes) const {
  const std::uintptr_t offset = address - reinterpret_cast<std::uintptr_t>(window_.base());
  const std::shared_lock guard(lock_);
  const auto next = backed_.upper_bound(offset);
  if (next == backed_.begin()) return false;
  return range_contains(std::prev(next)->second, offset, bytes);
}

std::size_t RegisteredBacking::backed() const {
  const std::shared_lock guard(lock_);
  return backed_bytes_;
}

std::size_t RegisteredBacking::refused() const {
  const std::shared_lock guard(lock_);
  return refused_;
}

}  // namespace librma
