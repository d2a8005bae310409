// The receiving side of a channel.

#include <cstring>

#include "channel/channel.hpp"
#include "channel/coalesced_messages.hpp"
#include "channel/eager_rings.hpp"
#include "util/log.hpp"
#include "util/statistics.hpp"

namespace librma {
namespace {

/// A peer that has used up its credits is lent this many buffers at once.
constexpr std::uint32_t kLoan = 4;

}  // namespace

void Channel::arrived(std::size_t rail, MessageBuffers::Slot& slot, int peer, rma_status_t status,
                      std::uint32_t bytes) {
  bool honest = status == RMA_SUCCESS && peer >= 0 && bytes <= bytes_of(rail);
  // Messages that the peer sent before this one by its ring are in place by now, and are taken in first.
  if (honest) rings_->look_at_peer(peer);
  if (honest) honest = take_in(rail, peer, {slot.memory(), bytes}, MessagePath::queue);
  if (!honest && status == RMA_SUCCESS) {
    refuse(peer);
  } else if (!honest && peer >= 0) {
    fail(peer);
  }
  MessageHeader header;
  std::memcpy(&header, slot.memory(), sizeof header);
  buffers_[rail]->repost(slot);
  if (!honest) return;
  give_back(rail, peer, header.wants_more != 0);
  if (MessageHeader::ordinary(header.kind)) rings_->heard(peer, sender_.event_of(header.kind));
}

void Channel::refuse(int peer) {
  count(Counter::messages_refused);
  log(LogLevel::warn, "rank {} sent a message of no known form: this process exchanges nothing more with it",
      peer);
  if (peer >= 0) fail(peer);
}

bool Channel::take_in(std::size_t rail, int peer, std::span<const std::byte> bytes, MessagePath path) {
  MessageHeader header;
  if (bytes.size() < sizeof header) return false;
  std::memcpy(&header, bytes.data(), sizeof header);
  const std::span<const std::byte> body = bytes.subspan(sizeof header);
  if (header.bytes != body.size()) return false;
  if (path == MessagePath::ring && !MessageHeader::ordinary(header.kind)) return false;
  Link& link = links_.to(peer);
  {
    const std::lock_guard guard(link.lock);
    if (link.failed) return true;
    // If nothing was sent to the peer before, the answer takes the rail that this message came by.
    static_cast<void>(sender_.open_link(link, peer, rail));
    switch (link.arrived(rail, header)) {
      case Link::Order::broken:
        return false;
      case Link::Order::early:
        link.keep(header, body);
        return true;
      case Link::Order::next:
        link.delivered();
    }
    if (link.busy()) links_.list(link, peer);
  }
  if (!deliver({.peer = peer, .rail = rail, .kind = header.kind, .body = body})) return false;
  while (true) {
    std::optional<Link::Waiting> kept;
    {
      const std::lock_guard guard(link.lock);
      if (!link.failed) kept = link.next_kept();
      if (kept) link.delivered();
    }
    if (!kept) return true;
    if (!deliver({.peer = peer, .rail = rail, .kind = kept->kind, .body = kept->body})) return false;
  }
}

bool Channel::deliver(const Message& message) {
  if (message.kind == MessageHeader::kCredits) return true;
  if (message.kind == MessageHeader::kCoalesced) {
    Link& link = links_.to(message.peer);
    return CoalescedMessages::for_each(
        message.body, [&](std::uint16_t kind, std::span<const std::byte> body) {
          {
            const std::lock_guard guard(link.lock);
            if (link.failed) return true;  // one before it has had the peer given up
          }
          return deliver({.peer = message.peer, .rail = message.rail, .kind = kind, .body = body});
        });
  }
  if (!MessageHeader::ordinary(message.kind)) return rings_->take_in_control(message);
  return message.kind < kKinds && handlers_[message.kind] && handlers_[message.kind](message);
}

void Channel::give_back(std::size_t rail, int peer, bool wants_more) {
  Link& link = links_.to(peer);
  const std::lock_guard guard(link.lock);
  if (link.failed) return;
  const bool withdrawn = link.promised() > buffers_[rail]->own() && buffers_[rail]->take_back();
  link.freed(withdrawn);
  if (wants_more && !withdrawn) link.lend(buffers_[rail]->borrow(kLoan));
  if (link.owes()) links_.list(link, peer);
}

}  // namespace librma
