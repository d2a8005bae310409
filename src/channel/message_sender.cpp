#include "channel/message_sender.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "util/statistics.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma {
namespace {

/// The number of messages under way that were too long to be sent inline.
constexpr std::size_t kSendSlots = 64;
/// From this many waiting messages on, a peer is congested.
constexpr std::size_t kCongested = 1024;
/// A peer for which this many messages wait is given up. A peer that sends many is held back far earlier, and
/// the answers that wait are bounded by kMostOpenRequests, so only a peer that takes no messages, and yet
/// asks for more answers than it may, gets here.
constexpr std::size_t kMostWaiting = 65536;

}  // namespace

Status MessageSender::open(std::size_t message_bytes, SendSlots::Ended ended) {
  RMA_TRY_ASSIGN(slots, SendSlots::create(rails_, message_bytes, kSendSlots, std::move(ended)));
  slots_ = std::move(slots);
  return {};
}

rma_status_t MessageSender::open_link(Link& link, int peer, std::size_t rail) {
  if (link.failed) return RMA_ERR_PEER_LOST;
  if (link.rail()) return RMA_SUCCESS;
  const std::uint32_t credits = endpoint(rail).buffers_of(peer);
  if (credits < Link::kFewestCredits) return RMA_ERR_UNSUPPORTED;
  link.open(rail, credits);
  return RMA_SUCCESS;
}

rma_status_t MessageSender::post(Link& link, int peer, std::uint16_t kind, std::span<const std::byte> head,
                                 std::span<const std::byte> tail) {
  RMA_TRY(post_unwritten(link, peer));
  const std::optional<MessagePath> path = link.path(kind, event_of(kind), head.size() + tail.size());
  link.starved = link.starved || !path;
  if (!path) return RMA_ERR_STATE;
  const bool solicited = event_of(kind) == MessageEvent::solicited || link.runs_out();
  const MessageHeader header = link.next(kind, head.size() + tail.size());
  if (*path == MessagePath::ring) {
    link.ring.put(header, head, tail);
    link.sent(header, MessagePath::ring);
    count(Counter::message);
    count(Counter::message_ring);
    const rma_status_t status = post_unwritten(link, peer);
    if (status != RMA_ERR_STATE) return status;
    links_.list(link, peer);
    return RMA_SUCCESS;
  }
  const std::size_t rail = *link.rail();
  transport::MessageEndpoint& to = endpoint(rail);
  const std::size_t bytes = sizeof header + header.bytes;
  const bool small = bytes <= to.limits().max_inline && kind != MessageHeader::kRingStopped;
  constexpr std::size_t kMostInline = 512;
  alignas(8) std::array<std::byte, kMostInline> copy;
  SendSlots::Slot* slot = nullptr;
  if (!small || bytes > kMostInline) {
    slot = slots_->take();
    if (slot == nullptr) return RMA_ERR_STATE;
  }
  std::byte* const memory = slot != nullptr ? slot->memory() : copy.data();
  std::memcpy(memory, &header, sizeof header);
  std::copy(head.begin(), head.end(), memory + sizeof header);
  std::copy(tail.begin(), tail.end(), memory + sizeof header + head.size());
  const transport::Local piece = {
      .address = memory, .bytes = bytes, .key = slot != nullptr ? slots_->key(rail) : 0};
  const rma_status_t status =
      slot != nullptr ? to.post_message(peer, {&piece, 1}, slot->cookie(), {.solicited = solicited})
                      : to.post_message(peer, {&piece, 1}, 0,
                                        {.inline_data = true, .unsignaled = true, .solicited = solicited});
  if (status == RMA_SUCCESS) {
    link.sent(header, MessagePath::queue);
    // The device may read the image until it has sent this message.
    if (kind == MessageHeader::kRingStopped) slot->keep(link.ring.take_image());
    count(Counter::message);
    return status;
  }
  if (slot != nullptr) slots_->give(slot);
  return status;
}

