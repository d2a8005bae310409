#include "channel/link.hpp"

#include <algorithm>
#include <limits>

namespace librma {

void Link::open(std::size_t rail, std::uint32_t credits) {
  if (rail_) return;
  rail_ = rail;
  credits_ += credits;
}

std::optional<MessagePath> Link::path(std::uint16_t kind, MessageEvent event, std::size_t body) const {
  if (MessageHeader::ordinary(kind) && ring.takes(event, body)) return MessagePath::ring;
  const std::uint32_t reserved = kind == MessageHeader::kCredits && owes_buffers() ? 0 : 1;
  if (credits_ > reserved) return MessagePath::queue;
  return {};
}

void Link::promise_ring(std::uint32_t slots) {
  ring_promised_ = slots;
  ring_owed_ = 0;
}

MessageHeader Link::next(std::uint16_t kind, std::size_t bytes, std::size_t carried) const {
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint16_t>::max();
  return {.sequence = next_,
          .bytes = static_cast<std::uint32_t>(bytes),
          .kind = kind,
          .credits = static_cast<std::uint16_t>(std::min(owed_, kMost)),
          .wants_more = static_cast<std::uint16_t>(waiting.size() > carried || starved ? 1 : 0),
          .ring_credits = static_cast<std::uint16_t>(std::min(ring_owed_, kMost))};
}

void Link::sent(const MessageHeader& header, MessagePath path) {
  ++next_;
  starved = false;
  if (path == MessagePath::queue) --credits_;
  owed_ -= header.credits;
  ring_owed_ -= header.ring_credits;
}

Link::Order Link::order_of(std::uint32_t sequence) const {
  // An honest peer never has more messages under way than it was promised buffers and slots.
  const std::uint32_t ahead = sequence - expected_;
  if (ahead >= std::max(promised_ + ring_promised_, 1U) || early_.contains(sequence)) return Order::broken;
  return ahead == 0 ? Order::next : Order::early;
}

Link::Order Link::arrived(std::size_t rail, const MessageHeader& header) {
  if (!peer_rail_) {
    peer_rail_ = rail;
    promised_ = promises_[rail];
  }
  if (*peer_rail_ != rail) return Order::broken;
  const Order order = order_of(header.sequence);
  if (order == Order::broken || !ring.returned(header.ring_credits)) return Order::broken;
  credits_ += header.credits;
  return order;
}

void Link::keep(const MessageHeader& header, std::span<const std::byte> body) {
  early_[header.sequence] = {.kind = header.kind, .accepted = false, .body = {body.begin(), body.end()}};
}

std::optional<Link::Waiting> Link::next_kept() {
  const auto found = early_.find(expected_);
  if (found == early_.end()) return {};
  Waiting message = std::move(found->second);
  early_.erase(found);
  return message;
}

void Link::freed(bool withdrawn) {
  if (withdrawn) {
    --promised_;
  } else {
    ++owed_;
  }
}

void Link::lend(std::uint32_t buffers) {
  promised_ += buffers;
  owed_ += buffers;
}

}  // namespace librma
