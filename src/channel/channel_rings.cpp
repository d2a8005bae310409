// What a channel does about rings: the messages of a busy peer come by memory that this process polls.
//
// The receiver offers a ring, the sender accepts (or says that it has stopped, if it wants none) and then
// uses the ring wherever it has room. Told to stop, it says that it has stopped. These four travel by the
// shared queue always. Everything to one peer goes out by one queue pair, so whatever came before one of them
// is in place when it arrives; and all that a peer sends is delivered in the order of its numbers. So when
// `stopped` is delivered, all that ever was in the ring has been, and its memory is free.
//
// Nothing in a ring wakes a sleeper, and yet nothing stays there unseen. Before it sleeps, a receiver tells
// all that use a ring to stop, and it does not sleep before it has said so: arm(). From then on it offers
// none.
// - A peer that was told to stop says `stopped` by the queue, which wakes the receiver; all that it put into
// the
//   ring before is in place by then, and what it sends later goes by the queue.
// - A peer that was offered a ring says `accepted` by the queue before it uses it, which wakes the receiver,
// and
//   is told to stop.
// `Stop` wakes its peer, asleep or not, so the answer comes; if there is a credit for it. It may be among
// those that lie in a ring, unseen by a peer that sleeps. So nobody sleeps that has a ring of a peer's and
// anything to say to that peer, credits for more than half of what it has promised among it. Who sleeps has
// returned half of the peer's credits at least, two or more; and the peer, which has `stopped` to say, does
// not sleep before it has seen them, if they came by a ring of its own, and is awakened by them if they came
// by the queue.

#include <cstring>

#include "channel/channel.hpp"
#include "util/statistics.hpp"

namespace rma {

void Channel::heard(int peer) {
  // Who sleeps does not poll, though another thread takes in what comes in the meantime.
  if (!places_.empty() && !armed_) polling_.heard(peer);
}

bool Channel::look_at_rings() {
  bool found = false;
  for (std::size_t place = 0; place < places_.size(); ++place) found = look_at_ring(place) || found;
  return found;
}

void Channel::look_at_ring_of(int peer) {
  const Place* const place = place_of(peer);
  if (place != nullptr) static_cast<void>(look_at_ring(static_cast<std::size_t>(place - places_.data())));
}

bool Channel::look_at_ring(std::size_t place) {
  Place& its = places_[place];
  const int peer = polling_.members()[place].peer;
  bool found = false;
  // What is taken in may end the ring. No more than one lap, so that others have their turn.
  for (std::size_t i = 0; i < options_.ring.slots && its.slots; ++i) {
    const RingReceiver::Look look = its.slots->look();
    if (look.state == RingReceiver::State::nothing) break;
    // A copy, which the peer cannot change any more, whatever it does.
    const auto end = std::ranges::copy(look.message, ring_message_.begin()).out;
    const std::span<const std::byte> message(ring_message_.begin(), end);
    const Link::Order order =
        look.state == RingReceiver::State::message ? order_of(peer, message) : Link::Order::broken;
    // It stays where it is until those before it have come from the queue: a slot that was returned would be
    // filled again, and so there would be no end to messages that came too early.
    if (order == Link::Order::early) break;
    found = true;
    if (order == Link::Order::next) {
      its.slots->release();
      {
        Link& from = link(peer);
        const std::lock_guard guard(from.lock);
        from.ring_freed(its.slots->take_returned());
      }
      polling_.used(place);
      if (take_in(its.rail, peer, message, MessageWay::ring)) continue;
    }
    refuse(peer);
    break;
  }
  return found;
}

Link::Order Channel::order_of(int peer, std::span<const std::byte> message) {
  MessageHeader header;
  if (message.size() < sizeof header) return Link::Order::broken;
  std::memcpy(&header, message.data(), sizeof header);
  Link& its = link(peer);
  const std::lock_guard guard(its.lock);
  return its.order_of(header.sequence);
}

void Channel::decide() {
  while (const std::optional<PollingSet::Decision> decision = polling_.next()) {
    if (decision->kind == PollingSet::Decision::Kind::promote) {
      if (!promote(*decision)) polling_.removed(decision->peer);
      continue;
    }
    Link& its = link(decision->peer);
    const std::lock_guard guard(its.lock);
    say(its, decision->peer, MessageHeader::kRingStop);
  }
}

bool Channel::promote(const PollingSet::Decision& decision) {
  Link& its = link(decision.peer);
  const std::lock_guard guard(its.lock);
  if (its.failed || its.declined || !its.rail() || !its.its_rail()) return false;
  RingMemory::Piece memory = ring_memory_.take();
  if (memory == nullptr) return false;
  Place& place = places_[decision.place];
  place.memory = std::move(memory);
  place.rail = *its.its_rail();
  place.accepted = false;
  place.slots.emplace(options_.ring, RingMemory::memory(place.memory));
  its.promise_ring(static_cast<std::uint32_t>(options_.ring.slots));
  const Registered& registered = place.memory->registered();
  const RingOffer offer = {.address = reinterpret_cast<std::uintptr_t>(registered.address),
                           .key = registered.remote[place.rail],
                           .slots = static_cast<std::uint32_t>(options_.ring.slots),
                           .slot_bytes = static_cast<std::uint32_t>(options_.ring.slot_bytes)};
  say(its, decision.peer, MessageHeader::kRingOffered, std::as_bytes(std::span(&offer, 1)));
  count(Counter::ring);
  return true;
}

void Channel::say(Link& its, int peer, std::uint16_t kind, std::span<const std::byte> body) {
  if (its.failed) return;
  its.waiting.push_back({.kind = kind, .body = {body.begin(), body.end()}});
  list(its, peer);
}

Channel::Place* Channel::place_of(int peer) {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].slots && polling_.members()[i].peer == peer) return &places_[i];
  }
  return nullptr;
}

