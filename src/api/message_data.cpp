// Two-sided messages of any data: contiguous, strided or a vector (rma/messages.h).

#include <array>
#include <utility>

#include "api/message_call.hpp"
#include "util/statistics.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma {
namespace {

/// The names of a call by the form of its data and by its mode, as programs know them (rma/messages.h).
struct Names {
  std::array<std::array<const char*, 4>, 3> by_form;
  const char* other;  ///< of a form or mode that does not exist

  [[nodiscard]] const char* of(const rma_data_t* data, int mode) const {
    if (data == nullptr || static_cast<unsigned>(data->form) >= by_form.size() ||
        static_cast<unsigned>(mode) >= by_form[0].size()) {
      return other;
    }
    return by_form[static_cast<std::size_t>(data->form)][static_cast<std::size_t>(mode)];
  }
};
constexpr Names kSend = {
    .by_form = {{{"rma_send", "rma_ssend", "rma_send_nb", "rma_ssend_nb"},
                 {"rma_send_strided", "rma_ssend_strided", "rma_send_strided_nb", "rma_ssend_strided_nb"},
                 {"rma_send_vector", "rma_ssend_vector", "rma_send_vector_nb", "rma_ssend_vector_nb"}}},
    .other = "rma_send_data"};
constexpr Names kReceive = {
    .by_form = {{{"rma_recv", "rma_recv", "rma_recv_nb", "rma_recv_nb"},
                 {"rma_recv_strided", "rma_recv_strided", "rma_recv_strided_nb", "rma_recv_strided_nb"},
                 {"rma_recv_vector", "rma_recv_vector", "rma_recv_vector_nb", "rma_recv_vector_nb"}}},
    .other = "rma_recv_data"};
constexpr Names kReceiveFound = {
    .by_form = {{{"rma_mrecv", "rma_mrecv", "rma_mrecv_nb", "rma_mrecv_nb"},
                 {"rma_mrecv_strided", "rma_mrecv_strided", "rma_mrecv_strided_nb", "rma_mrecv_strided_nb"},
                 {"rma_mrecv_vector", "rma_mrecv_vector", "rma_mrecv_vector_nb", "rma_mrecv_vector_nb"}}},
    .other = "rma_mrecv_data"};

Result<MessageData> strided(const rma_data_t& given) {
  if (given.levels < 0 || given.levels > RMA_MAX_LEVELS) {
    return Status(RMA_ERR_ARGUMENT,
                  text("{} stride levels; there may be 0 to {}", given.levels, RMA_MAX_LEVELS));
  }
  RMA_TRY(check_not_null(given.counts, "counts"));
  if (given.levels > 0) {
    RMA_TRY(check_not_null(given.strides, "strides"));
  }
  auto data = MessageData::strided(const_cast<void*>(given.start), given.strides, given.counts, given.levels);
  if (data.ok() && data.value().bytes != 0) {
    RMA_TRY(check_not_null(given.start, "the start of the layout"));
  }
  if (data.ok() && !data.value().contiguous()) count(Counter::strided);
  return data;
}

Result<MessageData> vector(const rma_data_t& given) {
  if (given.count != 0) {
    RMA_TRY(check_not_null(given.segments, "segments"));
  }
  const std::span<const iovec> segments(given.segments, given.count);
  for (const iovec& segment : segments) {
    if (segment.iov_len == 0) continue;
    RMA_TRY(check_not_null(segment.iov_base, "iov_base"));
  }
  auto data = MessageData::vector(segments);
  if (data.ok() && !data.value().contiguous()) count(Counter::vector);
  return data;
}

/// Checks the data and returns them. Only a receive writes there. `argument`: the name of contiguous data.
Result<MessageData> data_of(const rma_data_t* given, int mode, const char* argument) {
  RMA_TRY(check_not_null(given, "data"));
  if (static_cast<unsigned>(mode) > (RMA_SEND_SYNCHRONOUS | RMA_MESSAGE_STARTS))
    return Status(RMA_ERR_ARGUMENT, text("{} is no mode of a message", mode));
  switch (given->form) {
    case RMA_DATA_CONTIGUOUS:
      RMA_TRY(check_buffer(given->start, given->count, argument));
      return MessageData::of({static_cast<const std::byte*>(given->start), given->count});
    case RMA_DATA_STRIDED:
      return strided(*given);
    case RMA_DATA_VECTOR:
      return vector(*given);
    default:
      return Status(RMA_ERR_ARGUMENT, text("{} is no form of data", given->form));
  }
}

std::size_t traced_bytes(const rma_data_t* data) {
  return data != nullptr && data->form == RMA_DATA_CONTIGUOUS ? data->count : 0;
}

Blocking blocking(int mode) { return (mode & RMA_MESSAGE_STARTS) != 0 ? Blocking::no : Blocking::yes; }

/// Returns the request of a call, or null for one that waits.
rma_request_t* started(int mode, rma_request_t* request) {
  return blocking(mode) == Blocking::no ? request : nullptr;
}

}  // namespace

extern "C" {

rma_status_t rma_send_data(const rma_data_t* data, int rank, int tag, uint32_t context, int mode,
                           rma_request_t* request) {
  return call(kSend.of(data, mode), rank, traced_bytes(data), [&](Runtime& runtime) -> Status {
    RMA_TRY(check_send(runtime, rank, tag, blocking(mode), request));
    RMA_TRY_ASSIGN(found, data_of(data, mode, "src"));
    return runtime.messages->send(found, rank, {.context = context, .tag = tag},
                                  (mode & RMA_SEND_SYNCHRONOUS) != 0, started(mode, request));
  });
}

rma_status_t rma_recv_data(const rma_data_t* data, int source, int tag, uint32_t context,
                           rma_message_info_t* info, int mode, rma_request_t* request) {
  return call(kReceive.of(data, mode), source, traced_bytes(data), [&](Runtime& runtime) -> Status {
    RMA_TRY(check_receive(runtime, source, tag, blocking(mode), request));
    RMA_TRY_ASSIGN(found, data_of(data, mode, "dst"));
    return runtime.messages->receive(found, {.source = source, .tag = tag, .context = context}, info,
                                     started(mode, request));
  });
}

rma_status_t rma_mrecv_data(const rma_data_t* data, rma_message_t* message, rma_message_info_t* info,
                            int mode, rma_request_t* request) {
  return call(kReceiveFound.of(data, mode), -1, traced_bytes(data), [&](Runtime& runtime) -> Status {
    RMA_TRY(check_message(message, blocking(mode), request));
    RMA_TRY_ASSIGN(found, data_of(data, mode, "dst"));
    return receive_taken(runtime, found, message, info, started(mode, request));
  });
}

}  // extern "C"

}  // namespace librma
