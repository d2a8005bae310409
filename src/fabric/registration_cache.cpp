#include "fabric/registration_cache.hpp"

#include <algorithm>
#include <iterator>

#include "util/statistics.hpp"
#include "util/system/page_size.hpp"

namespace librma {
namespace {

bool contains(const AddressSpan& outer, const AddressSpan& inner) {
  return outer.begin <= inner.begin && inner.end <= outer.end;
}

bool overlap(const AddressSpan& a, const AddressSpan& b) { return a.begin < b.end && b.begin < a.end; }

// A new registration may replace registrations that it overlaps, and may grow to this multiple of the
// request. Few large registrations are better than many small ones. But a program that walks over its memory
// with overlapping buffers must not register all of it again at each step.
constexpr std::size_t kMergeFactor = 2;

}  // namespace

RegistrationCache::RegistrationCache(Registrar& registrar, const RegistrationCacheOptions& options)
    : registrar_(registrar), options_(options), page_(page_bytes()) {}

std::unique_ptr<RegistrationCache> RegistrationCache::create(Registrar& registrar,
                                                             const RegistrationCacheOptions& options) {
  std::unique_ptr<RegistrationCache> cache(new RegistrationCache(registrar, options));
  if (!options.enabled) {
    cache->why_off_ = "not asked for";
    return cache;
  }
  auto pages = PrivatePages::open();
  auto watch = UnmapWatch::start();
  if (!pages.ok() || !watch.ok()) {
    cache->why_off_ = (pages.ok() ? watch.status() : pages.status()).text();
    return cache;
  }
  cache->pages_ = std::move(pages).value();
  cache->watch_ = std::move(watch).value();
  return cache;
}

RegistrationCache::~RegistrationCache() { flush(); }

AddressSpan RegistrationCache::pages_of(const std::byte* address, std::size_t bytes) const {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  return {begin / page_ * page_, (begin + bytes + page_ - 1) / page_ * page_};
}

Result<RegistrationCache::Use> RegistrationCache::get(std::byte* address, std::size_t bytes) {
  const AddressSpan wanted = pages_of(address, bytes);
  if (watch_ == nullptr) return add(wanted, false);
  // This comes before the lookup: memory that was unmapped before this call began leaves kept_ before kept_
  // is searched. If settle() cannot tell, kept_ is not used.
  const auto position = watch_->settle();
  if (!position) return add(wanted, false);
  Farewell farewell;
  std::optional<Entries::iterator> hit;
  {
    const std::lock_guard lock(mutex_);
    invalidate_locked(*position, farewell);
    hit = find_locked(wanted);
    if (hit) use_locked(*hit);
  }
  part_with(farewell);
  if (!hit) return add(wanted, true);
  count(Counter::registration_hits);
  return Use(*this, *hit);
}

void RegistrationCache::reclaim() {
  const auto position = watch_ != nullptr ? watch_->settle() : std::nullopt;
  if (!position) return;
  Farewell farewell;
  {
    const std::lock_guard lock(mutex_);
    invalidate_locked(*position, farewell);
  }
  part_with(farewell);
}

void RegistrationCache::flush() {
  Farewell farewell;
  {
    const std::lock_guard lock(mutex_);
    drop_overlapping_locked(kEverywhere, farewell);
  }
  part_with(farewell);
}

void RegistrationCache::release(Entries::iterator entry) noexcept {
  Farewell farewell;
  {
    const std::lock_guard lock(mutex_);
    if (--entry->uses == 0) {
      Entries& to = entry->counted ? unused_ : farewell.entries;
      to.splice(to.end(), busy_, entry);
    }
  }
  part_with(farewell);
}

void RegistrationCache::part_with(Farewell& farewell) {
  for (const Entry& entry : farewell.entries) registrar_.remove(entry.registered);
  farewell.entries.clear();
  if (farewell.evicted != 0) count(Counter::registration_evictions, farewell.evicted);
  if (farewell.invalidated != 0) count(Counter::registration_invalidations, farewell.invalidated);
  farewell.evicted = 0;
  farewell.invalidated = 0;
}

Result<RegistrationCache::Use> RegistrationCache::add(const AddressSpan& wanted, bool keep) {
  count(Counter::registration_misses);
  Entries made(1);
  const auto entry = made.begin();
  Kept node;
  node.emplace(0, entry);
  entry->node = node.extract(node.begin());
  entry->span = wanted;

  Farewell farewell;
  {
    const std::lock_guard lock(mutex_);
    busy_.splice(busy_.end(), made);
    // From here on, each note about the entry's span drops the entry. After this step the span is watched,
    // and only then registered. So if a part is unmapped after it was registered, a note says so, whether the
    // entry is in busy_ or in kept_. A part that was unmapped before is not registered. Other threads may
    // unmap, and map anew, memory that only the merging took in. The entry then serves this one use, whose
    // own memory is as the caller sees it.
    if (keep) begin_locked(entry, wanted, farewell);
  }
  part_with(farewell);

  bool watched = false;
  Status added = add_entry(entry, wanted, watched);
  const bool kept = added.ok() && watched && pages_->contain(entry->span);
  {
    const std::lock_guard lock(mutex_);
    if (entry->counted) {
      if (kept) {
        keep_locked(entry, farewell);
      } else {
        drop_locked(entry, farewell);
      }
    }
    if (!added.ok()) made.splice(made.end(), busy_, entry);
  }
  part_with(farewell);
  if (!added.ok()) return added;
  return Use(*this, entry);
}

Status RegistrationCache::add_entry(Entries::iterator entry, const AddressSpan& wanted, bool& watched) {
  for (;;) {
    // Only this thread changes the span; others read it under the lock. Any thread may clear `counted`.
    const AddressSpan span = entry->span;
    {
      const std::lock_guard lock(mutex_);
      watched = entry->counted;
    }
    watched = watched && watch_->watch(span);
    auto added = registrar_.add(reinterpret_cast<std::byte*>(span.begin), span.bytes());
    if (added.ok()) {
      entry->registered = added.value();
      return {};
    }
    if (added.status().code() == RMA_ERR_NO_MEMORY && evict_for(span.bytes())) continue;
    if (span == wanted) return std::move(added).status();
    // The memory that the merging took in may be too much, or no longer mapped.
    const std::lock_guard lock(mutex_);
    if (entry->counted) counted_bytes_ -= span.bytes() - wanted.bytes();
    entry->span = wanted;
  }
}

bool RegistrationCache::evict_for(std::size_t bytes) {
  Farewell farewell;
  const auto position = watch_ != nullptr ? watch_->settle() : std::nullopt;
  {
    const std::lock_guard lock(mutex_);
    if (position) invalidate_locked(*position, farewell);
    std::size_t freed = 0;
    while (freed < bytes && evict_locked(farewell)) freed += farewell.entries.back().span.bytes();
  }
  const bool any = !farewell.entries.empty();
  part_with(farewell);
  return any;
}

std::optional<RegistrationCache::Entries::iterator> RegistrationCache::find_locked(const AddressSpan& span) {
  if (last_ && contains((*last_)->span, span)) return last_;
  const auto after = kept_.upper_bound(span.begin);
  if (after == kept_.begin()) return std::nullopt;
  const auto candidate = std::prev(after)->second;
  if (candidate->span.end < span.end) return std::nullopt;
  last_ = candidate;
  return candidate;
}

void RegistrationCache::use_locked(Entries::iterator entry) {
  if (entry->uses++ == 0) busy_.splice(busy_.end(), unused_, entry);
}

// Decides which span to register for `wanted`, and makes room for it within the limits.
void RegistrationCache::begin_locked(Entries::iterator entry, const AddressSpan& wanted, Farewell& farewell) {
  if (wanted.bytes() > options_.max_bytes || options_.max_entries == 0) return;
  const std::size_t most = std::min(kMergeFactor * wanted.bytes(), options_.max_bytes);
  auto neighbour = kept_.upper_bound(wanted.begin);
  while (neighbour != kept_.begin() && std::prev(neighbour)->second->span.end > wanted.begin) --neighbour;
  while (neighbour != kept_.end() && neighbour->first < wanted.end) {
    const auto other = (neighbour++)->second;
    const AddressSpan both{std::min(entry->span.begin, other->span.begin),
                           std::max(entry->span.end, other->span.end)};
    if (both.bytes() > most) continue;
    entry->span = both;
    drop_locked(other, farewell);  // first, because both registrations together may exceed a limit
  }
  while (counted_entries_ >= options_.max_entries ||
         counted_bytes_ + entry->span.bytes() > options_.max_bytes) {
    if (!evict_locked(farewell)) {  // the other registrations are in use
      entry->span = wanted;
      return;
    }
  }
  entry->counted = true;
  ++counted_entries_;
  counted_bytes_ += entry->span.bytes();
}

// Puts a counted entry that is registered into kept_, where lookups find it.
void RegistrationCache::keep_locked(Entries::iterator entry, Farewell& farewell) {
  // Another thread may have registered the same memory meanwhile.
  if (find_locked(entry->span)) {
    drop_locked(entry, farewell);
    return;
  }
  for (auto inner = kept_.lower_bound(entry->span.begin); inner != kept_.end();) {
    const auto other = (inner++)->second;
    if (!contains(entry->span, other->span))
      break;  // the ends only grow, so no later span is contained
              // either
    drop_locked(other, farewell);
  }
  entry->node.key() = entry->span.begin;
  kept_.insert(std::move(entry->node));
}

// Takes a counted entry out of kept_, so that no lookup finds it any more.
void RegistrationCache::drop_locked(Entries::iterator entry, Farewell& farewell) {
  entry->counted = false;
  --counted_entries_;
  counted_bytes_ -= entry->span.bytes();
  if (last_ == entry) last_.reset();
  if (entry->node.empty()) entry->node = kept_.extract(entry->span.begin);
  if (entry->uses == 0) farewell.entries.splice(farewell.entries.end(), unused_, entry);
}

void RegistrationCache::drop_overlapping_locked(const AddressSpan& span, Farewell& farewell) {
  auto it = kept_.upper_bound(span.begin);
  while (it != kept_.begin() && std::prev(it)->second->span.end > span.begin) --it;
  while (it != kept_.end() && it->first < span.end) drop_locked((it++)->second, farewell);
  // Then the entries that are being registered. They are few: one for each thread that is in add().
  for (auto entry = busy_.begin(); entry != busy_.end(); ++entry) {
    if (entry->counted && overlap(entry->span, span)) drop_locked(entry, farewell);
  }
}

bool RegistrationCache::evict_locked(Farewell& farewell) {
  if (unused_.empty()) return false;
  drop_locked(unused_.begin(), farewell);
  ++farewell.evicted;
  return true;
}

void RegistrationCache::invalidate_locked(std::uint64_t position, Farewell& farewell) {
  if (position == seen_) return;
  const std::size_t before = counted_entries_;
  while (const auto span = watch_->take()) drop_overlapping_locked(*span, farewell);
  farewell.invalidated += before - counted_entries_;
  // Another thread may already have taken later notes.
  seen_ = std::max(seen_, position);
}

}  // namespace librma
