#include "messages/messages.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>

#include "util/statistics.hpp"
#include "util/text.hpp"

namespace rma {
namespace {

/// A thread that waits polls the rings this often for each time that it looks everywhere else.
constexpr std::uint64_t kPollsOfRings = 16;

void describe(rma_message_info_t* info, int source, int tag, std::size_t bytes) {
  if (info != nullptr) *info = {.source = source, .tag = tag, .bytes = bytes};
}

/// Copies a message into the buffer of its receive. Returns the receive's status.
rma_status_t copy_into(ReceiveOperation& receive, std::span<const std::byte> data) {
  const std::size_t bytes = std::min(data.size(), receive.capacity);
  if (bytes != 0) std::memcpy(receive.buffer, data.data(), bytes);
  return bytes == data.size() ? RMA_SUCCESS : RMA_ERR_TRUNCATED;
}

Outbox::Limits limits_of(const Settings& settings) {
  return {.ring = {.lines = std::bit_ceil(settings.host_ring_lines),
                   .bytes = std::bit_ceil(settings.host_ring_bytes)},
          .eager = settings.eager_bytes,
          .window = settings.unexpected_bytes};
}

}  // namespace

Messages::Messages(Job& job, RemoteAccess& remote_access, Channel* channel, Reader reader, InboxBlock& block)
    : job_(job),
      remote_access_(remote_access),
      pending_(remote_access.pending()),
      channel_(channel),
      reader_(std::move(reader)),
      inbox_(job, block, limits_of(job.settings()).ring),
      outbox_(job, channel, remote_access.network(), inbox_, limits_of(job.settings())) {}

Result<std::unique_ptr<Messages>> Messages::create(Job& job, RemoteAccess& remote_access, Channel* channel,
                                                   Reader reader) {
  auto block = Inbox::provide(job);
  if (!block.ok()) return std::move(block).status();
  std::unique_ptr<Messages> messages(
      new Messages(job, remote_access, channel, std::move(reader), *block.value()));
  messages->listen();
  return messages;
}

void Messages::start() {
  pending_.engine().sleep_at(job_.doorbell(job_.rank()));
  pending_.engine().add(*this);
}

Messages::~Messages() {
  contexts_.for_each([](MessageContext& context) {
    while (UnexpectedMessage* const kept = context.matcher.find(kAnySource, kAnyTag)) {
      context.matcher.take(*kept);
      delete static_cast<KeptMessage*>(kept);
    }
  });
}

template <typename Condition>
void Messages::wait_until(const Condition& condition) {
  for (std::uint64_t i = 0; i < job_.wait_policy().spins; ++i) {
    if (condition()) return;
    if (!poll_rings() && i >= kEagerPolls) pause_processor();
    if (i % kPollsOfRings == kPollsOfRings - 1) pending_.engine().progress();
  }
  pending_.engine().wait_until(ProgressEngine::kNoRank, condition);
}

Status Messages::outcome(rma_status_t status, int rank) const {
  if (status == RMA_SUCCESS) return {};
  return {status, explain(status, rank)};
}

std::string Messages::explain(rma_status_t code, int rank) const {
  switch (code) {
    case RMA_ERR_TRUNCATED:
      return text("rank {} has sent a message that is longer than the buffer", rank);
    case RMA_ERR_CANCELED:
      return text("the receive was cancelled");
    case RMA_ERR_PEER_LOST:
      return text("rank {} has ended or cannot be reached", rank);
    default:
      return text("a message to or from rank {} failed", rank);
  }
}

Status Messages::wait(const MessageEnd& end) {
  wait_until([&] { return end.done.load(std::memory_order_acquire); });
  return outcome(end.status, end.failed_rank);
}

bool Messages::finish(MessageEnd& end, rma_status_t status, int rank) {
  if (end.request != RMA_REQUEST_NULL) {
    pending_.settle(end.request, status, rank);
    return true;
  }
  end.status = status;
  end.failed_rank = rank;
  end.done.store(true, std::memory_order_release);  // last: the waiting thread now gives the slot back
  pending_.engine().wake();
  return false;
}

void Messages::end(ReceiveOperation& receive, rma_status_t status) {
  if (finish(receive.end, status, receive.peer)) receives_.end(receive);
}

void Messages::end(SendOperation& send, rma_status_t status) {
  if (finish(send.end, status, send.peer)) sends_.end(send);
}

// ---- Sending ------------------------------------------------------------------------------------------------

Status Messages::send(std::span<const std::byte> data, int rank, Envelope envelope, bool synchronous,
                      rma_request_t* request) {
  bool sent = false;
  if (!synchronous) {
    if (Status status = outbox_.try_eager(rank, envelope, data, &sent); !status.ok()) return status;
  } else if (Status status = outbox_.ready(rank); !status.ok()) {
    return status;
  }
  if (sent) [[likely]] {
    count(Counter::send_eager);
    if (outbox_.by_ring(rank)) outbox_.wake(rank);
    if (request != nullptr) *request = kCompleteRequest;
    return {};
  }
  rma_request_t opened = RMA_REQUEST_NULL;
  if (request != nullptr) {
    opened = pending_.open(ProgressEngine::kNoRank);
    if (opened == RMA_REQUEST_NULL) return PendingOperations::too_many();
    *request = opened;
  }
  SendOperation& operation = sends_.make();
  operation.peer = rank;
  operation.envelope = envelope;
  operation.data = data.data();
  operation.bytes = data.size();
  operation.end.request = opened;
  const std::uint64_t name = operation.name;
  const auto claim = [&] {
    return sends_.with(name, [](SendOperation& one) { return std::exchange(one.open, false); });
  };
  if (outbox_.send(operation, synchronous)) {
    if (claim()) end(operation, RMA_SUCCESS);
  } else if (outbox_.lost(rank) && claim()) {
    // The rank was lost before the operation was known there, or meanwhile.
    end(operation, RMA_ERR_PEER_LOST);
  }
  if (request != nullptr) return {};
  Status status = wait(operation.end);
  sends_.end(operation);
  return status;
}

// ---- Receiving ----------------------------------------------------------------------------------------------

Status Messages::receive(std::span<std::byte> buffer, const Wanted& wanted, rma_message_info_t* info,
                         rma_request_t* request) {
  if (any_lost_.load(std::memory_order_acquire) && awaits_lost(wanted.source)) poll_rings();
  if (any_unconnected_.load(std::memory_order_relaxed)) [[unlikely]]
    connect_wanted();
  MessageContext& context = contexts_.of(wanted.context);
  rma_request_t opened = RMA_REQUEST_NULL;
  if (request != nullptr) {
    opened = pending_.open(ProgressEngine::kNoRank);
    if (opened == RMA_REQUEST_NULL) return PendingOperations::too_many();
    *request = opened;
  }
  ReceiveOperation& operation = receives_.make();
  operation.source = wanted.source;
  operation.tag = wanted.tag;
  operation.context = &context;
  operation.buffer = buffer.data();
  operation.capacity = buffer.size();
  operation.info = info;
  operation.end.request = opened;
  if (opened != RMA_REQUEST_NULL) pending_.requests().set_note(opened, operation.name);
  const std::uint64_t name = operation.name;
  KeptMessage* kept = nullptr;
  {
    const std::lock_guard guard(context.lock);
    kept = static_cast<KeptMessage*>(context.matcher.find(wanted.source, wanted.tag));
    if (kept != nullptr) {
      context.matcher.take(*kept);
    } else {
      context.matcher.post(operation);
    }
  }
  if (kept != nullptr) {
    deliver(*kept, operation);
  } else if (any_lost_.load(std::memory_order_acquire) && awaits_lost(wanted.source) &&
             receives_.with(name, [](ReceiveOperation& one) {
               const std::lock_guard guard(one.context->lock);
               if (one.links[0].queue == nullptr) return false;
               one.context->matcher.withdraw(one);
               return true;
             })) {
    operation.peer = lost_among(wanted.source);
    end(operation, RMA_ERR_PEER_LOST);
  }
  if (request != nullptr) return {};
  Status status = wait(operation.end);
  receives_.end(operation);
  return status;
}

void Messages::deliver(KeptMessage& message, ReceiveOperation& receive) {
  const std::unique_ptr<KeptMessage> owned(&message);
  receive.peer = message.source;
  receive.bytes = message.bytes;
  describe(receive.info, message.source, message.tag, message.bytes);
  if (message.type == MessageType::rendezvous && message.rendezvous.form != RendezvousForm::inlined) {
    fetch({.receive = &receive, .head = message.rendezvous, .keys = message.keys});
    return;
  }
  const rma_status_t status = copy_into(receive, {message.data.get(), message.bytes});
  if (message.type == MessageType::rendezvous) {
    give_back(message.source, UnexpectedWindow::cost(sizeof(RendezvousHead) + message.bytes));
    outbox_.control(message.source, MessageType::finished, FinishedHead{.sender = message.rendezvous.sender});
  } else {
    give_back(message.source, UnexpectedWindow::cost(message.bytes));
  }
  end(receive, status);
}

void Messages::give_back(int source, std::uint64_t cost) {
  if (!outbox_.by_ring(source)) {
    outbox_.give_back(source, cost);
  } else if (Inbox::Ring* const ring = inbox_.of(source); ring != nullptr) {
    ring->receiver.release(cost);
  }
}

// ---- Probing and cancelling ---------------------------------------------------------------------------------

Status Messages::probe(const Wanted& wanted, bool wait, bool* found, std::uint64_t* taken,
                       rma_message_info_t* info) {
  MessageContext& context = contexts_.of(wanted.context);
  *found = false;
  TakenMessage* const room = taken != nullptr ? &taken_.make() : nullptr;
  const auto look = [&] {
    const std::lock_guard guard(context.lock);
    auto* const message = static_cast<KeptMessage*>(context.matcher.find(wanted.source, wanted.tag));
    if (message == nullptr) return false;
    describe(info, message->source, message->tag, message->bytes);
    if (room != nullptr) {
      context.matcher.take(*message);
      room->kept.reset(message);
    }
    return *found = true;
  };
  if (!look()) {
    if (wait) {
      wait_until([&] { return look() || awaits_lost(wanted.source); });
    } else {
      pending_.engine().progress();
      poll_rings();
    }
  }
  // A rank that is lost now may have sent the message before.
  const bool lost = !*found && !look() && awaits_lost(wanted.source);
  if (taken != nullptr) *taken = *found ? room->name : 0;
  if (room != nullptr && !*found) taken_.end(*room);
  return lost ? outcome(RMA_ERR_PEER_LOST, lost_among(wanted.source)) : Status();
}

Status Messages::receive_taken(std::uint64_t* taken, std::span<std::byte> buffer, rma_message_info_t* info,
                               rma_request_t* request) {
  rma_request_t opened = RMA_REQUEST_NULL;
  if (request != nullptr) {
    opened = pending_.open(ProgressEngine::kNoRank);
    if (opened == RMA_REQUEST_NULL) return PendingOperations::too_many();
  }
  TakenMessage* found = nullptr;
  std::unique_ptr<KeptMessage> message;
  static_cast<void>(taken_.with(*taken, [&](TakenMessage& one) {
    message = std::move(one.kept);
    if (message != nullptr) found = &one;
    return true;
  }));
  if (message == nullptr) {
    if (opened != RMA_REQUEST_NULL) {
      pending_.settle(opened, RMA_ERR_CANCELED, -1);
      static_cast<void>(pending_.wait(opened));  // complete, so this only closes it
    }
    return {RMA_ERR_ARGUMENT,
            text("{:#x} is no message that a matched probe has found, or was received already", *taken)};
  }
  taken_.end(*found);
  *taken = 0;
  if (request != nullptr) *request = opened;
  ReceiveOperation& operation = receives_.make();
  operation.context = message->context;
  operation.buffer = buffer.data();
  operation.capacity = buffer.size();
  operation.info = info;
  operation.end.request = opened;
  deliver(*message.release(), operation);
  if (request != nullptr) return {};
  Status status = wait(operation.end);
  receives_.end(operation);
  return status;
}

void Messages::cancel(rma_request_t request) {
  ReceiveOperation* cancelled = nullptr;
  static_cast<void>(receives_.with(pending_.requests().note(request), [&](ReceiveOperation& one) {
    if (one.end.request != request) return false;
    const std::lock_guard guard(one.context->lock);
    if (one.links[0].queue == nullptr) return false;
    one.context->matcher.withdraw(one);
    cancelled = &one;
    return true;
  }));
  if (cancelled != nullptr) end(*cancelled, RMA_ERR_CANCELED);
}

}  // namespace rma
