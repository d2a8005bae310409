// The short ways of two-sided messages for libraries over this one (rma/unchecked.h).

#include "rma/unchecked.h"

#include <atomic>
#include <cstddef>
#include <cstring>
#include <new>
#include <span>

#include "api/call.hpp"
#include "messages/matching/operation_ends.hpp"
#include "messages/messages.hpp"

namespace librma {
namespace {

/// Returns the messages of the job, or null outside rma_init ... rma_finalize and if calls are traced: a
/// checked function then reports the first, and records the second.
[[gnu::always_inline]] inline Messages* messages_at_once() {
  return untraced_messages.load(std::memory_order_acquire);  // pairs with the store in rma_init
}

// It is not inlined, so that the usual case below saves no registers for it.
[[gnu::noinline]] int test_traced(const rma_posted_recv_t& posted) {
  int ended = 0;
  static_cast<void>(call("rma_test", -1, 0, [&](Runtime& runtime) -> Status {
    ended = runtime.messages->test(posted) ? 1 : 0;
    return {};
  }));
  return ended;
}

// The arguments are those of the functions that receive, so that they jump here with all of them in their
// places. It is not inlined, so that the usual case saves no registers for it.
[[gnu::noinline]] int receive_otherwise(void* dst, std::size_t bytes, int source, int tag,
                                        MessageContext* context, rma_message_info_t* info) {
  return messages_at_once()->receive_otherwise({static_cast<std::byte*>(dst), bytes}, source, tag, *context,
                                               info)
             ? 1
             : 0;
}

/// Wakes the sender of a message that was taken. It is a jump, too.
[[gnu::noinline]] int wake_and_take(int source) {
  rma_wake_receiver(source);
  return 1;
}

[[gnu::always_inline]] inline int receive_in(Messages& messages, std::span<std::byte> buffer, int source,
                                             int tag, MessageContext& context, rma_message_info_t* info) {
  switch (messages.receive_at_once(buffer, source, tag, context, info)) {
    case Messages::Taken::no:
      return 0;
    case Messages::Taken::otherwise:
      return receive_otherwise(buffer.data(), buffer.size(), source, tag, &context, info);
    case Messages::Taken::yes:
      break;
    case Messages::Taken::wished:
      return wake_and_take(source);
  }
  return 1;
}

// Does for rma_post_recv_in what receive_otherwise() does for a receive that waits.
[[gnu::noinline]] rma_status_t post_otherwise(rma_posted_recv_t* posted, int source, int tag,
                                              MessageContext* context) {
  Messages* const messages = messages_at_once();
  if (messages != nullptr && messages->post_after_look(*posted, source, tag, *context)) return RMA_SUCCESS;
  // Without messages the call fails, and the context may be gone.
  const std::uint32_t number = messages != nullptr ? context->number() : 0;
  const rma_status_t status = rma_post_recv(posted->address, posted->bytes, source, tag, number, posted);
  if (status != RMA_SUCCESS) OperationEnds::tell(*posted, status, -1);
  return RMA_SUCCESS;
}

}  // namespace
}  // namespace librma

rma_send_port_t* rma_send_ports = nullptr;

using librma::Runtime;
using librma::Status;

