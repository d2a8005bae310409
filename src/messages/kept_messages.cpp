// Messages that have come before their receive: how they are kept, and how receives and probes get them.

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "messages/arrivals.hpp"
#include "util/statistics.hpp"

namespace librma {

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

void Arrivals::deliver(std::unique_ptr<KeptMessage> message, ReceiveOperation& receive) {
  receive.describe(message->source, message->tag, message->bytes);
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
    receive.describe(message->source, message->tag, message->bytes);
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
