// Two-sided messages (rma/messages.h).

#include "rma/messages.h"

#include <cstdint>
#include <optional>
#include <span>

#include "api/message_call.hpp"
#include "util/text.hpp"
#include "util/try.hpp"

namespace librma {
namespace {

Status probe(Runtime& runtime, int source, int tag, std::uint32_t context, bool wait, int* found,
             rma_message_t* message, rma_message_info_t* info) {
  RMA_TRY(check_wanted(runtime, source, tag));
  bool there = false;
  std::uint64_t taken = 0;
  Status status = runtime.messages->probe({.source = source, .tag = tag, .context = context}, wait, &there,
                                          message != nullptr ? &taken : nullptr, info);
  if (found != nullptr) *found = there ? 1 : 0;
  if (message != nullptr) *message = handle_of(taken);
  if (!there) let_others_run(runtime.job->wait_policy());
  return status;
}

}  // namespace

extern "C" {

rma_status_t rma_send(const void* src, size_t bytes, int rank, int tag, uint32_t context) {
  return send(__func__, src, bytes, rank, tag, context, Blocking::yes, nullptr);
}

rma_status_t rma_send_nb(const void* src, size_t bytes, int rank, int tag, uint32_t context,
                         rma_request_t* request) {
  return send(__func__, src, bytes, rank, tag, context, Blocking::no, request);
}

rma_status_t rma_recv(void* dst, size_t bytes, int source, int tag, uint32_t context,
                      rma_message_info_t* info) {
  return receive(__func__, dst, bytes, source, tag, context, info, Blocking::yes, nullptr);
}

rma_status_t rma_recv_nb(void* dst, size_t bytes, int source, int tag, uint32_t context,
                         rma_message_info_t* info, rma_request_t* request) {
  return receive(__func__, dst, bytes, source, tag, context, info, Blocking::no, request);
}

rma_status_t rma_probe(int source, int tag, uint32_t context, rma_message_info_t* info) {
  return call(__func__, source, 0, [&](Runtime& runtime) {
    return probe(runtime, source, tag, context, true, nullptr, nullptr, info);
  });
}

rma_status_t rma_iprobe(int source, int tag, uint32_t context, int* found, rma_message_info_t* info) {
  return call(__func__, source, 0, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_not_null(found, "found"));
    return probe(runtime, source, tag, context, false, found, nullptr, info);
  });
}

rma_status_t rma_mprobe(int source, int tag, uint32_t context, rma_message_t* message,
                        rma_message_info_t* info) {
  return call(__func__, source, 0, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_not_null(message, "message"));
    return probe(runtime, source, tag, context, true, nullptr, message, info);
  });
}

rma_status_t rma_improbe(int source, int tag, uint32_t context, int* found, rma_message_t* message,
                         rma_message_info_t* info) {
  return call(__func__, source, 0, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_not_null(found, "found"));
    RMA_TRY(check_not_null(message, "message"));
    return probe(runtime, source, tag, context, false, found, message, info);
  });
}

rma_status_t rma_cancel(rma_request_t request) {
  return call(__func__, -1, 0, [&](Runtime& runtime) -> Status {
    if (request == RMA_REQUEST_NULL || request == kCompleteRequest) return {};
    if (!runtime.remote_access->pending().known(request)) {
      return {RMA_ERR_ARGUMENT, text("{:#x} is not a valid request, or was already waited for", request)};
    }
    runtime.messages->cancel(request);
    return {};
  });
}

rma_status_t rma_context_drop(uint32_t context) {
  return call(__func__, -1, 0, [&](Runtime& runtime) -> Status {
    runtime.messages->drop_context(context, true);
    return {};
  });
}

rma_status_t rma_contexts_draw(uint32_t* number) {
  return call(__func__, -1, 0, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_not_null(number, "number"));
    // A process may draw numbers without ever waiting for a message, and those that come back come by
    // messages.
    static_cast<void>(runtime.messages->drive());
    const std::optional<std::uint32_t> drawn = runtime.messages->numbers().draw();
    if (!drawn)
      return {RMA_ERR_NO_MEMORY, "all numbers of this process are in use: free some of its objects"};
    *number = *drawn;
    return {};
  });
}

rma_status_t rma_contexts_return(uint32_t number, const int* ranks, int count) {
  return call(__func__, -1, 0, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_not_null(ranks, "ranks"));
    if (count < 1) return {RMA_ERR_ARGUMENT, text("{} is no number of members", count)};
    for (int i = 0; i < count; ++i) {
      RMA_TRY(check_rank(runtime, ranks[i]));
    }
    if (!runtime.messages->numbers().exists(number))
      return {RMA_ERR_ARGUMENT, text("{} is not a drawn number", number)};
    runtime.messages->numbers().give_back(number, std::span(ranks, static_cast<std::size_t>(count)));
    return {};
  });
}

}  // extern "C"

}  // namespace librma
