// Receives whose end is told in the caller's memory (rma/unchecked.h).

#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <span>

#include "messages/messages_waiting.hpp"
#include "util/try.hpp"
#include "util/undo.hpp"

namespace librma {

Status Messages::post(std::span<std::byte> buffer, const Wanted& wanted, rma_posted_recv_t& posted) {
  CallersReceive::make(posted, wanted.source, wanted.tag, nullptr, buffer);  // none
  connect_wanted();
  return start_receive(MessageData::of(buffer), wanted, &posted.info, {.posted = &posted});
}

bool Messages::post_after_look(rma_posted_recv_t& posted, int source, int tag,
                               MessageContext& context) noexcept try {
  // Pairs with the store in lose(): then everything that the rank sent before has been taken in.
  if (any_lost_.load(std::memory_order_acquire) || progress_thread_ != nullptr) return false;
  const std::span<std::byte> buffer(static_cast<std::byte*>(posted.address), posted.bytes);
  // Other messages that wait in the rings find this receive, and those before it, when they are taken in.
  KeptMessage* kept = nullptr;
  {
    const std::lock_guard guard(context.lock);
    if (any_lost_.load(std::memory_order_relaxed)) return false;  // as in post_at_once()
    kept = static_cast<KeptMessage*>(context.matcher.find(source, tag));
    if (kept == nullptr) {
      context.matcher.post(CallersReceive::make(posted, source, tag, &context));
    } else if (kept->announcement == nullptr && kept->bytes <= buffer.size()) {
      context.matcher.take(*kept);
    } else {
      return false;
    }
  }
  if (kept != nullptr) {
    arrivals_.deliver_at_once(std::unique_ptr<KeptMessage>(kept), buffer, posted.info);
    Issuer{.posted = &posted}.tell_complete();
    return true;
  }
  operations_.begin_callers();
  return true;
} catch (const std::bad_alloc&) {
  return false;  // nothing has changed
}

CallersReceive* Messages::withdraw(rma_posted_recv_t& posted) {
  CallersReceive& receive = CallersReceive::of(posted);
  if (receive.context == nullptr) return nullptr;
  const std::lock_guard guard(receive.context->lock);
  if (!receive.in_matcher()) return nullptr;
  receive.context->matcher.withdraw(receive);
  return &receive;
}

void Messages::cancel(rma_posted_recv_t& posted) {
  if (rma_posted_ended(&posted) != 0) return;
  if (CallersReceive* const own = withdraw(posted); own != nullptr) {
    operations_.end(*own, RMA_ERR_CANCELED, -1);
    return wake();
  }
  ReceiveOperation* const cancelled = withdraw(posted.operation, {.posted = &posted}, -1);
  if (cancelled != nullptr) operations_.end(*cancelled, RMA_ERR_CANCELED);
}

void Messages::wait_for_end(const rma_posted_recv_t& posted) {
  const auto ended = [&] { return rma_posted_ended(&posted) != 0; };
  const auto describe = [&](WaitNote& note) {
    const CallersReceive& own = CallersReceive::of(const_cast<rma_posted_recv_t&>(posted));
    if (own.context != nullptr) return librma::describe(own, note);
    static_cast<void>(operations_.receives().with(posted.operation, [&](const ReceiveOperation& receive) {
      librma::describe(receive, note);
      return true;
    }));
  };
  while (!ended()) {
    const ProgressEngine::Attendance attendance(pending_.engine());
    try {
      wait_until(ended, describe);
    } catch (const std::bad_alloc&) {
      // Another message found no memory. The receive has the caller's memory, so this call stays.
      sched_yield();
    }
  }
}

Status Messages::wait(const rma_posted_recv_t& posted) {
  wait_for_end(posted);
  return pending_.failure(posted.status, posted.failed_rank);
}

Status Messages::open_request(rma_posted_recv_t& posted, rma_request_t* request) {
  *request = RMA_REQUEST_NULL;
  if (rma_posted_ended(&posted) != 0) return {};
  rma_request_t opened = RMA_REQUEST_NULL;
  RMA_TRY(operations_.open(request, &opened));
  Undo close([&] {
    abandon(opened);
    *request = RMA_REQUEST_NULL;
  });
  if (replace_callers(posted, opened)) {
    close.dismiss();
    return {};
  }
  // The thread that ends the receive looks under the same lock whom it tells.
  const bool changed = operations_.receives().with(posted.operation, [&](ReceiveOperation& receive) {
    if (receive.end.posted != &posted) return false;
    receive.end.posted = nullptr;
    receive.end.request = opened;
    return true;
  });
  if (!changed) return {};
  pending_.requests().set_note(opened, posted.operation);
  close.dismiss();
  return {};
}

bool Messages::replace_callers(rma_posted_recv_t& posted, rma_request_t opened) {
  CallersReceive& own = CallersReceive::of(posted);
  if (own.context == nullptr) return false;
  ReceiveOperation& operation = operations_.receives().make([&](ReceiveOperation& receive) {
    receive.source = own.source;
    receive.tag = own.tag;
    receive.context = own.context;
    receive.data = MessageData::of(own.buffer());
    receive.info = &posted.info;
    receive.end.request = opened;
  });
  const std::uint64_t name = operation.name;
  pending_.requests().set_note(opened, name);
  bool replaced = false;
  {
    const std::lock_guard guard(own.context->lock);
    replaced = own.in_matcher();
    if (replaced) Matcher::replace(own, operation);
  }
  if (replaced) {
    operations_.leave_callers(1);
  } else {
    operations_.receives().end(name);
  }
  return replaced;
}

}  // namespace librma
