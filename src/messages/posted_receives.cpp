// Receives whose end is told in the caller's memory (rma/unchecked.h).

#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <span>

#include "messages/messages_waiting.hpp"
#include "util/try.hpp"

namespace librma {

Status Messages::post(std::span<std::byte> buffer, const Wanted& wanted, rma_posted_recv_t& posted) {
  posted.ended = 0;
  connect_wanted();
  return start_receive(MessageData::of(buffer), wanted, &posted.info, {.posted = &posted});
}

bool Messages::post_at_once(std::byte* address, std::size_t bytes, int source, int tag, std::uint32_t number,
                            rma_posted_recv_t& posted) {
  // Pairs with the store in lose(): then everything that the rank sent before has been taken in.
  if (connection_wanted() || any_lost_.load(std::memory_order_acquire)) [[unlikely]]
    return false;
  posted.ended = 0;
  if (arrivals_.waiting(source)) {
    if (!receive_at_once({address, bytes}, source, tag, number, &posted.info)) return false;
    Issuer{.posted = &posted}.tell_complete();
    return true;
  }
  MessageContext& context = contexts_.of(number);
  if (context.matcher.has_messages()) {
    const MessageData data = MessageData::of({address, bytes});
    DirectReceive direct = {
        .context = context, .source = source, .tag = tag, .data = data, .most = bytes, .waits = false};
    const Arrivals::Kept kept = arrivals_.take_kept(direct);
    if (kept == Arrivals::Kept::other) return false;
    if (kept == Arrivals::Kept::taken) {
      posted.info = {.source = direct.from, .tag = direct.its_tag, .bytes = direct.bytes};
      Issuer{.posted = &posted}.tell_complete();
      return true;
    }
  }
  ReceiveOperation& operation = operations_.receives().make([&](ReceiveOperation& receive) {
    receive.source = source;
    receive.tag = tag;
    receive.context = &context;
    receive.data.address = address;
    receive.data.bytes = bytes;
    receive.info = &posted.info;
    receive.end.posted = &posted;
    receive.end.waits = false;
    operations_.begin(receive.data);
  });
  const std::uint64_t name = operation.name;
  posted.operation = name;
  bool kept = false;  // by another thread, meanwhile
  try {
    const std::lock_guard guard(context.lock);
    kept = context.matcher.has_messages();
    if (!kept) context.matcher.post(operation);
  } catch (const std::bad_alloc&) {
    operations_.end(operation, RMA_ERR_NO_MEMORY);
    throw;
  }
  if (kept) [[unlikely]] {
    static_cast<void>(match_or_post(operation, {.posted = &posted}));  // does not fail: it does not wait
    return true;
  }
  if (any_lost_.load(std::memory_order_acquire) || context.revoked()) [[unlikely]]
    end_if_hopeless(context, source, name, {.posted = &posted});
  if (progress_thread_ != nullptr) progress_thread_->hand_over();
  return true;
}

Status Messages::wait(const rma_posted_recv_t& posted) {
  const auto ended = [&] { return rma_posted_ended(&posted) != 0; };
  const auto describe = [&](WaitNote& note) {
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
  return pending_.failure(posted.status, posted.failed_rank);
}

bool Messages::test(const rma_posted_recv_t& posted) {
  if (rma_posted_ended(&posted) != 0) return true;
  progress_once();
  if (rma_posted_ended(&posted) != 0) return true;
  let_others_run(job_.wait_policy());
  return false;
}

Status Messages::open_request(rma_posted_recv_t& posted, rma_request_t* request) {
  rma_request_t opened = RMA_REQUEST_NULL;
  RMA_TRY(operations_.open(request, &opened));
  pending_.requests().set_note(opened, posted.operation);
  // The thread that ends the receive looks under the same lock whom it tells.
  const bool changed = operations_.receives().with(posted.operation, [&](ReceiveOperation& receive) {
    if (receive.end.posted != &posted) return false;
    receive.end.posted = nullptr;
    receive.end.request = opened;
    return true;
  });
  if (changed) return {};
  abandon(opened);
  *request = RMA_REQUEST_NULL;
  return {};
}

}  // namespace librma
