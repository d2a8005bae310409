#include "core/job/user_regions.hpp"

#include "util/log.hpp"
#include "util/range_check.hpp"
#include "util/try.hpp"
#include "util/undo.hpp"

namespace librma {

UserRegions::~UserRegions() {
  for (auto& [base, by_bytes] : entries_) {
    for (auto& [bytes, entry] : by_bytes) {
      if (entry.registered.bytes != 0) registrar_->remove(entry.registered);
    }
  }
}

Status UserRegions::add(std::byte* address, std::size_t bytes) {
  const auto base = reinterpret_cast<std::uintptr_t>(address);
  const std::lock_guard guard(lock_);
  Region region = {.base = base, .bytes = bytes, .generation = 0, .flags = kRegionForeign};
  // Makes the entry first, because a listed or registered region must have an entry.
  auto& by_bytes = entries_[base];
  Undo forget([&] {
    std::erase_if(by_bytes, [](const auto& entry) { return entry.second.count == 0; });
    if (by_bytes.empty()) entries_.erase(base);
  });
  Entry& entry = by_bytes[bytes];
  if (entry.count > 0) {
    RMA_TRY(regions_.add(region));
    ++entry.count;
    return {};
  }
  Registered registered;
  Undo deregister([&] {
    if (registered.bytes != 0) registrar_->remove(registered);
  });
  if (registrar_ != nullptr) {
    auto made = registrar_->add(address, bytes);
    if (made.ok()) {
      registered = made.value();
      region.keys = registered.remote;
    } else {
      log(LogLevel::warn, "rma_register: other hosts reach {} bytes at {} by copies only: {}", bytes,
          static_cast<void*>(address), made.status().text());
    }
  }
  std::size_t& as_long = lengths_[bytes];
  if (Status status = regions_.add(region); !status.ok()) {
    if (as_long == 0) lengths_.erase(bytes);
    return status;
  }
  ++as_long;
  entry = {.count = 1, .registered = registered};
  deregister.dismiss();
  return {};
}

std::optional<Registered> UserRegions::find(const std::byte* address, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  const std::lock_guard guard(lock_);
  const std::size_t longest = lengths_.empty() ? 0 : lengths_.rbegin()->first;
  for (auto next = entries_.upper_bound(begin); next != entries_.begin();) {
    --next;
    if (begin - next->first > longest) break;  // no entry that begins so early ends behind `begin`
    for (const auto& [length, entry] : next->second) {
      if (range_contains(length, begin - next->first, bytes) && entry.registered.bytes != 0)
        return entry.registered;
    }
  }
  return std::nullopt;
}

Status UserRegions::remove(std::byte* address) {
  const auto base = reinterpret_cast<std::uintptr_t>(address);
  const std::lock_guard guard(lock_);
  RMA_TRY(regions_.remove(base, kRegionForeign));
  auto& by_bytes = entries_[base];
  const auto shortest = by_bytes.begin();
  if (--shortest->second.count > 0) return {};
  if (shortest->second.registered.bytes != 0) registrar_->remove(shortest->second.registered);
  if (const auto as_long = lengths_.find(shortest->first); --as_long->second == 0) lengths_.erase(as_long);
  by_bytes.erase(shortest);
  if (by_bytes.empty()) entries_.erase(base);
  return {};
}

}  // namespace librma
