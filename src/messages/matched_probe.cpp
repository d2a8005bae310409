// Looks for messages, receives those that a matched probe has taken, and cancels sends and receives.

#include <mutex>
#include <utility>

#include "messages/messages_waiting.hpp"
#include "util/text.hpp"
#include "util/try.hpp"

namespace librma {

Status Messages::probe(const Wanted& wanted, bool wait, bool* found, std::uint64_t* taken,
                       rma_message_info_t* info) {
  MessageContext& context = contexts_.of(wanted.context);
  *found = false;
  TakenMessage* const room = taken != nullptr ? &taken_.make() : nullptr;
  const auto look = [&] {
    const std::lock_guard guard(context.lock);
    auto* const message = static_cast<KeptMessage*>(context.matcher.find(wanted.source, wanted.tag));
    if (message == nullptr) return false;
    if (info != nullptr) *info = {.source = message->source, .tag = message->tag, .bytes = message->bytes};
    if (room != nullptr) {
      context.matcher.take(*message);
      room->kept.reset(message);
    }
    return *found = true;
  };
  if (!look()) {
    if (wait) {
      const ProgressEngine::Attendance attendance(pending_.engine());
      probes_.fetch_add(1, std::memory_order_relaxed);
      wait_until([&] { return look() || awaits_lost(wanted.source); },
                 [wanted](WaitNote& note) {
                   note.call = "a probe";
                   note.message = {.peer = wanted.source == kAnySource ? WaitNote::kAnybody : wanted.source,
                                   .tag = wanted.tag,
                                   .context = wanted.context};
                 });
      probes_.fetch_sub(1, std::memory_order_relaxed);
    } else {
      progress_once();
      // A program that asks again and again never sleeps, and would not learn that the rank has ended.
      if (wanted.source != kAnySource) {
        look_for_ended_ranks();
        signs_of_life_[static_cast<std::size_t>(wanted.source)].tested.store(true, std::memory_order_relaxed);
      }
    }
  }
  // A rank that is lost now may have sent the message before.
  const bool lost = !*found && !look() && awaits_lost(wanted.source);
  if (taken != nullptr) *taken = *found ? room->name : 0;
  if (room != nullptr && !*found) taken_.end(*room);
  return lost ? OperationEnds::outcome(RMA_ERR_PEER_LOST, lost_among(wanted.source)) : Status();
}

bool Messages::look_for_kept(MessageContext& context, int source, int tag, rma_message_info_t& info) {
  const std::lock_guard guard(context.lock);
  const auto* const message = static_cast<const KeptMessage*>(context.matcher.find(source, tag));
  if (message == nullptr) return false;
  info = {.source = message->source, .tag = message->tag, .bytes = message->bytes};
  return true;
}

Status Messages::receive_taken(std::uint64_t* taken, const MessageData& data, rma_message_info_t* info,
                               rma_request_t* request) {
  rma_request_t opened = RMA_REQUEST_NULL;
  rma_request_t* const wanted = request != nullptr ? &opened : nullptr;
  RMA_TRY(operations_.open(wanted, &opened));
  TakenMessage* found = nullptr;
  std::unique_ptr<KeptMessage> message;
  static_cast<void>(taken_.with(*taken, [&](TakenMessage& taken_message) {
    message = std::move(taken_message.kept);
    if (message != nullptr) found = &taken_message;
    return true;
  }));
  if (message == nullptr) {
    abandon(opened);
    return {RMA_ERR_ARGUMENT,
            text("{:#x} is no message that a matched probe has found, or was received already", *taken)};
  }
  const ProgressEngine::Attendance attendance(pending_.engine(), request == nullptr);
  taken_.end(*found);
  *taken = 0;
  if (request != nullptr) *request = opened;
  rma_posted_recv_t own = {};  // of a call that waits
  ReceiveOperation& operation = operations_.receives().make([&](ReceiveOperation& receive) {
    receive.source = message->source;
    receive.context = message->context;
    receive.data = data;
    receive.info = info;
    receive.end.request = opened;
    if (request == nullptr) receive.tell_in(own);
    operations_.begin(data.bytes);
  });
  arrivals_.deliver(std::move(message), operation);
  if (request != nullptr) return hand_over();
  return finish_receive(own);
}

ReceiveOperation* Messages::withdraw(std::uint64_t name, const Issuer& issuer, int lost) {
  ReceiveOperation* withdrawn = nullptr;
  static_cast<void>(operations_.receives().with(name, [&](ReceiveOperation& receive) {
    if (receive.end.request != issuer.opened || receive.end.posted != issuer.posted) return false;
    const std::lock_guard guard(receive.context->lock);
    if (receive.links[0].queue == nullptr) return false;
    receive.context->matcher.withdraw(receive);
    receive.peer = lost;
    withdrawn = &receive;
    return true;
  }));
  return withdrawn;
}

void Messages::cancel_receive(rma_request_t request) {
  ReceiveOperation* const cancelled = withdraw(pending_.requests().note(request), {.opened = request}, -1);
  if (cancelled != nullptr) operations_.end(*cancelled, RMA_ERR_CANCELED);
}

void Messages::cancel_send(rma_request_t request) {
  const Outbox::Withdrawn withdrawn = outbox_.withdraw(request);
  if (withdrawn.send) operations_.end(*withdrawn.send, RMA_ERR_CANCELED);
  if (withdrawn.announced_to < 0) return;
  outbox_.control(withdrawn.announced_to, MessageType::retract, withdrawn.announcement);
  outbox_.nudge(withdrawn.announced_to);
}

void Messages::cancel(rma_request_t request) {
  cancel_receive(request);
  cancel_send(request);
}

}  // namespace librma
