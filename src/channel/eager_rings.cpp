// The channel's eager rings. A busy peer writes its messages into a ring in this process's memory, and this
// process polls the ring (Liu, Wu, Kini, Wyckoff, Panda, "High Performance RDMA-Based MPI Implementation over
// InfiniBand", 2003).
//
// In this file the receiver is the process whose memory holds the ring, and the sender is the peer that
// writes into it. "The queue" is the shared receive queue. A message that goes by the queue uses up one of
// the receiver's buffers and makes a completion there, so it wakes a receiver that sleeps. A message that
// goes by a ring is an RDMA write. It makes no completion at the receiver and wakes nobody.
//
// Four control messages govern a ring. They always go by the queue:
//
//     offered    receiver to sender    the sender may use this ring
//     accepted   sender to receiver    the sender uses the ring from now on, wherever it has room
//     stop       receiver to sender    the sender is to stop using the ring
//     stopped    sender to receiver    the sender does not use the ring any more, or declines the offer
//
// When `stopped` is delivered, the ring is empty and its memory is free:
// - A process sends everything to one peer by one queue pair, whether it goes by the queue or by a ring, and
//   a queue pair keeps the order. So when `stopped` arrives, everything that the sender wrote into the ring
//   is in place.
// - The channel delivers the messages of a peer in the order of their sequence numbers. So when `stopped` is
//   delivered, everything that was in the ring has been delivered.
//
// The wake-up rule: a receiver may sleep while messages arrive in its rings, but the sender of each then also
// sends something by the queue, which wakes it. The receiver prepares a sleep with arm(). From then on, until
// disarm(), it offers no ring. It tells every sender that uses one of its rings to stop. It does not sleep
// before these `stop` messages have been posted, and it looks at the rings and the queue once more before it
// sleeps. So while it sleeps, each sender that has one of its rings is in one of two states:
// - The receiver has told it to stop. The sender answers `stopped` by the queue, which wakes the receiver.
//   Everything that the sender put into the ring before that is in place by then. Everything that it sends
//   later goes by the queue.
// - The receiver has offered it a ring, and it has not answered yet. It sends `accepted` by the queue before
//   it uses the ring, which wakes the receiver. The receiver then tells it to stop.
//
// It remains to show that the sender can answer. The message that asks for the answer goes by the queue, so
// it wakes the sender if the sender sleeps. But the answer needs a credit. The receiver returns credits in
// its own messages to the sender. Those may go by a ring that the *sender* has offered to the receiver, and a
// sender that sleeps does not see them there. A rule for every process excludes this: it does not sleep while
// it has something to send to a peer that has one of its rings (Link::busy()). Owed credits count as
// something to send when they are more than half of the buffers that it has promised to the peer. Hence:
// - A receiver that sleeps has returned at least half of the sender's credits. That is two or more, because a
//   link has at least Link::kFewestCredits. The last credit is reserved for returning credits; the answer
//   uses another one.
// - If these credits came by a ring that the sender has offered, the sender does not sleep before it has seen
//   them, because it has the answer to send to a peer that has one of its rings.
// - If they came by the queue, they woke the sender.
//
// All of this is about a helper that sleeps for *all* messages, because a thread of the program sleeps until
// the helper wakes it, or because something is unsent. Otherwise the helper sleeps for *solicited* messages
// only (HelperSleep): the program's own threads take in the unsolicited ones whenever they are inside the
// library.
// - The receiver keeps the rings that are for unsolicited messages (RingOffer::unsolicited_only), and may
//   offer more. No solicited message goes by them. The rule above holds for all other rings.
// - The four control messages are solicited, so they wake both sides as above.
// - Messages that only return credits are unsolicited. A process that sleeps so has nothing unsent, so it
//   waits for no credit. A thread that leaves something unsent stirs the helper, which then sleeps for all
//   messages.
// - A solicited message is never stuck behind unsolicited ones: the event that it raises makes the helper
//   take in everything that was sent before it. An unsolicited message that takes the last credit but the
//   reserved one is sent as solicited, so a program that computes for long does not exhaust its peers'
//   credits.

#include "channel/eager_rings.hpp"

#include <algorithm>
#include <cstring>

#include "util/statistics.hpp"

