#include "messages/arrivals.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "channel/channel.hpp"
#include "util/log.hpp"
#include "util/statistics.hpp"
#include "util/take_head.hpp"

namespace librma {
namespace {

/// The most messages that a thread takes from one ring before it looks at the next.
constexpr int kAtOnce = 32;

/// Returns whether a thread that takes in a message of this type may have to copy long data.
bool may_copy(MessageType type) { return type == MessageType::rendezvous || type == MessageType::share; }

/// Returns whether a message of this form brings no data with its announcement, and comes from this host.
bool fetched_on_host(RendezvousForm form) {
  return form == RendezvousForm::plain || form == RendezvousForm::laid_out || form == RendezvousForm::opaque;
}

}  // namespace

bool Arrivals::poll_rings() {
  bool found = deferred_count_.load(std::memory_order_relaxed) != 0 && copy_deferred();
  for (Inbox::Ring* const ring : inbox_.rings()) {
    if (ring->waiting()) found = poll_ring(*ring) || found;
  }
  return found;
}

bool Arrivals::poll_rings_for(DirectReceive& receive) {
  const std::span<Inbox::Ring* const> rings = inbox_.rings();
  // Begins behind the ring that had the last message, so that no sender keeps the others from being heard.
  std::size_t next = next_ring_.load(std::memory_order_relaxed);
  for (std::size_t left = rings.size(); left > 0; --left) {
    if (next >= rings.size()) next = 0;
    Inbox::Ring& ring = *rings[next++];
    if (!ring.waiting()) continue;
    if (!take_first_for(ring, receive)) static_cast<void>(poll_ring(ring, &receive));
    if (receive.from < 0) continue;
    if (rings.size() > 1) next_ring_.store(next, std::memory_order_relaxed);
    return true;
  }
  return false;
}

bool Arrivals::take_first_for(Inbox::Ring& ring, DirectReceive& receive) {
  const std::unique_lock guard(ring.lock, std::try_to_lock);
  LineReceiver::Head head;
  if (!guard.owns_lock() || ring.closed.load(std::memory_order_relaxed) ||
      ring.receiver.peek_inlined(head) != LineReceiver::Found::message || !take(receive, ring.sender, head)) {
    return false;
  }
  ring.receiver.pop(head, receive.cost(head.body.size()));
  if (ring.receiver.wished_for_room()) outbox_.wake_otherwise(ring.sender);
  return true;
}

bool Arrivals::receive_otherwise(MessageContext& context, int source, int tag, std::span<std::byte> buffer,
                                 rma_message_info_t* info) {
  const MessageData data = MessageData::of(buffer);
  DirectReceive receive = {
      .context = context, .source = source, .tag = tag, .data = data, .most = buffer.size()};
  if (!take_first_for(*inbox_.of(source), receive)) return false;
  if (info != nullptr) *info = {.source = source, .tag = receive.its_tag, .bytes = receive.bytes};
  return true;
}

bool Arrivals::take(DirectReceive& receive, int sender, const LineReceiver::Head& head) {
  const bool announced = head.type == MessageType::rendezvous && receive.own != nullptr;
  if ((head.type != MessageType::eager && !announced) || !receive.wants(sender, head.envelope) ||
      head.body.size() > receive.most ||
      (!receive.context.matcher.idle() &&
       !is_next(receive.context, sender, receive.tag, head.envelope.tag, receive.source))) {
    return false;
  }
  if (announced) return take_announced(receive, sender, head);
  receive.from = sender;
  receive.its_tag = head.envelope.tag;
  receive.bytes = head.body.size();
  receive.data.scatter(0, head.body.first(std::min(receive.bytes, receive.data.bytes)));
  return true;
}

bool Arrivals::take_announced(DirectReceive& receive, int sender, const LineReceiver::Head& head) noexcept
    try {
  auto announced = Announcement::decode(head.body);
  // take_in_announcement() takes the other forms in, or refuses them.
  if (!announced || !fetched_on_host(announced->head.form)) return false;
  const auto bytes = static_cast<std::size_t>(announced->head.bytes);
  receive.operation = &operations_.receives().make([&](ReceiveOperation& operation) {
    operation.source = receive.source;
    operation.tag = receive.tag;
    operation.context = &receive.context;
    operation.data = receive.data;
    operation.info = receive.info;
    operation.tell_in(*receive.own);
    operation.describe(sender, head.envelope.tag, bytes);
    operations_.begin(receive.data.bytes);
  });
  receive.announced = std::move(announced);
  receive.from = sender;
  return true;
} catch (const std::bad_alloc&) {
  return false;  // nothing has changed: the message stays in the ring until there is memory
}

bool Arrivals::is_next(MessageContext& context, int sender, int tag, int its_tag, int source) {
  const std::lock_guard guard(context.lock);
  Matcher& matcher = context.matcher;
  return matcher.find(source, tag) == nullptr && matcher.posted_for(sender, its_tag) == nullptr;
}

void Arrivals::drain(int rank) {
  Inbox::Ring* const ring = inbox_.of(rank);
  if (ring == nullptr) return;
  while (ring->waiting()) static_cast<void>(poll_ring(*ring, nullptr, true));
}

void Arrivals::look(int rank) {
  Inbox::Ring* const ring = inbox_.of(rank);
  if (ring == nullptr) return;
  // Another thread that reads the ring may have looked before the last message came. It does not read for
  // long.
  constexpr int kLooks = 1000;
  for (int looks = 0; looks < kLooks && ring->waiting(); ++looks) {
    if (!poll_ring(*ring)) pause_processor();
  }
}

bool Arrivals::poll_ring(Inbox::Ring& ring, DirectReceive* direct, bool ended) {
  std::vector<Fetch> fetches;
  bool found = false;
  bool any_matched = false;
  bool honest = true;
  {
    const std::unique_lock guard(ring.lock, std::try_to_lock);
    if (!guard.owns_lock()) return false;
    if (outbox_.lost(ring.sender)) ring.closed.store(true, std::memory_order_relaxed);
    if (ring.closed.load(std::memory_order_relaxed)) return false;
    const int at_once = direct == nullptr ? take_in_at_once(ring) : 0;
    found = any_matched = at_once != 0;
    for (int i = at_once; i < kAtOnce; ++i) {
      LineReceiver::Head head;
      const LineReceiver::Found what = ring.receiver.peek(head);
      if (what == LineReceiver::Found::nothing ||
          (direct != nullptr && direct->own == nullptr && may_copy(head.type)))
        break;
      if (direct != nullptr && what == LineReceiver::Found::message && take(*direct, ring.sender, head)) {
        ring.receiver.pop(head, direct->cost(head.body.size()));
        found = true;
        break;
      }
      bool matched = false;
      honest = what == LineReceiver::Found::message;
      try {
        honest =
            honest &&
            take_in({.source = ring.sender, .type = head.type, .envelope = head.envelope, .body = head.body},
                    &matched, fetches);
      } catch (const std::bad_alloc&) {
        if (!ended) break;  // the message stays there until there is memory to keep it, or a receive for it
      }
      if (!honest) {
        ring.closed.store(true, std::memory_order_relaxed);
        break;
      }
      ring.receiver.pop(head, matched ? UnexpectedWindow::cost(head.body.size()) : 0);
      found = true;
      any_matched = any_matched || matched;
    }
    if (found && ring.receiver.wished_for_room()) outbox_.wake_otherwise(ring.sender);
  }
  if (any_matched) operations_.wake_after_barrier();  // the barrier of wished_for_room()
  // Without the lock, because a long copy would keep other threads from this sender's next messages.
  copy(ring.sender, fetches);
  if (!honest) {
    log(LogLevel::warn,
        "rank {} sent a message of no known form: this process exchanges nothing more with it", ring.sender);
    count(Counter::messages_refused);
    give_up_(ring.sender);
  }
  return found || !honest;
}

void Arrivals::copy(int source, const std::vector<Fetch>& fetches) {
  for (const Fetch& this_fetch : fetches) {
    if (this_fetch.receive != nullptr) {
      rendezvous_.fetch(*this_fetch.receive, this_fetch.announced);
    } else {
      rendezvous_.help(source, this_fetch.share);
    }
  }
}

bool Arrivals::copy_deferred() {
  std::vector<Fetch> ones;
  {
    const std::lock_guard guard(deferred_lock_);
    ones.swap(deferred_);
    deferred_count_.store(0, std::memory_order_relaxed);
  }
  for (const Fetch& this_fetch : ones) rendezvous_.fetch(*this_fetch.receive, this_fetch.announced);
  return !ones.empty();
}

bool Arrivals::take_in_channel(const Message& message) {
  std::span<const std::byte> body = message.body;
  const auto head = take_head<ChannelHead>(body);
  if (!head || outbox_.by_ring(message.peer) || head->type > static_cast<std::uint32_t>(kLastType) ||
      head->reserved != 0) {
    return false;
  }
  bool matched = false;
  std::vector<Fetch> fetches;
  const Arrival arrival = {.source = message.peer,
                           .type = static_cast<MessageType>(head->type),
                           .envelope = head->envelope,
                           .body = body};
  if (!take_in(arrival, &matched, fetches)) return false;
  if (matched) {
    outbox_.give_back(message.peer, UnexpectedWindow::cost(body.size()));
    operations_.wake();
  }
  copy(message.peer, fetches);
  return true;
}

bool Arrivals::take_in(const Arrival& arrival, bool* matched, std::vector<Fetch>& fetches) {
  switch (arrival.type) {
    case MessageType::eager:
      return take_in_eager(arrival, matched);
    case MessageType::rendezvous:
      return take_in_announcement(arrival, matched, fetches);
    case MessageType::released:
      return take_in_released(arrival);
    case MessageType::share:
      return take_in_share(arrival, fetches);
    case MessageType::revoked:
      return take_in_revoked(arrival);
    case MessageType::retract:
      return take_in_retract(arrival);
    case MessageType::numbers:
      return numbers_.take_in(arrival);
    default:
      return rendezvous_.take_in(arrival);
  }
}

inline void Arrivals::end(CallersReceive& receive, int source, int tag, std::span<const std::byte> data) {
  rma_posted_recv_t& posted = *receive.posted;
  posted.info = {.source = source, .tag = tag, .bytes = data.size()};
  const std::span<std::byte> buffer = receive.buffer();
  const std::size_t wanted = std::min(data.size(), buffer.size());
  if (wanted <= RingLine::kBody) {
    copy_short(buffer.data(), data.data(), wanted);
  } else {
    std::memcpy(buffer.data(), data.data(), wanted);
  }
  OperationEnds::tell(posted, data.size() <= buffer.size() ? RMA_SUCCESS : RMA_ERR_TRUNCATED, source);
}

int Arrivals::take_in_at_once(Inbox::Ring& ring) {
  int taken = 0;
  MessageContext* context = nullptr;  // of the last message; this thread holds its lock
  {
    LineReceiver::Batch batch(ring.receiver);
    LineReceiver::Head head;
    for (; taken < kAtOnce; ++taken) {
      if (batch.peek(head) != LineReceiver::Found::message || head.type != MessageType::eager) break;
      const auto [number, tag] = head.envelope;
      if (context == nullptr || !context->is(number)) {
        if (context != nullptr) context->lock.unlock();
        context = contexts_.locked_at_once(number);
        if (context == nullptr) [[unlikely]]
          break;
      }
      // A receive keeps its context from being retired, so a context that was revived has none.
      PostedReceive* const posted = context->matcher.match_callers(ring.sender, tag);
      if (posted == nullptr) break;
      end(*static_cast<CallersReceive*>(posted), ring.sender, tag, head.body);
      batch.pop(head, UnexpectedWindow::cost(head.body.size()));
    }
    if (context != nullptr) context->lock.unlock();
  }
  operations_.leave_callers(taken);
  return taken;
}

bool Arrivals::take_in_eager(const Arrival& arrival, bool* matched) {
  const auto [context_number, tag] = arrival.envelope;
  if (tag < 0) return false;
  PostedReceive* posted = nullptr;
  {
    MessageContext* const context = contexts_.locked_unless_retired(context_number);
    *matched = context == nullptr;  // nobody will receive the message, so its room is free again
    if (*matched) return true;
    const std::lock_guard guard(context->lock, std::adopt_lock);
    *matched = context->revived();
    if (*matched) return true;
    posted = context->matcher.match(arrival.source, tag);
    if (posted == nullptr) return keep(*context, arrival, arrival.body.size(), nullptr, arrival.body, true);
  }
  *matched = true;
  if (posted->posted != nullptr) {
    end(*static_cast<CallersReceive*>(posted), arrival.source, tag, arrival.body);
    operations_.leave_callers(1);
    return true;
  }
  auto& receive = *static_cast<ReceiveOperation*>(posted);
  receive.describe(arrival.source, tag, arrival.body.size());
  receive.data.scatter(0, arrival.body.first(receive.wanted()));
  operations_.end(receive, receive.status(), false);  // our caller wakes, once for many messages
  return true;
}

}  // namespace librma
