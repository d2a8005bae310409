// Messages about other messages: announcements of long ones, and what revokes, retracts or frees something.

#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>

#include "messages/arrivals.hpp"
#include "util/take_head.hpp"
#include "util/undo.hpp"

namespace librma {
namespace {

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

}  // namespace

ReceiveOperation& Arrivals::operation_of(CallersReceive& receive, std::uint64_t name) {
  ReceiveOperation* made = nullptr;
  static_cast<void>(operations_.receives().with(name, [&](ReceiveOperation& operation) {
    operation.source = receive.source;
    operation.tag = receive.tag;
    operation.context = receive.context;
    operation.data = MessageData::of(receive.buffer());
    operation.info = &receive.posted->info;
    operation.end.posted = receive.posted;
    made = &operation;
    return true;
  }));
  operations_.leave_callers(1);
  if (made == nullptr) std::abort();  // not reached: the caller has made the name
  return *made;
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
  receive.describe(arrival.source, arrival.envelope.tag, static_cast<std::size_t>(announced->head.bytes));
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
  // A send or receive that begins now finds the context revoked.
  outbox_.take_sends(
      arrival.source, [&](const SendOperation& send) { return send.own == &context; },
      [&](const EndedSend& send) { operations_.end(send, RMA_ERR_PEER_LOST); });
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

}  // namespace librma