namespace librma {

EagerRings::EagerRings(Registrar& registrar, LinkTable& links, const RingShape& shape,
                       const PollingSet::Policy& policy, bool helper_polls, TakeIn take_in, Refuse refuse)
    : links_(links),
      shape_(shape),
      helper_polls_(helper_polls),
      take_in_(std::move(take_in)),
      refuse_(std::move(refuse)),
      polling_(policy),
      polled_rings_(policy.most),
      ring_memory_(registrar, shape.bytes(), policy.most, BouncePool::Writers::peers),
      image_memory_(registrar, shape.bytes(), policy.most, BouncePool::Writers::self),
      message_(shape.slot_bytes) {}

void EagerRings::heard(int peer, MessageEvent event) {
  // A process that is about to sleep for all messages will not poll, so it promotes nobody. (Another thread
  // may take in messages meanwhile.)
  if (polled_rings_.empty() || depth_ == HelperSleep::Depth::all) return;
  if (event == MessageEvent::unsolicited || !offers_unsolicited()) polling_.heard(peer);
}

bool EagerRings::look() {
  bool found = false;
  for (std::size_t place = 0; place < polled_rings_.size(); ++place) found = look_at_ring(place) || found;
  return found;
}

void EagerRings::look_at_peer(int peer) {
  const PolledRing* const ring = polled_ring_of(peer);
  if (ring != nullptr) static_cast<void>(look_at_ring(static_cast<std::size_t>(ring - polled_rings_.data())));
}

bool EagerRings::look_at_ring(std::size_t place) {
  PolledRing& ring = polled_rings_[place];
  const int peer = polling_.members()[place].peer;
  bool found = false;
  // A message that is taken in may end the ring. One lap at most, so that other rings get their turn.
  for (std::size_t i = 0; i < shape_.slots && ring.slots; ++i) {
    const RingReceiver::Look look = ring.slots->look();
    if (look.state == RingReceiver::State::nothing) break;
    // Copies the message first: a dishonest peer could change the ring's memory between the check and the
    // use.
    const auto end = std::ranges::copy(look.message, message_.begin()).out;
    const std::span<const std::byte> message(message_.begin(), end);
    const Link::Order order =
        look.state == RingReceiver::State::message ? order_of(peer, message) : Link::Order::broken;
    // A message that comes too early stays in its slot until the messages before it have come from the queue.
    // If its slot were returned at once, the peer would fill it again, and the number of early messages had
    // no bound.
    if (order == Link::Order::early) break;
    found = true;
    if (order == Link::Order::next) {
      ring.slots->release();
      {
        Link& from = links_.to(peer);
        const std::lock_guard guard(from.lock);
        from.ring_freed(ring.slots->take_returned());
      }
      polling_.used(place);
      if (take_in_(ring.rail, peer, message)) continue;
    }
    refuse_(peer);
    break;
  }
  return found;
}

Link::Order EagerRings::order_of(int peer, std::span<const std::byte> message) {
  MessageHeader header;
  if (message.size() < sizeof header) return Link::Order::broken;
  std::memcpy(&header, message.data(), sizeof header);
  Link& link = links_.to(peer);
  const std::lock_guard guard(link.lock);
  return link.order_of(header.sequence);
}

void EagerRings::decide() {
  while (const std::optional<PollingSet::Decision> decision = polling_.next()) {
    if (decision->kind == PollingSet::Decision::Kind::promote) {
      if (!promote(*decision)) polling_.removed(decision->peer);
      continue;
    }
    Link& link = links_.to(decision->peer);
    const std::lock_guard guard(link.lock);
    links_.queue_control(link, decision->peer, MessageHeader::kRingStop);
  }
}

bool EagerRings::promote(const PollingSet::Decision& decision) {
  Link& link = links_.to(decision.peer);
  const std::lock_guard guard(link.lock);
  if (link.failed || link.declined || !link.rail() || !link.peer_rail()) return false;
  RingMemory::Piece memory = ring_memory_.take();
  if (memory == nullptr) return false;
  PolledRing& ring = polled_rings_[decision.place];
  ring.memory = std::move(memory);
  ring.rail = *link.peer_rail();
  ring.accepted = false;
  ring.unsolicited_only = offers_unsolicited();
  ring.slots.emplace(shape_, RingMemory::memory(ring.memory));
  link.promise_ring(static_cast<std::uint32_t>(shape_.slots));
  const Registered& registered = ring.memory->registered();
  const RingOffer offer = {.address = reinterpret_cast<std::uintptr_t>(registered.address),
                           .key = registered.remote_key(ring.rail),
                           .slots = static_cast<std::uint32_t>(shape_.slots),
                           .slot_bytes = static_cast<std::uint32_t>(shape_.slot_bytes),
                           .unsolicited_only = ring.unsolicited_only ? 1U : 0U};
  links_.queue_control(link, decision.peer, MessageHeader::kRingOffered, std::as_bytes(std::span(&offer, 1)));
  count(Counter::ring);
  return true;
}

EagerRings::PolledRing* EagerRings::polled_ring_of(int peer) {
  for (std::size_t i = 0; i < polled_rings_.size(); ++i) {
    if (polled_rings_[i].slots && polling_.members()[i].peer == peer) return &polled_rings_[i];
  }
  return nullptr;
}

bool EagerRings::take_in_control(const Message& message) {
  if (message.kind == MessageHeader::kRingOffered) return ring_offered(message);
  if (!message.body.empty()) return false;
  switch (message.kind) {
    case MessageHeader::kRingAccepted: {
      PolledRing* const ring = polled_ring_of(message.peer);
      if (ring == nullptr || std::exchange(ring->accepted, true)) return false;
      polling_.accepted(message.peer);
      return true;
    }
    case MessageHeader::kRingStop:
      return ring_stop(message.peer);
    case MessageHeader::kRingStopped:
      return ring_stopped(message.peer);
    default:
      return false;
  }
}

bool EagerRings::ring_offered(const Message& message) {
  RingOffer offer;
  if (message.body.size() != sizeof offer) return false;
  std::memcpy(&offer, message.body.data(), sizeof offer);
  const std::optional<RingShape> shape = SendingRing::shape_of(offer);
  Link& link = links_.to(message.peer);
  const std::lock_guard guard(link.lock);
  if (!shape || link.ring.in_use()) return false;
  // If this process's device may not write there, the first message fails, and the peer is given up.
  RingMemory::Piece image;
  if (shape->bytes() <= image_memory_.bytes()) image = image_memory_.take();
  if (image == nullptr) {
    links_.queue_control(link, message.peer, MessageHeader::kRingStopped);
    return true;
  }
  link.ring.open(offer, *shape, std::move(image));
  links_.queue_control(link, message.peer, MessageHeader::kRingAccepted);
  return true;
}

bool EagerRings::ring_stop(int peer) {
  Link& link = links_.to(peer);
  const std::lock_guard guard(link.lock);
  if (!link.ring.is_open()) return false;
  link.ring.stop();
  links_.queue_control(link, peer, MessageHeader::kRingStopped);
  return true;
}

bool EagerRings::ring_stopped(int peer) {
  PolledRing* const ring = polled_ring_of(peer);
  if (ring == nullptr) return false;
  if (ring->accepted && polling_.state(peer) != PollingSet::State::leaving) return false;
  Link& link = links_.to(peer);
  const std::lock_guard guard(link.lock);
  link.declined = !ring->accepted;
  link.promise_ring(0);
  ring->slots.reset();
  ring_memory_.give(std::move(ring->memory));
  polling_.removed(peer);
  return true;
}

void EagerRings::forget(int peer) {
  if (PolledRing* const ring = polled_ring_of(peer)) {
    ring->slots.reset();
    ring_memory_.drop(std::move(ring->memory));
  }
  polling_.removed(peer);
  Link& link = links_.to(peer);
  const std::lock_guard guard(link.lock);
  link.ring.stop();
  image_memory_.drop(link.ring.take_image());
}

void EagerRings::prepare_sleep(HelperSleep::Depth depth) {
  depth_ = depth;
  // Offers that were decided and not made yet are for the sort of ring that this sleep allows.
  polling_.demote([&](std::size_t place) {
    const PolledRing& ring = polled_rings_[place];
    return depth == HelperSleep::Depth::all || (ring.slots && !ring.unsolicited_only);
  });
  decide();
}

bool EagerRings::may_sleep() {
  return std::ranges::all_of(polling_.members(), [this](const PollingSet::Member& member) {
    if (member.state == PollingSet::State::out) return true;
    Link& link = links_.to(member.peer);
    const std::lock_guard guard(link.lock);
    return link.failed || !link.busy();
  });
}

}  // namespace librma
