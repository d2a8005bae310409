#include "messages/arrivals.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "util/log.hpp"
#include "util/statistics.hpp"
#include "util/take_head.hpp"
#include "util/undo.hpp"

namespace librma {
namespace {

/// The most messages that a thread takes from one ring before it looks at the next.
constexpr int kAtOnce = 32;

void describe_message(ReceiveOperation& receive, int source, int tag, std::size_t bytes) {
  receive.peer = source;
  receive.bytes = bytes;
  if (receive.info != nullptr) *receive.info = {.source = source, .tag = tag, .bytes = bytes};
}

/// Returns whether an honest rank announces data in this form: one of this host, whose memory this process
/// may read, or one whose messages come by the channel.
bool honest_form(RendezvousForm form, bool by_ring) {
  switch (form) {
    case RendezvousForm::inlined:
    case RendezvousForm::opaque:
      return true;
    case RendezvousForm::plain:
    case RendezvousForm::laid_out:
      return by_ring;
    case RendezvousForm::keyed:
    case RendezvousForm::piped:
      return !by_ring;
  }
  return false;
}

/// Returns whether a thread that takes in a message of this type may have to copy long data.
bool may_copy(MessageType type) { return type == MessageType::rendezvous || type == MessageType::share; }

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
  ring.receiver.pop(head, UnexpectedWindow::cost(head.body.size()));
  if (ring.receiver.wished_for_room()) outbox_.wake(ring.sender);
  return true;
}

bool Arrivals::receive_longer(MessageContext& context, int source, int tag, std::span<std::byte> buffer,
                              rma_message_info_t& info) {
  const MessageData data = MessageData::of(buffer);
  DirectReceive receive = {
      .context = context, .source = source, .tag = tag, .data = data, .most = buffer.size()};
  if (!take_first_for(*inbox_.of(source), receive)) return false;
  info = {.source = source, .tag = receive.its_tag, .bytes = receive.bytes};
  return true;
}

bool Arrivals::take(DirectReceive& receive, int sender, const LineReceiver::Head& head) {
  if (head.type != MessageType::eager || !receive.wants(sender, head.envelope) ||
      head.body.size() > receive.most ||
      (!receive.context.matcher.idle() &&
       !is_next(receive.context, sender, receive.tag, head.envelope.tag, receive.source))) {
    return false;
  }
  receive.from = sender;
  receive.its_tag = head.envelope.tag;
  receive.bytes = head.body.size();
  receive.data.scatter(0, head.body.first(std::min(receive.bytes, receive.data.bytes)));
  return true;
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
          (direct != nullptr && !direct->waits && may_copy(head.type)))
        break;
      if (direct != nullptr && what == LineReceiver::Found::message && take(*direct, ring.sender, head)) {
        ring.receiver.pop(head, UnexpectedWindow::cost(head.body.size()));
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
    if (found && ring.receiver.wished_for_room()) outbox_.wake(ring.sender);
  }
  if (any_matched) operations_.wake_after_barrier();  // the barrier of wished_for_room()
  // Without the lock, because a long copy would keep other threads from this sender's next messages.
  copy(ring.sender, fetches);
  if (!honest) {
    log(LogLevel::warn,
        fmt::format("rank {} sent a message of no known form: this process exchanges nothing more with it",
                    ring.sender));
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
  receive.posted->info = {.source = source, .tag = tag, .bytes = data.size()};
  const std::size_t wanted = std::min(data.size(), receive.bytes);
  if (wanted <= RingLine::kBody) {
    copy_short(receive.address, data.data(), wanted);
  } else {
    std::memcpy(receive.address, data.data(), wanted);
  }
  operations_.end(receive, receive.status_of(data.size()), source);
}

int Arrivals::take_in_at_once(Inbox::Ring& ring) {
  int taken = 0;
  LineReceiver::Head head;
  for (; taken < kAtOnce; ++taken) {
    if (ring.receiver.peek_inlined(head) != LineReceiver::Found::message || head.type != MessageType::eager)
      break;
    const auto [number, tag] = head.envelope;
    MessageContext* const context = contexts_.locked_at_once(number);
    if (context == nullptr) [[unlikely]]
      break;
    // A receive keeps its context from being retired, so a context that was revived has none.
    PostedReceive* const posted = context->matcher.match_callers(ring.sender, tag);
    context->lock.unlock();
    if (posted == nullptr) break;
    end(*static_cast<CallersReceive*>(posted), ring.sender, tag, head.body);
    ring.receiver.pop(head, UnexpectedWindow::cost(head.body.size()));
  }
  return taken;
}

ReceiveOperation& Arrivals::operation_of(CallersReceive& receive, std::uint64_t name) {
  ReceiveOperation* made = nullptr;
  static_cast<void>(operations_.receives().with(name, [&](ReceiveOperation& operation) {
    operation.source = receive.source;
    operation.tag = receive.tag;
    operation.context = receive.context;
    operation.data = MessageData::of({receive.address, receive.bytes});
    operation.info = &receive.posted->info;
    operation.end.posted = receive.posted;
    operation.end.waits = false;
    made = &operation;
    return true;
  }));
  operations_.leave_callers();
  if (made == nullptr) std::abort();  // not reached: the caller has made the name
  return *made;
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
    return true;
  }
  auto& receive = *static_cast<ReceiveOperation*>(posted);
  describe_message(receive, arrival.source, tag, arrival.body.size());
  receive.data.scatter(0, arrival.body.first(receive.wanted()));
  operations_.end(receive, receive.status(), false);  // our caller wakes, once for many messages
  return true;
}

