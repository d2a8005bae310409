#include "channel/link_table.hpp"

#include <memory>
#include <utility>

namespace rma {

LinkTable::~LinkTable() {
  for (auto& link : links_) delete link.load(std::memory_order_relaxed);
}

Link& LinkTable::to(int peer) {
  std::atomic<Link*>& place = links_[static_cast<std::size_t>(peer)];
  Link* link = place.load(std::memory_order_acquire);  // pairs with the exchange below
  if (link != nullptr) return *link;
  auto made = std::make_unique<Link>();
  if (place.compare_exchange_strong(link, made.get(), std::memory_order_acq_rel)) return *made.release();
  return *link;
}

void LinkTable::list(Link& link, int peer) {
  if (std::exchange(link.listed, true)) return;
  const std::lock_guard guard(lists_lock_);
  listed_.push_back(peer);
}

std::vector<int> LinkTable::take_listed() {
  std::vector<int> listed;
  const std::lock_guard guard(lists_lock_);
  listed.swap(listed_);
  return listed;
}

void LinkTable::queue_control(Link& link, int peer, std::uint16_t kind, std::span<const std::byte> body) {
  if (link.failed) return;
  link.waiting.push_back({.kind = kind, .body = {body.begin(), body.end()}});
  list(link, peer);
}

bool LinkTable::fail(int peer) {
  Link& link = to(peer);
  const std::lock_guard guard(link.lock);
  if (std::exchange(link.failed, true)) return false;
  link.waiting.clear();
  return true;
}

void LinkTable::list_lost(int peer) {
  const std::lock_guard guard(lists_lock_);
  lost_.push_back(peer);
}

std::vector<int> LinkTable::take_lost() {
  std::vector<int> lost;
  const std::lock_guard guard(lists_lock_);
  lost.swap(lost_);
  return lost;
}

}  // namespace rma
