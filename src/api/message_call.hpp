#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "api/call.hpp"
#include "api/check.hpp"
#include "messages/messages.hpp"
#include "rma/messages.h"
#include "util/text.hpp"
#include "util/try.hpp"

// The checks and bodies that the calls of rma/messages.h share.

namespace librma {

inline Status check_tag(int tag) {
  if (tag >= 0) [[likely]]
    return {};
  return {RMA_ERR_ARGUMENT, text("tag {} is negative", tag)};
}

inline Status check_buffer(const void* buffer, std::size_t bytes, const char* argument) {
  return bytes == 0 ? Status() : check_range(buffer, bytes, argument);
}

inline Status check_wanted(const Runtime& runtime, int source, int tag) {
  if (source != RMA_ANY_SOURCE) {
    RMA_TRY(check_rank(runtime, source));
  }
  return tag == RMA_ANY_TAG ? Status() : check_tag(tag);
}

/// Stores RMA_REQUEST_NULL into the request of a nonblocking call, so that it is valid after a failure.
inline Status check_request(rma_request_t* request) {
  RMA_TRY(check_not_null(request, "request"));
  *request = RMA_REQUEST_NULL;
  return {};
}

enum class Blocking : bool { no, yes };

/// Checks what all sends, and all receives, have in common.
inline Status check_send(const Runtime& runtime, int rank, int tag, Blocking blocking,
                         rma_request_t* request) {
  if (blocking == Blocking::no) {
    RMA_TRY(check_request(request));
  }
  RMA_TRY(check_rank(runtime, rank));
  return check_tag(tag);
}
inline Status check_receive(const Runtime& runtime, int source, int tag, Blocking blocking,
                            rma_request_t* request) {
  if (blocking == Blocking::no) {
    RMA_TRY(check_request(request));
  }
  return check_wanted(runtime, source, tag);
}

/// The handle of a message is its name in Messages. It points nowhere.
inline rma_message_t handle_of(std::uint64_t name) {
  return reinterpret_cast<rma_message_t>(static_cast<std::uintptr_t>(name));
}

/// Checks what all receives of a message that was found have in common.
inline Status check_message(const rma_message_t* message, Blocking blocking, rma_request_t* request) {
  if (blocking == Blocking::no) {
    RMA_TRY(check_request(request));
  }
  RMA_TRY(check_not_null(message, "message"));
  return check_not_null(*message, "*message");
}
/// Receives such a message, whose handle becomes null.
inline Status receive_taken(Runtime& runtime, const MessageData& data, rma_message_t* message,
                            rma_message_info_t* info, rma_request_t* request) {
  std::uint64_t taken = reinterpret_cast<std::uintptr_t>(*message);
  Status status = runtime.messages->receive_taken(&taken, data, info, request);
  *message = handle_of(taken);
  return status;
}

[[gnu::always_inline]] inline rma_status_t send(const char* name, const void* src, std::size_t bytes,
                                                int rank, int tag, std::uint32_t context, Blocking blocking,
                                                rma_request_t* request) {
  return call(
      name, rank, bytes, [&](Runtime & runtime) __attribute__((always_inline))->Status {
        RMA_TRY(check_send(runtime, rank, tag, blocking, request));
        RMA_TRY(check_buffer(src, bytes, "src"));
        const std::span<const std::byte> data(static_cast<const std::byte*>(src), bytes);
        const Envelope envelope = {.context = context, .tag = tag};
        if (runtime.messages->send_at_once(data, rank, envelope)) [[likely]] {
          if (blocking == Blocking::no) *request = kCompleteRequest;
          return {};
        }
        return runtime.messages->send(MessageData::of(data), rank, envelope, false, request);
      });
}

[[gnu::always_inline]] inline rma_status_t receive(const char* name, void* dst, std::size_t bytes, int source,
                                                   int tag, std::uint32_t context, rma_message_info_t* info,
                                                   Blocking blocking, rma_request_t* request) {
  return call(
      name, source, bytes, [&](Runtime & runtime) __attribute__((always_inline))->Status {
        RMA_TRY(check_receive(runtime, source, tag, blocking, request));
        RMA_TRY(check_buffer(dst, bytes, "dst"));
        const std::span<std::byte> buffer(static_cast<std::byte*>(dst), bytes);
        rma_message_info_t unused;
        const Messages::Wanted wanted = {.source = source, .tag = tag, .context = context};
        if (runtime.messages->receive_now(buffer, wanted, info != nullptr ? *info : unused)) {
          if (blocking == Blocking::no) *request = kCompleteRequest;
          return {};
        }
        return runtime.messages->receive(MessageData::of(buffer), wanted, info, request);
      });
}

}  // namespace librma