extern "C" {

int rma_try_send(const void* src, size_t bytes, int rank, int tag, uint32_t context) {
  librma::Messages* const messages = librma::messages_at_once();
  if (messages == nullptr) [[unlikely]]
    return 0;
  return messages->send_at_once({static_cast<const std::byte*>(src), bytes}, rank,
                                {.context = context, .tag = tag})
             ? 1
             : 0;
}

void rma_wake_receiver(int rank) {
  librma::Messages* const messages = librma::messages_at_once();
  if (messages != nullptr) messages->wake_receiver(rank);
}

int rma_try_recv_in(void* dst, size_t bytes, int source, int tag, rma_receive_context_t* context,
                    rma_message_info_t* info) {
  librma::Messages* const messages = librma::messages_at_once();
  if (messages == nullptr) [[unlikely]]
    return 0;
  return librma::receive_in(*messages, {static_cast<std::byte*>(dst), bytes}, source, tag,
                            *reinterpret_cast<librma::MessageContext*>(context), info);
}

rma_receive_context_t* rma_find_receive_context(uint32_t context) try {
  librma::Messages* const messages = librma::messages_at_once();
  if (messages == nullptr) return nullptr;
  return reinterpret_cast<rma_receive_context_t*>(&messages->context(context));
} catch (const std::bad_alloc&) {
  return nullptr;
}

rma_status_t rma_post_recv_in(rma_posted_recv_t* posted, int source, int tag,
                              rma_receive_context_t* context) {
  librma::Messages* const messages = librma::messages_at_once();
  auto* const found = reinterpret_cast<librma::MessageContext*>(context);
  if (messages != nullptr && messages->post_at_once(*posted, source, tag, *found)) [[likely]]
    return RMA_SUCCESS;
  return librma::post_otherwise(posted, source, tag, found);
}

rma_status_t rma_post_recv(void* dst, size_t bytes, int source, int tag, uint32_t context,
                           rma_posted_recv_t* posted) {
  posted->address = dst;
  posted->bytes = bytes;
  librma::Messages* const messages = librma::messages_at_once();
  librma::MessageContext* const found = messages != nullptr ? messages->context_at_once(context) : nullptr;
  if (found != nullptr && messages->post_after_look(*posted, source, tag, *found)) return RMA_SUCCESS;
  const librma::Messages::Wanted wanted = {.source = source, .tag = tag, .context = context};
  return librma::call("rma_recv_nb", source, bytes, [&](Runtime& runtime) {
    return runtime.messages->post({static_cast<std::byte*>(dst), bytes}, wanted, *posted);
  });
}

rma_status_t rma_posted_wait(rma_posted_recv_t* posted) {
  return librma::call("rma_wait", -1, 0, [&](Runtime& runtime) { return runtime.messages->wait(*posted); });
}

int rma_posted_test(rma_posted_recv_t* posted) try {
  librma::Messages* const messages = librma::messages_at_once();
  if (messages == nullptr) [[unlikely]]
    return librma::test_traced(*posted);
  return messages->test(*posted) ? 1 : 0;
} catch (const std::bad_alloc&) {
  return rma_posted_ended(posted);  // another message found no memory, and waits for it where it is
}

int rma_try_probe(int source, int tag, rma_receive_context_t* context, rma_message_info_t* info) try {
  librma::Messages* const messages = librma::messages_at_once();
  if (messages == nullptr) [[unlikely]]
    return -1;
  switch (messages->probe_at_once(source, tag, *reinterpret_cast<librma::MessageContext*>(context), *info)) {
    case librma::Messages::Probed::none:
      return 0;
    case librma::Messages::Probed::found:
      return 1;
    case librma::Messages::Probed::failed:
      break;
  }
  return -1;
} catch (const std::bad_alloc&) {
  return -1;
}

void rma_posted_cancel(rma_posted_recv_t* posted) {
  static_cast<void>(librma::call("rma_cancel", -1, 0, [&](Runtime& runtime) -> Status {
    runtime.messages->cancel(*posted);
    return {};
  }));
}

rma_status_t rma_posted_request(rma_posted_recv_t* posted, rma_request_t* request) {
  return librma::call("rma_wait_any", -1, 0,
                      [&](Runtime& runtime) { return runtime.messages->open_request(*posted, request); });
}

const char* rma_claim_contexts(const char* name) {
  static std::atomic<const char*> owner = nullptr;
  const char* before = nullptr;
  // Acquire pairs with the release of the library that came first: its string is there.
  if (owner.compare_exchange_strong(before, name, std::memory_order_acq_rel, std::memory_order_acquire) ||
      std::strcmp(before, name) == 0)
    return nullptr;
  return before;
}

}  // extern "C"