bool Arrivals::keep(MessageContext& context, const Arrival& arrival, std::size_t bytes,
                    std::unique_ptr<Announcement> announcement, std::span<const std::byte> data, bool costs) {
  std::atomic<std::uint64_t>& already = kept_[static_cast<std::size_t>(arrival.source)];
  const std::uint64_t cost = UnexpectedWindow::cost(arrival.body.size());
  const bool counts = costs && !passes_window(context.number(), bytes);
  // One thread at a time takes in the messages of a source.
  if (counts && already.load(std::memory_order_relaxed) + cost > outbox_.window()) return false;
  count(Counter::receive_unexpected);
  auto kept = std::make_unique<KeptMessage>();
  kept->source = arrival.source;
  kept->tag = arrival.envelope.tag;
  kept->context = &context;
  kept->context_number = context.number();
  kept->bytes = bytes;
  kept->announcement = std::move(announcement);
  kept->costs = costs;
  kept->keep(data);
  context.matcher.add(*kept);
  context.kept.fetch_add(1, std::memory_order_relaxed);
  if (counts) already.fetch_add(cost, std::memory_order_relaxed);
  static_cast<void>(kept.release());  // the matcher has it now
  return true;
}

bool Arrivals::take_in_announcement(const Arrival& arrival, bool* matched, std::vector<Fetch>& fetches) {
  fetches.reserve(fetches.size() + 1);  // throws before anything has changed
  auto announced = Announcement::decode(arrival.body);
  if (!announced || arrival.envelope.tag < 0 ||
      !honest_form(announced->head.form, outbox_.by_ring(arrival.source))) {
    return false;
  }
  PostedReceive* posted = nullptr;
  // For a CallersReceive. It is made before the lock is taken, and before anything has changed.
  ReceiveOperation& spare = operations_.receives().make();
  const std::uint64_t name = spare.name;
  Undo end_spare([&] { operations_.receives().end(name); });
  {
    MessageContext& context = contexts_.locked(arrival.envelope.context);
    const std::lock_guard guard(context.lock, std::adopt_lock);
    posted = context.matcher.match(arrival.source, arrival.envelope.tag);
    if (posted != nullptr && posted->posted != nullptr) posted->posted->operation = name;
    if (posted == nullptr) {
      auto kept = std::make_unique<Announcement>(*announced);
      kept->start = {};
      return keep(context, arrival, static_cast<std::size_t>(announced->head.bytes), std::move(kept),
                  announced->start, announced->costs());
    }
  }
  const bool callers = posted->posted != nullptr;
  if (callers) end_spare.dismiss();
  ReceiveOperation& receive = callers ? operation_of(*static_cast<CallersReceive*>(posted), name)
                                      : *static_cast<ReceiveOperation*>(posted);
  describe_message(receive, arrival.source, arrival.envelope.tag,
                   static_cast<std::size_t>(announced->head.bytes));
  *matched = announced->costs();
  if (!announced->start.empty() || announced->head.form == RendezvousForm::inlined) {
    // The data that came with the announcement are valid only now, and the rest is asked for by messages.
    rendezvous_.fetch(receive, *announced);
  } else {
    fetches.push_back({.receive = &receive, .announced = std::move(*announced)});
  }
  return true;
}

