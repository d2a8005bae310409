// The short ways of two-sided messages for libraries over this one (rma/unchecked.h).

#include "rma/unchecked.h"

#include <atomic>
#include <cstddef>
#include <cstring>
#include <new>
#include <span>

#include "api/call.hpp"
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

// The arguments are those of rma_try_post_recv, so that it jumps here with all of them in their places.
[[gnu::noinline]] int post_after_look(void* dst, std::size_t bytes, int source, int tag,
                                      std::uint32_t context, rma_posted_recv_t* posted) {
  Messages& messages = *messages_at_once();
  const Messages::Wanted wanted = {.source = source, .tag = tag, .context = context};
  const std::span<std::byte> buffer(static_cast<std::byte*>(dst), bytes);
  if (!messages.receive_now(buffer, wanted, posted->info))
    return messages.post_after_look(buffer, wanted, *posted) ? 1 : 0;
  posted->status = RMA_SUCCESS;
  posted->ended = RMA_POSTED_WELL;
  return 1;
}

// As above, for rma_try_recv.
[[gnu::noinline]] int receive_longer(void* dst, std::size_t bytes, int source, int tag, std::uint32_t context,
                                     rma_message_info_t* info) {
  return messages_at_once()->receive_longer({static_cast<std::byte*>(dst), bytes},
                                            {.source = source, .tag = tag, .context = context}, *info)
             ? 1
             : 0;
}

[[gnu::noinline]] int end_if_hopeless(Messages& messages, rma_posted_recv_t& posted) {
  messages.end_if_hopeless(posted);
  return 1;
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

int rma_try_recv(void* dst, size_t bytes, int source, int tag, uint32_t context, rma_message_info_t* info) {
  librma::Messages* const messages = librma::messages_at_once();
  if (messages == nullptr) [[unlikely]]
    return 0;
  switch (messages->receive_at_once({static_cast<std::byte*>(dst), bytes}, source, tag, context, *info)) {
    case librma::Messages::Taken::no:
      return 0;
    case librma::Messages::Taken::longer:
      return librma::receive_longer(dst, bytes, source, tag, context, info);
    case librma::Messages::Taken::yes:
      break;
    case librma::Messages::Taken::wished:
      rma_wake_receiver(source);
      break;
  }
  return 1;
}

int rma_try_post_recv(void* dst, size_t bytes, int source, int tag, uint32_t context,
                      rma_posted_recv_t* posted) {
  librma::Messages* const messages = librma::messages_at_once();
  if (messages == nullptr) [[unlikely]]
    return 0;
  switch (messages->post_at_once({static_cast<std::byte*>(dst), bytes}, source, tag, context, *posted)) {
    case librma::Messages::Posted::yes:
      return 1;
    case librma::Messages::Posted::hopeless:
      return librma::end_if_hopeless(*messages, *posted);
    case librma::Messages::Posted::otherwise:
      break;
  }
  return librma::post_after_look(dst, bytes, source, tag, context, posted);
}

rma_status_t rma_post_recv(void* dst, size_t bytes, int source, int tag, uint32_t context,
                           rma_posted_recv_t* posted) {
  if (rma_try_post_recv(dst, bytes, source, tag, context, posted) != 0) return RMA_SUCCESS;
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

int rma_try_probe(int source, int tag, uint32_t context, rma_message_info_t* info) try {
  librma::Messages* const messages = librma::messages_at_once();
  if (messages == nullptr) [[unlikely]]
    return -1;
  switch (messages->probe_at_once(source, tag, context, *info)) {
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