bool Channel::ring_message(const Message& message) {
  if (message.kind == MessageHeader::kRingOffered) return ring_offered(message);
  if (!message.body.empty()) return false;
  switch (message.kind) {
    case MessageHeader::kRingAccepted: {
      Place* const place = place_of(message.peer);
      if (place == nullptr || std::exchange(place->accepted, true)) return false;
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

bool Channel::ring_offered(const Message& message) {
  RingOffer offer;
  if (message.body.size() != sizeof offer) return false;
  std::memcpy(&offer, message.body.data(), sizeof offer);
  const std::optional<RingShape> shape = SendingRing::shape_of(offer);
  Link& its = link(message.peer);
  const std::lock_guard guard(its.lock);
  if (!shape || its.ring.in_use()) return false;
  // A device that is not allowed to write there says so at the first message, and the peer is lost.
  RingMemory::Piece image;
  if (shape->bytes() <= image_memory_.bytes()) image = image_memory_.take();
  if (image == nullptr) {
    say(its, message.peer, MessageHeader::kRingStopped);
    return true;
  }
  its.ring.open(offer, *shape, std::move(image));
  say(its, message.peer, MessageHeader::kRingAccepted);
  return true;
}

bool Channel::ring_stop(int peer) {
  Link& its = link(peer);
  const std::lock_guard guard(its.lock);
  if (!its.ring.is_open()) return false;
  its.ring.stop();
  say(its, peer, MessageHeader::kRingStopped);
  return true;
}

bool Channel::ring_stopped(int peer) {
  Place* const place = place_of(peer);
  if (place == nullptr) return false;
  if (place->accepted && polling_.state(peer) != PollingSet::State::leaving) return false;
  Link& its = link(peer);
  const std::lock_guard guard(its.lock);
  its.declined = !place->accepted;
  its.promise_ring(0);
  place->slots.reset();
  ring_memory_.give(std::move(place->memory));
  polling_.removed(peer);
  return true;
}

void Channel::forget_rings(int peer) {
  if (Place* const place = place_of(peer)) {
    place->slots.reset();
    ring_memory_.drop(std::move(place->memory));
  }
  polling_.removed(peer);
  Link& its = link(peer);
  const std::lock_guard guard(its.lock);
  its.ring.stop();
  image_memory_.drop(its.ring.take_image());
}

bool Channel::arm() {
  bool quiet = true;
  {
    const std::lock_guard turn(progress_lock_);
    armed_ = true;
    polling_.demote_all();
    decide();
    static_cast<void>(pump());
    for (const PollingSet::Member& member : polling_.members()) {
      if (member.state == PollingSet::State::out) continue;
      Link& its = link(member.peer);
      const std::lock_guard guard(its.lock);
      quiet = quiet && (its.failed || !its.busy());
    }
  }
  for (std::size_t rail = 0; rail < rails_.count(); ++rail) static_cast<void>(lane(rail).arm());
  return quiet;
}

void Channel::disarm() {
  const std::lock_guard turn(progress_lock_);
  armed_ = false;
}

}  // namespace rma
