// Takes in the messages that arrive, and finds out which ranks have ended.

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "messages/messages.hpp"
#include "util/log.hpp"
#include "util/statistics.hpp"

namespace rma {
namespace {

/// The most messages that a thread takes from one ring before it looks at the next.
constexpr int kAtOnce = 32;

/// A thread that polls asks the clock after this many polls whether it is time to look for ended ranks.
constexpr std::uint64_t kLookAfterPolls = 256;

/// A thread that sleeps looks at most this often, in ms, whether a rank of this host has ended.
constexpr std::int64_t kLookEvery = 50;

/// Reads the head at the start of a body, and cuts it off. Returns no value if the body is shorter.
template <typename Head>
std::optional<Head> take_head(std::span<const std::byte>& body) {
  Head head;
  if (body.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, body.data(), sizeof head);
  body = body.subspan(sizeof head);
  return head;
}

/// Returns the number of bytes that must follow a head. No message has as many as are returned for a form that
/// does not exist.
std::size_t bytes_after(const RendezvousHead& head) {
  switch (head.form) {
    case RendezvousForm::plain:
      return 0;
    case RendezvousForm::inlined:
      return head.bytes;
    case RendezvousForm::keyed:
      return sizeof(RailKeys);
  }
  return SIZE_MAX;
}

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

void Messages::listen() {
  if (channel_ == nullptr) return;
  channel_->on_message(Outbox::kChannelKind,
                       [this](const Message& message) { return take_in_channel(message); });
  channel_->on_loss([this](int rank) { lose(rank); });
}

bool Messages::progress() {
  // A program that only tests never sleeps, and so never calls arm().
  if (++polls_ % kLookAfterPolls == 0) look_for_ended_ranks();
  bool found = poll_rings();
  found = outbox_.progress([this](std::uint64_t name) {
    SendOperation* over = nullptr;
    static_cast<void>(sends_.with(name, [&](SendOperation& one) {
      if (std::exchange(one.open, false)) over = &one;
      return over != nullptr;
    }));
    if (over != nullptr) end(*over, RMA_SUCCESS);
  }) || found;
  return end_reads() || found;
}

void Messages::arm() {
  look_for_ended_ranks();
  outbox_.ask_for_room();
}

bool Messages::poll_rings() {
  bool found = false;
  for (Inbox::Ring* const ring : inbox_.rings()) {
    if (ring->receiver.waiting()) found = poll_ring(*ring) || found;
  }
  return found;
}

bool Messages::poll_ring(Inbox::Ring& ring) {
  std::vector<Fetch> fetches;
  bool found = false;
  {
    const std::unique_lock guard(ring.lock, std::try_to_lock);
    if (!guard.owns_lock()) return false;
    for (int i = 0; i < kAtOnce; ++i) {
      LineReceiver::Head head;
      const LineReceiver::Found what = ring.receiver.peek(head);
      if (what == LineReceiver::Found::nothing) break;
      bool matched = false;
      const bool honest =
          what == LineReceiver::Found::message &&
          take_in({.source = ring.sender, .type = head.type, .envelope = head.envelope, .body = head.body},
                  &matched, fetches);
      if (!honest) {
        log(LogLevel::warn, fmt::format("rank {} sent a message that makes no sense", ring.sender));
        count(Counter::messages_refused);
      }
      ring.receiver.pop(head, matched ? UnexpectedWindow::cost(head.body.size()) : 0);
      found = true;
    }
    if (found && ring.receiver.wished_for_room()) outbox_.wake(ring.sender);
  }
  // Without the lock, because a long copy would keep other threads from this sender's next messages.
  for (const Fetch& one : fetches) fetch(one);
  return found;
}

bool Messages::take_in_channel(const Message& message) {
  std::span<const std::byte> body = message.body;
  const auto head = take_head<ChannelHead>(body);
  if (!head || outbox_.by_ring(message.peer)) return false;
  bool matched = false;
  std::vector<Fetch> fetches;
  const Arrival arrival = {.source = message.peer,
                           .type = static_cast<MessageType>(head->type),
                           .envelope = head->envelope,
                           .body = body};
  if (!take_in(arrival, &matched, fetches)) return false;
  if (matched) outbox_.give_back(message.peer, UnexpectedWindow::cost(body.size()));
  for (const Fetch& one : fetches) fetch(one);
  return true;
}

bool Messages::take_in(const Arrival& arrival, bool* matched, std::vector<Fetch>& fetches) {
  switch (arrival.type) {
    case MessageType::eager:
      return take_in_eager(arrival, matched);
    case MessageType::rendezvous:
      return take_in_rendezvous(arrival, matched, fetches);
    case MessageType::clear:
      return take_in_clear(arrival);
    case MessageType::fragment:
      return take_in_fragment(arrival);
    case MessageType::finished:
      return take_in_finished(arrival);
    case MessageType::released: {
      std::span<const std::byte> body = arrival.body;
      const auto head = take_head<ReleasedHead>(body);
      return head && outbox_.released(arrival.source, head->cost);
    }
  }
  return false;
}

bool Messages::take_in_eager(const Arrival& arrival, bool* matched) {
  const auto [context_number, tag] = arrival.envelope;
  if (tag < 0) return false;
  MessageContext& context = contexts_.of(context_number);
  PostedReceive* posted = nullptr;
  {
    const std::lock_guard guard(context.lock);
    posted = context.matcher.match(arrival.source, tag);
    if (posted == nullptr) keep(context, arrival, nullptr, arrival.body);
  }
  if (posted == nullptr) return true;
  auto& receive = *static_cast<ReceiveOperation*>(posted);
  receive.peer = arrival.source;
  if (receive.info != nullptr) {
    *receive.info = {.source = arrival.source, .tag = tag, .bytes = arrival.body.size()};
  }
  const std::size_t bytes = std::min(arrival.body.size(), receive.capacity);
  if (bytes != 0) std::memcpy(receive.buffer, arrival.body.data(), bytes);
  *matched = true;
  end(receive, bytes == arrival.body.size() ? RMA_SUCCESS : RMA_ERR_TRUNCATED);
  return true;
}

void Messages::keep(MessageContext& context, const Arrival& arrival, const RendezvousHead* head,
                    std::span<const std::byte> rest) {
  count(Counter::receive_unexpected);
  auto kept = std::make_unique<KeptMessage>();
  kept->source = arrival.source;
  kept->tag = arrival.envelope.tag;
  kept->type = arrival.type;
  kept->context = &context;
  kept->bytes = head != nullptr ? head->bytes : rest.size();
  if (head != nullptr) kept->rendezvous = *head;
  if (head != nullptr && head->form == RendezvousForm::keyed) {
    std::memcpy(kept->keys.data(), rest.data(), sizeof kept->keys);
  } else if (!rest.empty()) {
    kept->data = std::make_unique_for_overwrite<std::byte[]>(rest.size());
    std::memcpy(kept->data.get(), rest.data(), rest.size());
  }
  context.matcher.add(*kept);
  static_cast<void>(kept.release());  // the matcher has it now
}

bool Messages::take_in_rendezvous(const Arrival& arrival, bool* matched, std::vector<Fetch>& fetches) {
  std::span<const std::byte> rest = arrival.body;
  const auto head = take_head<RendezvousHead>(rest);
  if (!head || arrival.envelope.tag < 0 || rest.size() != bytes_after(*head)) return false;
  MessageContext& context = contexts_.of(arrival.envelope.context);
  PostedReceive* posted = nullptr;
  {
    const std::lock_guard guard(context.lock);
    posted = context.matcher.match(arrival.source, arrival.envelope.tag);
    if (posted == nullptr) keep(context, arrival, &*head, rest);
  }
  if (posted == nullptr) return true;
  auto& receive = *static_cast<ReceiveOperation*>(posted);
  receive.peer = arrival.source;
  receive.bytes = head->bytes;
  if (receive.info != nullptr) {
    *receive.info = {.source = arrival.source, .tag = arrival.envelope.tag, .bytes = head->bytes};
  }
  if (head->form != RendezvousForm::inlined) {
    Fetch one = {.receive = &receive, .head = *head};
    if (head->form == RendezvousForm::keyed) std::memcpy(one.keys.data(), rest.data(), sizeof one.keys);
    fetches.push_back(one);
    return true;
  }
  const std::size_t bytes = std::min(rest.size(), receive.capacity);
  if (bytes != 0) std::memcpy(receive.buffer, rest.data(), bytes);
  *matched = true;
  end_fetched(receive, head->sender, RMA_SUCCESS);
  return true;
}

bool Messages::take_in_clear(const Arrival& arrival) {
  std::span<const std::byte> body = arrival.body;
  const auto head = take_head<ClearHead>(body);
  if (!head) return false;
  SendOperation* cleared = nullptr;
  static_cast<void>(sends_.with(head->sender, [&](SendOperation& one) {
    // `wanted` is 0 until the first request.
    if (!one.open || one.peer != arrival.source || one.wanted != 0 || head->bytes == 0 ||
        head->bytes > one.bytes) {
      return false;
    }
    one.receiver = head->receiver;
    one.wanted = head->bytes;
    cleared = &one;
    return true;
  }));
  if (cleared == nullptr) return false;
  outbox_.send_fragments(*cleared);
  return true;
}

bool Messages::take_in_fragment(const Arrival& arrival) {
  std::span<const std::byte> data = arrival.body;
  const auto head = take_head<FragmentHead>(data);
  if (!head) return false;
  ReceiveOperation* complete = nullptr;
  const bool honest = receives_.with(head->receiver, [&](ReceiveOperation& one) {
    if (!one.fragmented || one.peer != arrival.source || head->offset != one.come ||
        data.size() > one.wanted - one.come) {
      return false;
    }
    std::memcpy(one.buffer + one.come, data.data(), data.size());
    one.come += data.size();
    if (one.come == one.wanted) {
      one.fragmented = false;
      complete = &one;
    }
    return true;
  });
  if (complete != nullptr) {
    end(*complete, complete->bytes <= complete->capacity ? RMA_SUCCESS : RMA_ERR_TRUNCATED);
  }
  return honest;
}

bool Messages::take_in_finished(const Arrival& arrival) {
  std::span<const std::byte> body = arrival.body;
  const auto head = take_head<FinishedHead>(body);
  if (!head || head->status < RMA_SUCCESS || head->status > RMA_ERR_CANCELED) return false;
  SendOperation* finished = nullptr;
  static_cast<void>(sends_.with(head->sender, [&](SendOperation& one) {
    if (one.peer != arrival.source || !std::exchange(one.open, false)) return false;
    finished = &one;
    return true;
  }));
  if (finished == nullptr) return false;
  end(*finished, static_cast<rma_status_t>(head->status));
  return true;
}

// ---- Ranks that end -----------------------------------------------------------------------------------------

bool Messages::awaits_lost(int source) const {
  if (!any_lost_.load(std::memory_order_acquire)) return false;
  return source == kAnySource || outbox_.lost(source);
}

void Messages::look_for_ended_ranks() {
  const std::int64_t now = now_ms();
  std::int64_t before = looked_.load(std::memory_order_relaxed);
  if (now - before < kLookEvery || !looked_.compare_exchange_strong(before, now, std::memory_order_relaxed)) {
    return;
  }
  for (const int rank : job_.local_ranks()) {
    if (rank == job_.rank() || outbox_.lost(rank) || !job_.mapped(rank) || !job_.ended(rank)) continue;
    // All that the rank sent before it ended is in its ring.
    if (Inbox::Ring* const ring = inbox_.of(rank); ring != nullptr) {
      while (ring->receiver.waiting()) static_cast<void>(poll_ring(*ring));
    }
    lose(rank);
  }
}

void Messages::lose(int rank) {
  outbox_.lose(rank);
  int none = -1;
  first_lost_.compare_exchange_strong(none, rank, std::memory_order_relaxed);
  any_lost_.store(true, std::memory_order_release);
  for (SendOperation* const send :
       sends_.all([&](SendOperation& one) { return one.peer == rank && std::exchange(one.open, false); })) {
    end(*send, RMA_ERR_PEER_LOST);
  }
  for (ReceiveOperation* const receive : receives_.all([&](ReceiveOperation& one) {
         if (one.fragmented) return one.peer == rank && std::exchange(one.fragmented, false);
         if (one.context == nullptr || (one.source != kAnySource && one.source != rank)) return false;
         const std::lock_guard guard(one.context->lock);
         if (one.links[0].queue == nullptr) return false;
         one.context->matcher.withdraw(one);
         one.peer = rank;
         return true;
       })) {
    end(*receive, RMA_ERR_PEER_LOST);
  }
  pending_.engine().wake();
}

}  // namespace rma
