#include "channel/message_sender.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <utility>

#include "channel/coalesced_messages.hpp"
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
/// The sender sends this many short messages to a peer at once in a round. Most programs send no more, so
/// their messages are under way while they compute.
constexpr std::uint32_t kAtOnce = 4;
/// A message waits for others, to go together with them, only if its body has at most kMostJoining bytes, and
/// if fewer than kMostJoined messages to the peer wait already.
constexpr std::size_t kMostJoining = 8192;
constexpr std::size_t kMostJoined = 64;

Link::Waiting waiting_message(std::uint16_t kind, bool accepted, std::span<const std::byte> head,
                              std::span<const std::byte> tail) {
  Link::Waiting message = {.kind = kind, .accepted = accepted, .body = {}};
  message.body.reserve(head.size() + tail.size());
  message.body.insert(message.body.end(), head.begin(), head.end());
  message.body.insert(message.body.end(), tail.begin(), tail.end());
  return message;
}

}  // namespace

Status MessageSender::open(const Bytes& most, SendSlots::Ended ended) {
  const std::size_t bytes = *std::max_element(most.begin(), most.end());
  RMA_TRY_ASSIGN(slots, SendSlots::create(rails_, bytes, kSendSlots, std::move(ended)));
  slots_ = std::move(slots);
  most_ = most;
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
  const std::size_t bytes = sizeof header + header.bytes;
  const bool small =
      bytes <= endpoint(*link.rail()).limits().max_inline && kind != MessageHeader::kRingStopped;
  constexpr std::size_t kMostInline = 512;
  alignas(8) std::array<std::byte, kMostInline> copy;
  SendSlots::Slot* slot = nullptr;
  if (!small || bytes > kMostInline) {
    slot = slots_->take();
    if (slot == nullptr) return RMA_ERR_STATE;
  }
  std::byte* const memory = slot != nullptr ? slot->memory() : copy.data();
  std::copy(head.begin(), head.end(), memory + sizeof header);
  std::copy(tail.begin(), tail.end(), memory + sizeof header + head.size());
  RMA_TRY(post_by_queue(link, peer, header, {memory, bytes}, slot, event_of(kind)));
  // The device may read the image until it has sent this message.
  if (kind == MessageHeader::kRingStopped) slot->keep(link.ring.take_image());
  count(Counter::message);
  return RMA_SUCCESS;
}

