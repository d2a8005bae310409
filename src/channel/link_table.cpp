#include "channel/link_table.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <utility>

namespace librma {
namespace {

using Position = std::deque<Link::Waiting>::const_iterator;

std::size_t count_accepted(const Position& from, const Position& to) {
  return static_cast<std::size_t>(
      std::count_if(from, to, [](const Link::Waiting& message) { return message.accepted; }));
}

}  // namespace

LinkTable::LinkTable(int ranks) : links_(static_cast<std::size_t>(ranks)) { listed_.reserve(links_.size()); }

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
  any_listed_.store(true, std::memory_order_seq_cst);
}

std::vector<int> LinkTable::take_listed() {
  if (!any_listed_.load(std::memory_order_seq_cst)) return {};
  const std::lock_guard guard(lists_lock_);
  any_listed_.store(false, std::memory_order_relaxed);  // the lock orders it
  std::vector<int> listed = listed_;
  listed_.clear();
  return listed;
}

void LinkTable::queue_control(Link& link, int peer, std::uint16_t kind, std::span<const std::byte> body) {
  if (!link.failed) queue(link, peer, {.kind = kind, .accepted = false, .body = {body.begin(), body.end()}});
}

bool LinkTable::unsent() {
  if (waiting_.load(std::memory_order_seq_cst) != 0) return true;
  return any_listed_.load(std::memory_order_seq_cst);
}

void LinkTable::queue(Link& link, int peer, Link::Waiting message) {
  link.waiting.push_back(std::move(message));
  if (link.waiting.back().accepted) accepted_.fetch_add(1, std::memory_order_relaxed);
  waiting_.fetch_add(1, std::memory_order_seq_cst);  // before HelperSleep::stir() looks: see there
  list(link, peer);
}

void LinkTable::unqueue(Link& link, std::size_t count) {
  const auto end = link.waiting.begin() + static_cast<std::ptrdiff_t>(count);
  accepted_.fetch_sub(count_accepted(link.waiting.begin(), end), std::memory_order_release);
  link.waiting.erase(link.waiting.begin(), end);
  waiting_.fetch_sub(count, std::memory_order_relaxed);
}

bool LinkTable::fail(int peer) {
  Link& link = to(peer);
  const std::lock_guard guard(link.lock);
  if (std::exchange(link.failed, true)) return false;
  unqueue(link, link.waiting.size());
  return true;
}

void LinkTable::list_lost(int peer) {
  const std::lock_guard guard(lists_lock_);
  lost_.push_back(peer);
  any_lost_.store(true, std::memory_order_seq_cst);
}

std::vector<int> LinkTable::take_lost() {
  if (!any_lost_.load(std::memory_order_seq_cst)) return {};
  std::vector<int> lost;
  const std::lock_guard guard(lists_lock_);
  any_lost_.store(false, std::memory_order_relaxed);  // the lock orders it
  lost.swap(lost_);
  return lost;
}

}  // namespace librma