bool Arrivals::take_in_share(const Arrival& arrival, std::vector<Fetch>& fetches) {
  std::span<const std::byte> body = arrival.body;
  const auto head = take_head<ShareHead>(body);
  if (!head || !head->valid() || !outbox_.by_ring(arrival.source)) return false;
  fetches.push_back({.receive = nullptr, .announced = {}, .share = *head});
  return true;
}

bool Arrivals::take_in_released(const Arrival& arrival) {
  std::span<const std::byte> body = arrival.body;
  const auto head = take_head<ReleasedHead>(body);
  return head && body.empty() && outbox_.released(arrival.source, head->cost);
}

bool Arrivals::take_in_revoked(const Arrival& arrival) {
  std::span<const std::byte> body = arrival.body;
  const auto head = take_head<RevokedHead>(body);
  if (!head || head->context < kFirstOwnContext || head->lost > kept_.size()) return false;
  const int lost = head->lost != 0 ? static_cast<int>(head->lost - 1) : MessageContext::kNobody;
  MessageContext* const found = contexts_.locked_unless_retired(head->context);
  if (found == nullptr) return true;  // nothing of this process is under way there
  MessageContext& context = *found;
  {
    const std::lock_guard guard(context.lock, std::adopt_lock);
    context.revoke(arrival.source, lost);  // so it is not dropped, unless its number is retired
  }
  // A send or receive that begins now finds the context revoked when it is in its pool.
  operations_.sends().each(
      [&](SendOperation& send) {
        return send.own == &context && send.peer == arrival.source && std::exchange(send.open, false);
      },
      [&](SendOperation& send) {
        outbox_.drop(send);
        operations_.end(send, RMA_ERR_PEER_LOST);
      });
  PostedReceive* hopeless = nullptr;
  {
    const std::lock_guard guard(context.lock);
    hopeless = context.matcher.withdraw_all([](const PostedReceive& /*any*/) { return true; }, nullptr);
  }
  end_all(hopeless, lost != MessageContext::kNobody ? lost : arrival.source);
  return true;
}

void Arrivals::end_all(PostedReceive* chain, int lost) {
  while (chain != nullptr) {
    PostedReceive& receive = *std::exchange(chain, chain->links[0].next);
    if (receive.posted != nullptr) {
      operations_.end(static_cast<CallersReceive&>(receive), RMA_ERR_PEER_LOST, lost);
    } else {
      auto& operation = static_cast<ReceiveOperation&>(receive);
      operation.peer = lost;
      operations_.end(operation, RMA_ERR_PEER_LOST);
    }
  }
  operations_.wake();
}

bool Arrivals::take_in_retract(const Arrival& arrival) {
  std::span<const std::byte> body = arrival.body;
  const auto head = take_head<RetractHead>(body);
  if (!head || !body.empty() || head->envelope.tag < 0) return false;
  std::unique_ptr<KeptMessage> kept;
  if (MessageContext* const context = contexts_.find(head->envelope.context); context != nullptr) {
    // If it was dropped meanwhile, and is another one, it does not have the message either.
    const std::lock_guard guard(context->lock);
    const auto is_meant = [&](const UnexpectedMessage& message) {
      const auto& announcement = static_cast<const KeptMessage&>(message).announcement;
      return announcement != nullptr && announcement->head.sender == head->sender;
    };
    kept.reset(
        static_cast<KeptMessage*>(context->matcher.find_if(arrival.source, head->envelope.tag, is_meant)));
    if (kept != nullptr) context->matcher.take(*kept);
  }
  if (kept == nullptr) return true;  // a receive has matched it, or a matched probe has taken it
  release(*kept);
  outbox_.control(arrival.source, MessageType::retracted, RetractedHead{.sender = head->sender});
  return true;
}