rma_status_t MessageSender::post_by_queue(Link& link, int peer, const MessageHeader& header,
                                          std::span<std::byte> memory, SendSlots::Slot* slot,
                                          MessageEvent event) {
  std::memcpy(memory.data(), &header, sizeof header);
  const std::size_t rail = *link.rail();
  const transport::Local piece = {
      .address = memory.data(), .bytes = memory.size(), .key = slot != nullptr ? slots_->key(rail) : 0};
  const bool solicited = event == MessageEvent::solicited || link.runs_out();
  const rma_status_t status = endpoint(rail).post_message(
      peer, {&piece, 1}, slot != nullptr ? slot->cookie() : 0,
      {.inline_data = slot == nullptr, .unsignaled = slot == nullptr, .solicited = solicited});
  if (status == RMA_SUCCESS) {
    link.sent(header, MessagePath::queue);
  } else if (slot != nullptr) {
    slots_->give(slot);
  }
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

rma_status_t MessageSender::post_together(Link& link, int peer, std::size_t* count) {
  SendSlots::Slot* const slot = slots_->take();
  if (slot == nullptr) return RMA_ERR_STATE;
  CoalescedMessages together(
      {slot->memory() + sizeof(MessageHeader), most_[*link.rail()] - sizeof(MessageHeader)});
  MessageEvent event = MessageEvent::unsolicited;
  for (const Link::Waiting& message : link.waiting) {
    if (!MessageHeader::ordinary(message.kind) || !together.add(message.kind, message.body)) break;
    if (event_of(message.kind) == MessageEvent::solicited) event = MessageEvent::solicited;
  }
  *count = together.count();
  const MessageHeader header = link.next(MessageHeader::kCoalesced, together.body().size(), *count);
  RMA_TRY(post_by_queue(link, peer, header, {slot->memory(), sizeof header + header.bytes}, slot, event));
  librma::count(Counter::message, *count);
  librma::count(Counter::message_coalesced, *count);
  return RMA_SUCCESS;
}

rma_status_t MessageSender::post_first(Link& link, int peer, std::size_t* count) {
  RMA_TRY(post_unwritten(link, peer));
  *count = 1;
  const auto fit = [&](const Link::Waiting& first, const Link::Waiting& second) {
    return MessageHeader::ordinary(first.kind) && MessageHeader::ordinary(second.kind) &&
           CoalescedMessages::space_of(first.body.size()) + CoalescedMessages::space_of(second.body.size()) <=
               most_[*link.rail()] - sizeof(MessageHeader);
  };
  const Link::Waiting& first = link.waiting.front();
  if (coalesces(link) && link.waiting.size() > 1 && fit(first, link.waiting[1]) &&
      link.path(first.kind, event_of(first.kind), first.body.size()).has_value()) {
    return post_together(link, peer, count);
  }
  return post(link, peer, first.kind, first.body, {});
}

rma_status_t MessageSender::post_waiting(Link& link, int peer, bool* moved) {
  while (!link.waiting.empty()) {
    std::size_t posted = 0;
    RMA_TRY(post_first(link, peer, &posted));
    links_.unqueue(link, posted);
    *moved = true;
  }
  return RMA_SUCCESS;
}

rma_status_t MessageSender::post_behind(Link& link, int peer, std::uint16_t kind,
                                        std::span<const std::byte> head, std::span<const std::byte> tail) {
  bool moved = false;
  if (!link.waiting.empty() && !coalesces(link)) return RMA_ERR_STATE;
  RMA_TRY(post_waiting(link, peer, &moved));
  return post(link, peer, kind, head, tail);
}

bool MessageSender::joins_others(Link& link, std::uint16_t kind, std::size_t body) {
  if (!coalesces(link)) return false;
  if (event_of(kind) == MessageEvent::solicited || body > kMostJoining) return false;
  const std::uint32_t round = rounds_.load(std::memory_order_relaxed);
  if (std::exchange(link.round, round) != round) link.in_round = 0;
  if (link.in_round++ < kAtOnce && link.waiting.empty()) return false;
  return link.waiting.size() < kMostJoined && link.path(kind, MessageEvent::unsolicited, body).has_value();
}

bool MessageSender::join(Link& link, int peer, std::uint16_t kind, std::span<const std::byte> head,
                         std::span<const std::byte> tail) noexcept try {
  links_.queue(link, peer, waiting_message(kind, true, head, tail));
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

rma_status_t MessageSender::try_send(int peer, std::size_t rail, std::uint16_t kind,
                                     std::span<const std::byte> head, std::span<const std::byte> tail) {
  Link& link = links_.to(peer);
  rma_status_t status = RMA_SUCCESS;
  bool stir = false;
  {
    const std::lock_guard guard(link.lock);
    RMA_TRY(open_link(link, peer, rail));
    if (joins_others(link, kind, head.size() + tail.size()) && join(link, peer, kind, head, tail)) {
      stir = link.waiting.size() == 1 && !endpoint(*link.rail()).asks_by_clock();
    } else {
      status = post_behind(link, peer, kind, head, tail);
    }
  }
  if (stir) sleep_.rouse();
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
    status = post_behind(link, peer, kind, head, tail);
    if (status == RMA_ERR_STATE && link.waiting.size() >= kMostWaiting) {
      status = RMA_ERR_PEER_LOST;
    } else if (status == RMA_ERR_STATE) {
      links_.queue(link, peer, waiting_message(kind, false, head, tail));
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
  // Only this thread stores: it has the turn.
  rounds_.store(rounds_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
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
      if (status == RMA_SUCCESS) status = post_waiting(link, peer, &moved);
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
