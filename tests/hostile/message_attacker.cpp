// The attacker of a MessageWorld.

#include <algorithm>
#include <vector>

#include "hostile/message_world.hpp"
#include "hostile/payload.hpp"

namespace librma::hostile {

void MessageWorld::say(MessageType type, Envelope envelope, std::span<const std::byte> head,
                       std::span<const std::byte> body) {
  if (to_victim_ != nullptr) {
    const std::size_t most = kWorldRing.most_body() - head.size();
    // An attacker whose ring is full overwrites it, as far as its own bookkeeping lets it.
    static_cast<void>(to_victim_->send(type, envelope, head, body.first(std::min(body.size(), most))));
    return;
  }
  Channel& channel = *processes_->at(kAttacker).channel;
  std::vector<std::byte> all(sizeof(ChannelHead));
  const ChannelHead channel_head = {.envelope = envelope, .type = static_cast<std::uint32_t>(type)};
  std::memcpy(all.data(), &channel_head, sizeof channel_head);
  all.insert(all.end(), head.begin(), head.end());
  all.insert(all.end(), body.begin(), body.end());
  all.resize(std::min(all.size(), channel.max_body()));
  channel.send(kVictim, 0, Outbox::kChannelKind, all, {});
}

void MessageWorld::announce(std::span<const std::uint8_t> payload) {
  const auto form = number<std::uint8_t>(payload);
  const int tag = number<std::uint8_t>(payload) % 128;
  const auto offset = number<std::uint16_t>(payload);
  const auto bytes = number<std::uint64_t>(payload);
  const RendezvousHead head = {.bytes = bytes,
                               .address = reinterpret_cast<std::uintptr_t>(arena_.data()) + offset,
                               .sender = name_of(0),
                               .form = static_cast<RendezvousForm>(form)};
  RailKeys keys = {};
  keys[0] = kPlayedKey;
  std::span<const std::byte> rest = as_bytes(payload);
  if (rest.empty() && head.form == RendezvousForm::keyed) rest = std::as_bytes(std::span(keys));
  say(MessageType::rendezvous, {.context = kContext, .tag = tag}, std::as_bytes(std::span(&head, 1)), rest);
}

void MessageWorld::ready(std::span<const std::uint8_t> payload) {
  const auto slot = number<std::uint8_t>(payload);
  const auto use = number<std::uint8_t>(payload);
  ReadyHead head = {.sender = name_of(slot, use), .receiver = 7};
  head.offset = number<std::uint16_t>(payload);
  head.bytes = number<std::uint16_t>(payload);
  head.address = reinterpret_cast<std::uintptr_t>(arena_.data()) + number<std::uint16_t>(payload);
  RailKeys keys = {};
  keys[0] = kPlayedKey;
  say(MessageType::ready, {}, std::as_bytes(std::span(&head, 1)), std::as_bytes(std::span(keys)));
}

void MessageWorld::write_line(std::span<const std::uint8_t> payload) {
  if (ring_ == nullptr) return;
  const std::size_t line = number<std::uint8_t>(payload) % kWorldRing.lines;
  std::byte* const lines = ring_ + sizeof(LineFeedback) + sizeof(LineWish) + sizeof(PieceClaims);
  const std::size_t bytes = std::min(payload.size(), sizeof(RingLine));
  std::ranges::copy(as_bytes(payload.first(bytes)), lines + line * sizeof(RingLine));
}

void MessageWorld::write_feedback(std::span<const std::uint8_t> payload) {
  if (ring_ == nullptr) return;
  WorldProcess& attacker = processes_->at(kAttacker);
  const std::uint64_t address = attacker.block->rings[kVictim].load(std::memory_order_relaxed);
  if (address == 0) return;
  std::byte* const there =
      attacker.job->direct(reinterpret_cast<const void*>(address), kWorldRing.memory(), kVictim);
  demand(there != nullptr, "the victim's ring does not lie in its heap");
  auto& feedback = *reinterpret_cast<LineFeedback*>(there);
  feedback.taken.store(number<std::uint64_t>(payload));
  feedback.taken_bytes.store(number<std::uint64_t>(payload));
  feedback.delivered.store(number<std::uint64_t>(payload));
  feedback.matched_later.store(number<std::uint64_t>(payload));
}

bool MessageWorld::take_in_of_victim() {
  Inbox::Ring* const ring = inbox_ != nullptr ? inbox_->of(kVictim) : nullptr;
  bool found = false;
  LineReceiver::Head head;
  while (ring != nullptr && ring->receiver.peek(head) == LineReceiver::Found::message) {
    got_message(head.type, head.body);
    ring->receiver.pop(head, 0);
    found = true;
  }
  return found;
}

void MessageWorld::got_message(MessageType type, std::span<const std::byte> body) {
  std::span<const std::byte> data;
  if (type == MessageType::eager) data = body;
  if (type == MessageType::fragment) data = body.subspan(sizeof(FragmentHead));
  if (type == MessageType::rendezvous) {
    RendezvousHead head;
    std::memcpy(&head, body.data(), sizeof head);
    const bool with_data = head.form == RendezvousForm::inlined || head.form == RendezvousForm::piped;
    if (with_data) data = body.subspan(sizeof head);
  }
  demand(std::ranges::all_of(data, [](std::byte one) { return one == kGiven; }),
         "the victim has sent bytes that are not the message's");
  got_.push_back({.type = type, .body = {body.begin(), body.end()}});
}

}  // namespace librma::hostile
