#include "messages/messages.hpp"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "channel/channel.hpp"
#include "messages/messages_waiting.hpp"
#include "util/text.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"
#include "util/undo.hpp"

namespace librma {
namespace {

/// A blocking receive is posted after this many polls.
constexpr std::uint64_t kDirectPolls = 1024;

/// A thread that polls asks the clock after this many polls whether it is time to look for ended ranks.
constexpr std::uint64_t kLookAfterPolls = 256;

Outbox::Limits limits_of(const Settings& settings) {
  return {.ring = {.lines = std::bit_ceil(settings.host_ring_lines),
                   .bytes = std::bit_ceil(settings.host_ring_bytes)},
          .eager = settings.eager_bytes,
          .network_eager = settings.network_eager_bytes,
          .window = settings.unexpected_bytes,
          .rendezvous = settings.rendezvous};
}

}  // namespace

Messages::Messages(Job& job, RemoteAccess& remote_access, Channel* channel, const ProcessMemory& memory,
                   InboxBlock& block)
    : job_(job),
      remote_access_(remote_access),
      pending_(remote_access.pending()),
      channel_(channel),
      operations_(pending_, job.settings().eager_bytes),
      inbox_(job, block, limits_of(job.settings()).ring),
      outbox_(job, channel, remote_access.network(), inbox_, limits_of(job.settings())),
      rendezvous_(job, remote_access, memory, operations_, inbox_, outbox_),
      numbers_(job.rank(), job.size(), contexts_, outbox_,
               [this](MessageContext& context, std::uint32_t number) { arrivals_.discard(context, number); }),
      arrivals_(job.size(), contexts_, numbers_, inbox_, outbox_, operations_, rendezvous_,
                [this](int rank) { lose(rank); }),
      signs_of_life_(static_cast<std::size_t>(job.size())) {}

Result<std::unique_ptr<Messages>> Messages::create(Job& job, RemoteAccess& remote_access, Channel* channel,
                                                   const ProcessMemory& memory) {
  RMA_TRY_ASSIGN(block, Inbox::provide(job));
  spare_messages.set_owner(this_thread());
  std::unique_ptr<Messages> messages(new Messages(job, remote_access, channel, memory, *block));
  if (channel != nullptr) {
    // The program's threads take messages in; nothing wakes a helper for them.
    channel->on_message(
        Outbox::kChannelKind,
        [&arrivals = messages->arrivals_](const Message& message) {
          return arrivals.take_in_channel(message);
        },
        MessageEvent::unsolicited);
    // The arrival alone wakes this process's threads, which then look at the rings.
    channel->on_message(Outbox::kWakeKind, [](const Message& message) { return message.body.empty(); });
    channel->on_message(Outbox::kNudgeKind, [&arrivals = messages->arrivals_](const Message& message) {
      arrivals.look(message.peer);
      return message.body.empty();
    });
    channel->on_loss([self = messages.get()](int rank) {
      self->arrivals_.drain(rank);  // a rank of this host may have ended behind messages in its ring
      self->lose(rank);
    });
  }
  return messages;
}

Status Messages::start(std::uint64_t spins) {
  probed_.store(monotonic_ms(), std::memory_order_relaxed);
  pending_.engine().sleep_at(job_.doorbell(job_.rank()));
  pending_.engine().add(*this);
  all_by_ring_ = true;
  for (int rank = 0; rank < job_.size(); ++rank) {
    const bool by_ring = outbox_.by_ring(rank) || !job_.in_world(rank);  // ranks that come later use rings
    all_by_ring_ = all_by_ring_ && by_ring;
    another_by_ring_ = another_by_ring_ || (rank != job_.rank() && by_ring);
  }
  if (job_.settings().progress == ProgressSetting::caller) return {};
  posts_otherwise_.store(true, std::memory_order_release);
  progress_thread_ = std::make_unique<ProgressThread>(pending_.engine(), spins);
  pending_.engine().stand_in(progress_thread_.get());
  return progress_thread_->start();
}

Messages::~Messages() {
  if (progress_thread_ != nullptr) {
    progress_thread_.reset();  // the thread uses the engine's pointer until it ends
    pending_.engine().stand_in(nullptr);
  }
  contexts_.for_each([](MessageContext& context) {
    while (UnexpectedMessage* const kept = context.matcher.find(kAnySource, kAnyTag)) {
      context.matcher.take(*kept);
      delete static_cast<KeptMessage*>(kept);
    }
  });
}

void Messages::wait_for(rma_request_t request) {
  if (pending_.rank(request) != ProgressEngine::kNoRank || pending_.complete(request)) return;
  const ProgressEngine::Attendance attendance(pending_.engine());
  wait_until([&] { return pending_.complete(request); },
             [this, request](WaitNote& note) { describe(request, note); });
}

void Messages::describe(rma_request_t request, WaitNote& note) {
  const std::uint64_t name = pending_.requests().note(request);
  const auto describe_one = [&](const auto& operation) {
    librma::describe(operation, note);
    return true;
  };
  // A send keeps no note, and no receive has the name 0.
  if (name != 0 && operations_.receives().with(name, describe_one)) return;
  if (pending_.engine().describe_follow_up(request, note)) return;
  const int rank = pending_.rank(request);
  if (rank != ProgressEngine::kNoRank) return ProgressEngine::describe_operations(rank, note);
  bool found = false;
  outbox_.see_sends([&](const SendOperation& send) {
    if (!found && send.request == request) found = describe_one(send);
  });
  if (!found) note.call = "a request";
}

void Messages::finish() {
  numbers_.stop();
  const ProgressEngine::Attendance attendance(pending_.engine());
  wait_until([this] { return !outbox_.waits() && (channel_ == nullptr || !channel_->holds_messages()); },
             [](WaitNote& note) { note.about = "room for its last messages"; });
}

void Messages::take_in_until(const std::atomic<bool>& over) {
  const ProgressEngine::Attendance attendance(pending_.engine());
  wait_until([&over] { return over.load(std::memory_order_acquire); }, NoWaitSubject());
}

Status Messages::hand_over() {
  if (progress_thread_ != nullptr) progress_thread_->hand_over();
  return {};
}

// ---- Sending and receiving --------------------------------------------------------------------------------

Status Messages::send(const MessageData& data, int rank, Envelope envelope, bool synchronous,
                      rma_request_t* request) {
  connect_wanted();
  if (request != nullptr) return start_send(data, rank, envelope, synchronous, nullptr, request, nullptr);
  AwaitedSend awaited;
  RMA_TRY(start_send(data, rank, envelope, synchronous, nullptr, nullptr, &awaited));
  return finish_send(awaited);
}

Status Messages::start_send(const MessageData& data, int rank, Envelope envelope, bool synchronous,
                            MessageContext* own, rma_request_t* request, AwaitedSend* awaited) {
  bool sent = false;
  if (synchronous || !data.contiguous() || outbox_.announces(data.bytes)) {
    RMA_TRY(outbox_.ready(rank));
  } else {
    RMA_TRY(outbox_.try_eager(rank, envelope, {data.address, data.bytes}, &sent));
  }
  if (sent) {
    count(Counter::send_eager);
    if (outbox_.by_ring(rank)) outbox_.wake(rank);
    if (request != nullptr) *request = kCompleteRequest;
    return {};
  }
  const ProgressEngine::Attendance attendance(pending_.engine(), request == nullptr);
  rma_request_t opened = RMA_REQUEST_NULL;
  RMA_TRY(operations_.open(request, &opened));
  operations_.begin(data.bytes);
  Undo leave([&] {
    operations_.leave(data.bytes);
    abandon(opened);
  });
  const Outbox::Started started = outbox_.send(rank, {.envelope = envelope,
                                                      .data = data,
                                                      .own = own,
                                                      .synchronous = synchronous,
                                                      .request = opened,
                                                      .awaited = awaited});
  if (started == Outbox::Started::lost && request == nullptr)
    return OperationEnds::outcome(RMA_ERR_PEER_LOST, rank);
  leave.dismiss();
  if (started != Outbox::Started::under_way) {
    operations_.leave(data.bytes);
    if (request != nullptr) {
      const bool lost = started == Outbox::Started::lost;
      pending_.settle(opened, lost ? RMA_ERR_PEER_LOST : RMA_SUCCESS, rank);
    }
  }
  return request != nullptr ? hand_over() : Status();
}

Status Messages::finish_send(AwaitedSend& awaited) {
  if (awaited.name == 0) return {};
  const ProgressEngine::Attendance attendance(pending_.engine());
  while (!awaited.done.load(std::memory_order_acquire)) {
    try {
      wait_until(
          [&] { return awaited.done.load(std::memory_order_acquire); },
          [&](WaitNote& note) {
            static_cast<void>(outbox_.with_send(awaited.peer, awaited.name, [&](const SendOperation& send) {
              librma::describe(send, note);
              return true;
            }));
          });
    } catch (const std::bad_alloc&) {
      // Another message found no memory. The operation has the caller's buffer, so this call stays.
      sched_yield();
    }
  }
  return OperationEnds::outcome(awaited.status, awaited.peer);
}

Status Messages::receive(const MessageData& data, const Wanted& wanted, rma_message_info_t* info,
                         rma_request_t* request) {
  connect_wanted();
  return start_receive(data, wanted, info, {.request = request, .waits = request == nullptr});
}

Status Messages::start_receive(const MessageData& data, const Wanted& wanted, rma_message_info_t* info,
                               Issuer issuer) {
  if (awaits_lost(wanted.source)) arrivals_.poll_rings();
  const ProgressEngine::Attendance attendance(pending_.engine(), issuer.waits);
  MessageContext& context = contexts_.of(wanted.context);
  rma_posted_recv_t own = {};  // of a call that waits
  DirectReceive direct = {.context = context,
                          .source = wanted.source,
                          .tag = wanted.tag,
                          .data = data,
                          .info = info,
                          .most = issuer.waits ? SIZE_MAX : data.bytes,
                          .own = issuer.waits ? &own : nullptr};
  if (receive_directly(direct, issuer.waits ? job_.wait_policy().spins : 0)) {
    if (direct.operation != nullptr) {
      rendezvous_.fetch(*direct.operation, *direct.announced);
      return finish_receive(own);
    }
    if (info != nullptr) *info = {.source = direct.from, .tag = direct.its_tag, .bytes = direct.bytes};
    issuer.tell_complete();
    return direct.bytes <= data.bytes ? Status() : OperationEnds::outcome(RMA_ERR_TRUNCATED, direct.from);
  }
  RMA_TRY(operations_.open(issuer.request, &issuer.opened));
  Undo close([&] { abandon(issuer.opened); });
  ReceiveOperation& operation = operations_.receives().make([&](ReceiveOperation& receive) {
    receive.source = wanted.source;
    receive.tag = wanted.tag;
    receive.context = &context;
    receive.data = data;
    receive.info = info;
    receive.end = {.request = issuer.opened, .posted = issuer.posted};
    if (issuer.waits) receive.tell_in(own);
    operations_.begin(data.bytes);
  });
  close.dismiss();
  if (issuer.opened != RMA_REQUEST_NULL) pending_.requests().set_note(issuer.opened, operation.name);
  if (issuer.posted != nullptr) issuer.posted->operation = operation.name;
  if (issuer.waits) issuer.posted = &own;
  match_or_post(operation, issuer);
  return issuer.waits ? finish_receive(own) : hand_over();
}

Status Messages::finish_receive(const rma_posted_recv_t& own) {
  if (rma_posted_ended(&own) == 0) wait_for_end(own);
  return OperationEnds::outcome(own.status, own.failed_rank);
}

void Messages::match_or_post(ReceiveOperation& operation, const Issuer& issuer) {
  // The operation may be over, and its slot another one's, when it is posted.
  MessageContext& context = *operation.context;
  const std::uint64_t name = operation.name;
  const int source = operation.source;
  KeptMessage* kept = nullptr;
  try {
    const std::lock_guard guard(context.lock);
    if (context.matcher.has_messages())
      kept = static_cast<KeptMessage*>(context.matcher.find(source, operation.tag));
    if (kept != nullptr) {
      context.matcher.take(*kept);
    } else {
      context.matcher.post(operation);
    }
  } catch (const std::bad_alloc&) {
    operations_.end(operation, RMA_ERR_NO_MEMORY);
    if (issuer.opened != RMA_REQUEST_NULL)
      static_cast<void>(pending_.wait(issuer.opened));  // complete, so this only closes it
    throw;
  }
  if (kept != nullptr && !issuer.waits) {
    if (arrivals_.deliver_deferred(std::unique_ptr<KeptMessage>(kept), operation)) wake();
  } else if (kept != nullptr) {
    arrivals_.deliver(std::unique_ptr<KeptMessage>(kept), operation);
  } else {
    end_if_hopeless(context, source, name, issuer);
  }
}

void Messages::end_if_hopeless(MessageContext& context, int source, std::uint64_t name,
                               const Issuer& issuer) {
  ReceiveOperation* withdrawn = nullptr;
  if (awaits_lost(source)) withdrawn = withdraw(name, issuer, lost_among(source));
  if (withdrawn == nullptr && context.revoked()) withdrawn = withdraw(name, issuer, context.culprit());
  if (withdrawn != nullptr) operations_.end(*withdrawn, RMA_ERR_PEER_LOST);
}

Status Messages::receive_without_fail(const MessageData& data, const Wanted& wanted,
                                      rma_message_info_t* info) {
  for (;;) {
    try {
      return receive(data, wanted, info, nullptr);
    } catch (const std::bad_alloc&) {
      // The next attempt takes a message that has arrived meanwhile, for which it needs no memory.
    }
    MessageContext& context = contexts_.of(wanted.context);
    if (awaits_lost(wanted.source))
      return OperationEnds::outcome(RMA_ERR_PEER_LOST, lost_among(wanted.source));
    if (context.revoked()) return OperationEnds::outcome(RMA_ERR_PEER_LOST, context.culprit());
    try {
      pending_.engine().progress();
    } catch (const std::bad_alloc&) {
      // Another message found no memory, and waits for it where it is.
    }
    sched_yield();
  }
}

void Messages::abandon(rma_request_t opened) {
  if (opened == RMA_REQUEST_NULL) return;
  pending_.settle(opened, RMA_ERR_CANCELED, -1);
  static_cast<void>(pending_.wait(opened));  // complete, so this only closes it
}

bool Messages::receive_directly(DirectReceive& receive, std::uint64_t polls) {
  const std::uint32_t kept = receive.context.kept.load(std::memory_order_relaxed);
  if (receive.context.matcher.has_messages()) {
    const Arrivals::Kept found = arrivals_.take_kept(receive);
    if (found != Arrivals::Kept::none) return found == Arrivals::Kept::taken;
  }
  if (receive.source == kAnySource ? !all_by_ring_ : !outbox_.by_ring(receive.source)) return false;
  for (std::uint64_t left = std::min(polls, kDirectPolls);; --left) {
    if (arrivals_.poll_rings_for(receive)) return true;
    if (left == 0 || receive.context.kept.load(std::memory_order_relaxed) != kept || outbox_.waits())
      return false;
    pause_processor();
  }
}

void Messages::connect_wanted() {
  if (!connection_wanted()) [[likely]]
    return;
  // Other failures are those of the next message to the rank, or of the next read.
  rendezvous_.transfers().connect_wanted([this](int rank) {
    if (outbox_.ready(rank).code() == RMA_ERR_PEER_LOST && !outbox_.lost(rank)) lose(rank);
  });
}

void Messages::drop_context(std::uint32_t number, bool discards) {
  MessageContext* const context = contexts_.find(number);
  if (context == nullptr) return;
  if (discards) arrivals_.discard(*context, number);
  contexts_.drop(number);
}

// ---- Progress ---------------------------------------------------------------------------------------------

void Messages::progress_everywhere(std::uint64_t looks) {
  connect_wanted();  // a program that only tests waits nowhere else
  if (looks % kLookAfterPolls == 0) look_for_ended_ranks();
  pending_.engine().progress();
}

bool Messages::progress() {
  // A program that only tests never sleeps, and so never calls arm().
  if (++polls_ % kLookAfterPolls == 0) {
    look_for_ended_ranks();
    probe_awaited_ranks();
  }
  bool found = arrivals_.poll_rings();
  found = outbox_.progress([this](const EndedSend& send) { operations_.end(send, RMA_SUCCESS); }) || found;
  while (const std::optional<int> broken = outbox_.take_broken()) {
    lose(*broken);
    found = true;
  }
  return rendezvous_.transfers().progress() || found;
}

void Messages::arm() {
  look_for_ended_ranks();
  probe_awaited_ranks();
  outbox_.ask_for_room();
}

// ---- Ranks that end ---------------------------------------------------------------------------------------

bool Messages::awaits_lost(int source) const {
  if (!any_lost_.load(std::memory_order_acquire)) [[likely]]
    return false;
  if (source != kAnySource) return outbox_.lost(source);
  return first_lost_.load(std::memory_order_relaxed) >= 0;
}

}  // namespace librma
