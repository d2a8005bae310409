// The short ways of two-sided messages for libraries over this one (rma/unchecked.h).

#include "rma/unchecked.h"

#include <new>

#include "api/call.hpp"

namespace rma {
namespace {

/// Runs `attempt(Messages&)`, which returns whether it has done the whole call. Returns false without one if
/// calls are traced, so that the call that the library makes then is in the trace.
template <typename Attempt>
[[gnu::always_inline]] inline int attempt_at_once(const Attempt& attempt) try {
  Runtime* const runtime =
      current_runtime.load(std::memory_order_acquire);  // pairs with the store in rma_init
  if (runtime == nullptr || runtime->trace != nullptr) [[unlikely]]
    return 0;
  return attempt(*runtime->messages) ? 1 : 0;
} catch (const std::bad_alloc&) {
  return 0;
}

}  // namespace
}  // namespace rma

using rma::Runtime;
using rma::Status;

extern "C" {

int rma_try_send(const void* src, size_t bytes, int rank, int tag, uint32_t context) {
  return rma::attempt_at_once([=](rma::Messages & messages) __attribute__((always_inline)) {
    return messages.send_at_once({static_cast<const std::byte*>(src), bytes}, rank,
                                 {.context = context, .tag = tag});
  });
}

int rma_try_recv(void* dst, size_t bytes, int source, int tag, uint32_t context, rma_message_info_t* info) {
  return rma::attempt_at_once([=](rma::Messages & messages) __attribute__((always_inline)) {
    return messages.receive_at_once({static_cast<std::byte*>(dst), bytes}, source, tag, context, info);
  });
}

rma_status_t rma_post_recv(void* dst, size_t bytes, int source, int tag, uint32_t context,
                           rma_posted_recv_t* posted) {
  return rma::call("rma_recv_nb", source, bytes, [&](Runtime& runtime) {
    return runtime.messages->post({static_cast<std::byte*>(dst), bytes},
                                  {.source = source, .tag = tag, .context = context}, *posted);
  });
}

rma_status_t rma_posted_wait(rma_posted_recv_t* posted) {
  return rma::call("rma_wait", -1, 0, [&](Runtime& runtime) { return runtime.messages->wait(*posted); });
}

int rma_posted_test(rma_posted_recv_t* posted) {
  int ended = 0;
  // Does not fail: another message that finds no memory waits for it where it is.
  static_cast<void>(rma::call("rma_test", -1, 0, [&](Runtime& runtime) -> Status {
    ended = runtime.messages->test(*posted) ? 1 : 0;
    if (ended == 0) rma::let_others_run(runtime.job->wait_policy());
    return {};
  }));
  return ended;
}

void rma_posted_cancel(rma_posted_recv_t* posted) {
  static_cast<void>(rma::call("rma_cancel", -1, 0, [&](Runtime& runtime) -> Status {
    runtime.messages->cancel(*posted);
    return {};
  }));
}

rma_status_t rma_posted_request(rma_posted_recv_t* posted, rma_request_t* request) {
  return rma::call("rma_wait_any", -1, 0,
                   [&](Runtime& runtime) { return runtime.messages->open_request(*posted, request); });
}

}  // extern "C"