void Arrivals::deliver(std::unique_ptr<KeptMessage> message, ReceiveOperation& receive) {
  describe_message(receive, message->source, message->tag, message->bytes);
  const std::span<const std::byte> start = message->start();
  release(*message);
  if (message->announcement != nullptr) {
    message->announcement->start = start;
    rendezvous_.fetch(receive, *message->announcement);
    return;
  }
  receive.data.scatter(0, start.first(receive.wanted()));
  operations_.end(receive, receive.status());
}

void Arrivals::deliver_at_once(std::unique_ptr<KeptMessage> message, std::span<std::byte> buffer,
                               rma_message_info_t& info) {
  release(*message);
  info = {.source = message->source, .tag = message->tag, .bytes = message->bytes};
  MessageData::of(buffer).scatter(0, message->start().first(std::min(message->bytes, buffer.size())));
}

bool Arrivals::deliver_deferred(std::unique_ptr<KeptMessage> message, ReceiveOperation& receive) {
  const Announcement* const announced = message->announcement.get();
  const bool copied =
      announced != nullptr && message->start().empty() &&
      (announced->head.form == RendezvousForm::plain || announced->head.form == RendezvousForm::laid_out);
  if (copied) {
    describe_message(receive, message->source, message->tag, message->bytes);
    try {
      const std::lock_guard guard(deferred_lock_);
      deferred_.push_back({.receive = &receive, .announced = *announced});
      deferred_count_.store(deferred_.size(),
                            std::memory_order_relaxed);  // the caller's wake-up orders it for others
    } catch (const std::bad_alloc&) {
      deliver(std::move(message), receive);
      return false;
    }
    release(*message);
    return true;
  }
  deliver(std::move(message), receive);
  return false;
}

void Arrivals::discard(MessageContext& context, std::uint32_t number) {
  for (;;) {
    std::unique_ptr<KeptMessage> message;
    {
      const std::lock_guard guard(context.lock);
      if (!context.is(number)) return;
      auto* const first = static_cast<KeptMessage*>(context.matcher.find(kAnySource, kAnyTag));
      // The sender of an announced message still waits.
      if (first == nullptr || first->announcement != nullptr) return;
      context.matcher.take(*first);
      message.reset(first);
    }
    release(*message);
  }
}

Arrivals::Kept Arrivals::take_kept(DirectReceive& receive) {
  std::unique_ptr<KeptMessage> message;
  {
    const std::lock_guard guard(receive.context.lock);
    Matcher& matcher = receive.context.matcher;
    auto* const found = static_cast<KeptMessage*>(matcher.find(receive.source, receive.tag));
    if (found == nullptr) return Kept::none;
    if (found->announcement != nullptr || found->bytes > receive.most) return Kept::other;
    matcher.take(*found);
    message.reset(found);
  }
  release(*message);
  receive.from = message->source;
  receive.its_tag = message->tag;
  receive.bytes = message->bytes;
  receive.data.scatter(0, message->start().first(std::min(receive.bytes, receive.data.bytes)));
  return Kept::taken;
}

void Arrivals::release(const KeptMessage& message) {
  if (!message.costs) return;
  const std::size_t head = message.announcement != nullptr ? sizeof(RendezvousHead) : 0;
  const std::uint64_t cost = UnexpectedWindow::cost(message.data_bytes + head);
  if (!passes_window(message.context_number, message.bytes)) {
    kept_[static_cast<std::size_t>(message.source)].fetch_sub(cost, std::memory_order_relaxed);
  }
  give_back(message.source, cost);  // after the line above: the source may fill the room at once
}

void Arrivals::give_back(int source, std::uint64_t cost) {
  if (!outbox_.by_ring(source)) {
    outbox_.give_back(source, cost);
  } else if (Inbox::Ring* const ring = inbox_.of(source); ring != nullptr) {
    ring->receiver.release(cost);
  }
}

}  // namespace librma
