// Two-sided messages from and into noncontiguous memory (rma/messages.h).

#include "api/message_call.hpp"
#include "util/statistics.hpp"
#include "util/try.hpp"

namespace rma {
namespace {

struct Strided {
  static constexpr Counter kCounter = Counter::strided;
  const void* start;
  const std::ptrdiff_t* strides;
  const std::size_t* counts;
  int levels;
};
struct Vector {
  static constexpr Counter kCounter = Counter::vector;
  const iovec* segments;
  std::size_t count;
};

/// Checks the arguments and returns the data. Only a receive writes through the pointer.
Result<MessageData> data_of(const Strided& given) {
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
  return data;
}

Result<MessageData> data_of(const Vector& given) {
  if (given.count != 0) {
    RMA_TRY(check_not_null(given.segments, "segments"));
  }
  const std::span<const iovec> segments(given.segments, given.count);
  for (const iovec& one : segments) {
    if (one.iov_len == 0) continue;
    RMA_TRY(check_not_null(one.iov_base, "iov_base"));
  }
  return MessageData::vector(segments);
}

template <typename Layout>
rma_status_t send_from(const char* name, const Layout& layout, int rank, int tag, std::uint32_t context,
                       Blocking blocking, rma_request_t* request, bool synchronous = false) {
  return call(name, rank, 0, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_send(runtime, rank, tag, blocking, request));
    auto data = data_of(layout);
    if (!data.ok()) return std::move(data).status();
    if (!data.value().contiguous()) count(Layout::kCounter);
    return runtime.messages->send(data.value(), rank, {.context = context, .tag = tag}, synchronous, request);
  });
}

template <typename Layout>
rma_status_t receive_into(const char* name, const Layout& layout, int source, int tag, std::uint32_t context,
                          rma_message_info_t* info, Blocking blocking, rma_request_t* request) {
  return call(name, source, 0, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_receive(runtime, source, tag, blocking, request));
    auto data = data_of(layout);
    if (!data.ok()) return std::move(data).status();
    if (!data.value().contiguous()) count(Layout::kCounter);
    return runtime.messages->receive(data.value(), {.source = source, .tag = tag, .context = context}, info,
                                     request);
  });
}

template <typename Layout>
rma_status_t receive_taken_into(const char* name, const Layout& layout, rma_message_t* message,
                                rma_message_info_t* info, Blocking blocking, rma_request_t* request) {
  return call(name, -1, 0, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_message(message, blocking, request));
    auto data = data_of(layout);
    if (!data.ok()) return std::move(data).status();
    if (!data.value().contiguous()) count(Layout::kCounter);
    return receive_taken(runtime, data.value(), message, info, request);
  });
}

}  // namespace
}  // namespace rma

using rma::Blocking;
using rma::Strided;
using rma::Vector;

extern "C" {

rma_status_t rma_send_strided(const void* src, const ptrdiff_t* strides, const size_t* counts, int levels,
                              int rank, int tag, uint32_t context) {
  return rma::send_from(__func__, Strided{src, strides, counts, levels}, rank, tag, context, Blocking::yes,
                        nullptr);
}

rma_status_t rma_send_strided_nb(const void* src, const ptrdiff_t* strides, const size_t* counts, int levels,
                                 int rank, int tag, uint32_t context, rma_request_t* request) {
  return rma::send_from(__func__, Strided{src, strides, counts, levels}, rank, tag, context, Blocking::no,
                        request);
}

rma_status_t rma_recv_strided(void* dst, const ptrdiff_t* strides, const size_t* counts, int levels,
                              int source, int tag, uint32_t context, rma_message_info_t* info) {
  return rma::receive_into(__func__, Strided{dst, strides, counts, levels}, source, tag, context, info,
                           Blocking::yes, nullptr);
}

rma_status_t rma_recv_strided_nb(void* dst, const ptrdiff_t* strides, const size_t* counts, int levels,
                                 int source, int tag, uint32_t context, rma_message_info_t* info,
                                 rma_request_t* request) {
  return rma::receive_into(__func__, Strided{dst, strides, counts, levels}, source, tag, context, info,
                           Blocking::no, request);
}

rma_status_t rma_send_vector(const struct iovec* segments, size_t count, int rank, int tag,
                             uint32_t context) {
  return rma::send_from(__func__, Vector{segments, count}, rank, tag, context, Blocking::yes, nullptr);
}

rma_status_t rma_send_vector_nb(const struct iovec* segments, size_t count, int rank, int tag,
                                uint32_t context, rma_request_t* request) {
  return rma::send_from(__func__, Vector{segments, count}, rank, tag, context, Blocking::no, request);
}

rma_status_t rma_recv_vector(const struct iovec* segments, size_t count, int source, int tag,
                             uint32_t context, rma_message_info_t* info) {
  return rma::receive_into(__func__, Vector{segments, count}, source, tag, context, info, Blocking::yes,
                           nullptr);
}

rma_status_t rma_recv_vector_nb(const struct iovec* segments, size_t count, int source, int tag,
                                uint32_t context, rma_message_info_t* info, rma_request_t* request) {
  return rma::receive_into(__func__, Vector{segments, count}, source, tag, context, info, Blocking::no,
                           request);
}

rma_status_t rma_ssend_strided(const void* src, const ptrdiff_t* strides, const size_t* counts, int levels,
                               int rank, int tag, uint32_t context) {
  return rma::send_from(__func__, Strided{src, strides, counts, levels}, rank, tag, context, Blocking::yes,
                        nullptr, true);
}

rma_status_t rma_ssend_strided_nb(const void* src, const ptrdiff_t* strides, const size_t* counts, int levels,
                                  int rank, int tag, uint32_t context, rma_request_t* request) {
  return rma::send_from(__func__, Strided{src, strides, counts, levels}, rank, tag, context, Blocking::no,
                        request, true);
}

rma_status_t rma_ssend_vector(const struct iovec* segments, size_t count, int rank, int tag,
                              uint32_t context) {
  return rma::send_from(__func__, Vector{segments, count}, rank, tag, context, Blocking::yes, nullptr, true);
}

rma_status_t rma_ssend_vector_nb(const struct iovec* segments, size_t count, int rank, int tag,
                                 uint32_t context, rma_request_t* request) {
  return rma::send_from(__func__, Vector{segments, count}, rank, tag, context, Blocking::no, request, true);
}

rma_status_t rma_mrecv_strided(void* dst, const ptrdiff_t* strides, const size_t* counts, int levels,
                               rma_message_t* message, rma_message_info_t* info) {
  return rma::receive_taken_into(__func__, Strided{dst, strides, counts, levels}, message, info,
                                 Blocking::yes, nullptr);
}

rma_status_t rma_mrecv_strided_nb(void* dst, const ptrdiff_t* strides, const size_t* counts, int levels,
                                  rma_message_t* message, rma_message_info_t* info, rma_request_t* request) {
  return rma::receive_taken_into(__func__, Strided{dst, strides, counts, levels}, message, info, Blocking::no,
                                 request);
}

rma_status_t rma_mrecv_vector(const struct iovec* segments, size_t count, rma_message_t* message,
                              rma_message_info_t* info) {
  return rma::receive_taken_into(__func__, Vector{segments, count}, message, info, Blocking::yes, nullptr);
}

rma_status_t rma_mrecv_vector_nb(const struct iovec* segments, size_t count, rma_message_t* message,
                                 rma_message_info_t* info, rma_request_t* request) {
  return rma::receive_taken_into(__func__, Vector{segments, count}, message, info, Blocking::no, request);
}

}  // extern "C"
