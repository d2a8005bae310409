#include "channel/link.hpp"

#include <algorithm>
#include <limits>

namespace rma {

void Link::open(std::size_t rail, std::uint32_t credits) {
  if (rail_) return;
  rail_ = rail;
  credits_ += credits;
}

MessageHeader Link::next(std::uint16_t kind, std::size_t bytes) const {
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint16_t>::max();
  return {.sequence = next_,
          .bytes = static_cast<std::uint32_t>(bytes),
          .kind = kind,
          .credits = static_cast<std::uint16_t>(std::min(owed_, kMost)),
          .wants_more = static_cast<std::uint16_t>(waiting.empty() ? 0 : 1)};
}

void Link::sent(const MessageHeader& header) {
  ++next_;
  --credits_;
  owed_ -= header.credits;
}

Link::Order Link::arrived(std::size_t rail, const MessageHeader& header) {
  if (!its_rail_) {
    its_rail_ = rail;
    promised_ = promises_[rail];
  }
  if (*its_rail_ != rail) return Order::broken;
  // An honest peer has no more messages on their way than buffers here.
  const std::uint32_t ahead = header.sequence - expected_;
  if (ahead >= std::max(promised_, 1U) || early_.contains(header.sequence)) return Order::broken;
  credits_ += header.credits;
  return ahead == 0 ? Order::next : Order::early;
}

void Link::keep(const MessageHeader& header, std::span<const std::byte> body) {
  early_[header.sequence] = {.kind = header.kind, .body = {body.begin(), body.end()}};
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

}  // namespace rma