rma_status_t MessageSender::post_unwritten(Link& link, int peer) {
  if (!link.ring.has_unwritten()) return RMA_SUCCESS;
  transport::MessageEndpoint& to = endpoint(*link.rail());
  const SendingRing::Unwritten write = link.ring.unwritten(*link.rail());
  const bool small = write.from.bytes <= to.limits().max_inline;
  const rma_status_t status =
      to.post_message_write(peer, write.to, write.from, 0, {.inline_data = small, .unsignaled = true});
  if (status == RMA_SUCCESS) link.ring.written();
  return status;
}

rma_status_t MessageSender::try_send(int peer, std::size_t rail, std::uint16_t kind,
                                     std::span<const std::byte> head, std::span<const std::byte> tail) {
  Link& link = links_.to(peer);
  rma_status_t status = RMA_SUCCESS;
  {
    const std::lock_guard guard(link.lock);
    status = open_link(link, peer, rail);
    if (status != RMA_SUCCESS) return status;
    if (!link.waiting.empty()) return RMA_ERR_STATE;
    status = post(link, peer, kind, head, tail);
  }
  if (status == RMA_ERR_PEER_LOST) fail_(peer);
  return status;
}

void MessageSender::send(int peer, std::size_t rail, std::uint16_t kind, std::span<const std::byte> head,
                         std::span<const std::byte> tail) {
  Link& link = links_.to(peer);
  rma_status_t status = RMA_SUCCESS;
  {
    const std::lock_guard guard(link.lock);
    if (open_link(link, peer, rail) != RMA_SUCCESS) return;
    status = link.waiting.empty() ? post(link, peer, kind, head, tail) : RMA_ERR_STATE;
    if (status == RMA_ERR_STATE && link.waiting.size() >= kMostWaiting) {
      status = RMA_ERR_PEER_LOST;
    } else if (status == RMA_ERR_STATE) {
      Link::Waiting message = {.kind = kind, .body = {head.begin(), head.end()}};
      message.body.insert(message.body.end(), tail.begin(), tail.end());
      links_.queue(link, peer, std::move(message));
    }
  }
  if (status == RMA_ERR_STATE) {
    sleep_.stir();
  } else if (status != RMA_SUCCESS) {
    fail_(peer);
  }
}

bool MessageSender::congested(int peer) {
  Link& link = links_.to(peer);
  const std::lock_guard guard(link.lock);
  return link.waiting.size() >= kCongested;
}

bool MessageSender::pump() {
  bool moved = false;
  for (const int peer : links_.take_listed()) {
    Link& link = links_.to(peer);
    rma_status_t status = RMA_SUCCESS;
    {
      const std::lock_guard guard(link.lock);
      link.listed = false;
      if (link.failed || !link.rail()) continue;
      if (link.ring.has_unwritten()) {
        status = post_unwritten(link, peer);
        moved = moved || status == RMA_SUCCESS;
      }
      while (status == RMA_SUCCESS && !link.waiting.empty()) {
        const Link::Waiting& first = link.waiting.front();
        status = post(link, peer, first.kind, first.body, {});
        if (status != RMA_SUCCESS) break;
        links_.unqueue(link);
        moved = true;
      }
      if (status != RMA_ERR_PEER_LOST && link.owes()) {
        status = post(link, peer, MessageHeader::kCredits, {}, {});
        moved = moved || status == RMA_SUCCESS;
      }
      // A link that waits for credits is listed again when they arrive. A link that waits for the device is
      // listed at once.
      const auto can_go = [&](const Link::Waiting& message) {
        return link.path(message.kind, event_of(message.kind), message.body.size()).has_value();
      };
      const bool can = link.ring.has_unwritten() || (!link.waiting.empty() && can_go(link.waiting.front())) ||
                       (link.owes() && link.path(MessageHeader::kCredits, MessageEvent::unsolicited, 0));
      if (can && status != RMA_ERR_PEER_LOST) links_.list(link, peer);
    }
    if (status == RMA_ERR_PEER_LOST) fail_(peer);
  }
  return moved;
}

}  // namespace librma
