// Point-to-point communication: blocking and nonblocking sends and receives, and probes.

#include <fmt/format.h>

#include "rma/messages.h"
#include "twosided_compat/calls.hpp"
#include "twosided_compat/messages/completion.hpp"
#include "twosided_compat/messages/requests.hpp"
#include "twosided_compat/messages/sends.hpp"
#include "twosided_compat/messages/short_calls.hpp"
#include "twosided_compat/messages/transfer.hpp"
#include "twosided_compat/objects/library_failure.hpp"
#include "util/try.hpp"

namespace librma::mpi {

int bad_rank(int rank, const Communicator& comm) {
  return failure(MPI_ERR_RANK,
                 fmt::format("rank {} is not in a communicator of {} processes", rank, comm.peer_count()));
}

int bad_tag(int tag) { return failure(MPI_ERR_TAG, fmt::format("tag {} is negative", tag)); }

namespace {

/// Sends a message to a process if that needs nothing but free memory there. Returns whether it is sent.
[[gnu::always_inline]] inline bool sent_at_once(Mode mode, const Send& send, int dest, int tag) {
  return mode == Mode::kStandard && send.buffer.is_contiguous() && send.buffer.bytes <= kMostAtOnce &&
         rma_try_send(send.buffer.data, send.buffer.bytes, send.comm->world_rank(dest), tag,
                      send.comm->context()) != 0;
}

[[gnu::always_inline]] inline int blocking_send(Mode mode, const void* address, MPI_Count count,
                                                MPI_Datatype type, int dest, int tag, MPI_Comm handle) {
  Send send;
  RMA_TRY(find_send(address, count, type, dest, tag, handle, send));
  if (dest == MPI_PROC_NULL || sent_at_once(mode, send, dest, tag)) return MPI_SUCCESS;
  if (!send.buffer.is_contiguous()) [[unlikely]]
    return checked(send_noncontiguous_and_wait(mode, send.buffer, peer_of(*send.comm, dest, tag)));
  const auto call = mode == Mode::kSynchronous ? rma_ssend : rma_send;
  return checked(
      call(send.buffer.data, send.buffer.bytes, send.comm->world_rank(dest), tag, send.comm->context()));
}

/// Issues a nonblocking send of contiguous memory to a process.
int issue(Mode mode, const Send& send, int dest, int tag, rma_request_t& pending) {
  const auto call = mode == Mode::kSynchronous ? rma_ssend_nb : rma_send_nb;
  return checked(call(send.buffer.data, send.buffer.bytes, send.comm->world_rank(dest), tag,
                      send.comm->context(), &pending));
}

/// The source, tag and context of a receive or probe, in librma's terms.
struct Wanted {
  Communicator* comm = nullptr;
  int source = 0;
  int tag = 0;
};

Wanted wanted_of(Communicator& comm, int source, int tag) {
  return {.comm = &comm,
          .source = source < 0 ? RMA_ANY_SOURCE : comm.world_rank(source),
          .tag = tag == MPI_ANY_TAG ? RMA_ANY_TAG : tag};
}

int find_wanted(int source, int tag, MPI_Comm handle, Wanted& wanted) {
  Communicator* comm = nullptr;
  RMA_TRY(find_communicator(handle).store(comm));
  RMA_TRY(check_source(*comm, source, tag));
  wanted = wanted_of(*comm, source, tag);
  return MPI_SUCCESS;
}

}  // namespace

int start_send(Mode mode, const Send& send, int dest, int tag, Request& request) {
  request.ended = dest == MPI_PROC_NULL;
  request.code = MPI_SUCCESS;
  if (request.ended) return MPI_SUCCESS;
  if (send.buffer.is_contiguous()) [[likely]]
    return issue(mode, send, dest, tag, request.pending);
  return checked(send_noncontiguous(mode, send.buffer, peer_of(*send.comm, dest, tag),
                                    request.become<Request::Packed>().memory, request.pending));
}

namespace {

/// Does start_receive(). It is inlined into the two calls.
[[gnu::always_inline]] inline int start(const Buffer& buffer, int source, int tag, Communicator& comm,
                                        Request& request) {
  request.proc_null = source == MPI_PROC_NULL;
  request.ended = request.proc_null;
  request.code = MPI_SUCCESS;
  if (request.ended) return MPI_SUCCESS;
  const MessagePeer from = {.rank = source == MPI_ANY_SOURCE ? RMA_ANY_SOURCE : comm.world_rank(source),
                            .tag = tag == MPI_ANY_TAG ? RMA_ANY_TAG : tag,
                            .context = comm.context()};
  if (buffer.is_contiguous()) [[likely]] {
    rma_posted_recv_t& receive = request.receive;
    rma_receive_context_t* const context =
        from.rank >= 0 && from.tag >= 0 ? comm.find_receive_context() : nullptr;
    rma_status_t begun = RMA_SUCCESS;
    if (context != nullptr) [[likely]] {
      receive.address = buffer.data;
      receive.bytes = buffer.bytes;
      begun = rma_post_recv_in(&receive, from.rank, from.tag, context);
    } else {
      begun = rma_post_recv(buffer.data, buffer.bytes, from.rank, from.tag, from.context, &receive);
    }
    if (begun == RMA_SUCCESS) request.become_posted();
    return checked(begun);
  }
  auto& packed = request.become<Request::Packed>();
  packed.buffer = buffer;
  return checked(receive_noncontiguous(buffer, from, &request.receive.info, packed.memory, request.pending));
}

}  // namespace

int start_receive(const Buffer& buffer, int source, int tag, Communicator& comm, Request& request) {
  return start(buffer, source, tag, comm, request);
}

namespace {

/// Does begin_send() for a buffer that is not contiguous.
int begin_noncontiguous_send(Mode mode, const Send& send, int dest, int tag, MPI_Request* made) {
  auto request = std::make_unique<Request>(Request::Type::kSend, *send.comm);
  RMA_TRY(start_send(mode, send, dest, tag, *request));
  *made = request.release()->handle<MPI_Request>();
  return MPI_SUCCESS;
}

}  // namespace

int begin_send(Mode mode, const void* address, MPI_Count count, MPI_Datatype type, int dest, int tag,
               MPI_Comm handle, MPI_Request* made) {
  Send send;
  if (made == nullptr) return failure(MPI_ERR_ARG, "request is null");
  RMA_TRY(find_send(address, count, type, dest, tag, handle, send));
  if (!send.buffer.is_contiguous()) [[unlikely]]
    return begin_noncontiguous_send(mode, send, dest, tag, made);
  rma_request_t pending = RMA_REQUEST_COMPLETE;
  if (dest != MPI_PROC_NULL && !sent_at_once(mode, send, dest, tag)) {
    RMA_TRY(issue(mode, send, dest, tag, pending));
  }
  if (pending == RMA_REQUEST_COMPLETE) {
    *made = sent_handle;
    return MPI_SUCCESS;
  }
  try {
    auto* const request = new Request(Request::Type::kSend, *send.comm);
    request->pending = pending;
    *made = request->handle<MPI_Request>();
  } catch (const std::bad_alloc&) {
    // Nobody could wait for the send later, and the program may use the buffer after the failure.
    static_cast<void>(rma_wait(&pending));
    throw;
  }
  return MPI_SUCCESS;
}

int begin_receive(void* address, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm handle,
                  MPI_Request* made) {
  Communicator* comm = nullptr;
  Buffer buffer;
  if (made == nullptr) return failure(MPI_ERR_ARG, "request is null");
  RMA_TRY(find_communicator(handle).store(comm));
  RMA_TRY(find_buffer(address, count, type, buffer));
  RMA_TRY(check_source(*comm, source, tag));
  auto request = std::make_unique<Request>(Request::Type::kReceive, *comm);
  if (!buffer.is_contiguous()) [[unlikely]]
    request->keep_datatype(type);
  RMA_TRY(start(buffer, source, tag, *comm, *request));
  *made = request.release()->handle<MPI_Request>();
  return MPI_SUCCESS;
}

int send(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return blocking_send(Mode::kStandard, buf, count, datatype, dest, tag, comm);
}

int ssend(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return blocking_send(Mode::kSynchronous, buf, count, datatype, dest, tag, comm);
}

namespace {

/// Receives a message. The arguments were checked.
int receive(const Buffer& buffer, const Wanted& wanted, MPI_Status* status) {
  rma_message_info_t info = {};
  rma_receive_context_t* const context = wanted.comm->find_receive_context();
  if (context != nullptr && wanted.source >= 0 && buffer.is_contiguous() &&
      rma_try_recv_in(buffer.data, buffer.bytes, wanted.source, wanted.tag, context, &info) != 0) {
    describe_message(status, *wanted.comm, info);
    return MPI_SUCCESS;
  }
  const rma_status_t received = receive_and_wait(
      buffer, {.rank = wanted.source, .tag = wanted.tag, .context = wanted.comm->context()}, &info);
  if (received == RMA_SUCCESS || received == RMA_ERR_TRUNCATED) describe_message(status, *wanted.comm, info);
  return checked(received);
}

}  // namespace

int recv(void* address, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm handle,
         MPI_Status* status) {
  Wanted wanted;
  Buffer buffer;
  RMA_TRY(find_wanted(source, tag, handle, wanted));
  RMA_TRY(find_buffer(address, count, type, buffer));
  if (source != MPI_PROC_NULL) return receive(buffer, wanted, status);
  describe_proc_null(status);
  return MPI_SUCCESS;
}

int probe(int source, int tag, MPI_Comm handle, MPI_Status* status) {
  Wanted wanted;
  RMA_TRY(find_wanted(source, tag, handle, wanted));
  if (source == MPI_PROC_NULL) {
    describe_proc_null(status);
    return MPI_SUCCESS;
  }
  rma_message_info_t info = {};
  const int code = checked(rma_probe(wanted.source, wanted.tag, wanted.comm->context(), &info));
  if (code == MPI_SUCCESS) describe_message(status, *wanted.comm, info);
  return code;
}

int iprobe(int source, int tag, MPI_Comm handle, int* flag, MPI_Status* status) {
  Wanted wanted;
  if (flag == nullptr) return failure(MPI_ERR_ARG, "flag is null");
  RMA_TRY(find_wanted(source, tag, handle, wanted));
  if (source == MPI_PROC_NULL) {
    *flag = 1;
    describe_proc_null(status);
    return MPI_SUCCESS;
  }
  rma_message_info_t info = {};
  int code = MPI_SUCCESS;
  rma_receive_context_t* const context = wanted.comm->find_receive_context();
  *flag = context != nullptr ? rma_try_probe(wanted.source, wanted.tag, context, &info) : -1;
  if (*flag < 0) [[unlikely]]
    code = checked(rma_iprobe(wanted.source, wanted.tag, wanted.comm->context(), flag, &info));
  if (code == MPI_SUCCESS && *flag != 0) describe_message(status, *wanted.comm, info);
  return code;
}

int sendrecv(const void* out, MPI_Count out_count, MPI_Datatype out_type, int dest, int send_tag, void* in,
             MPI_Count in_count, MPI_Datatype in_type, int source, int receive_tag, MPI_Comm handle,
             MPI_Status* status) {
  Send send;
  Buffer buffer;
  RMA_TRY(find_send(out, out_count, out_type, dest, send_tag, handle, send));
  RMA_TRY(find_buffer(in, in_count, in_type, buffer));
  RMA_TRY(check_source(*send.comm, source, receive_tag));
  const bool is_sent = dest == MPI_PROC_NULL || sent_at_once(Mode::kStandard, send, dest, send_tag);
  if (is_sent && source != MPI_PROC_NULL) {
    // Nothing waits for this process to send, so the receive need not be posted first.
    return receive(buffer, wanted_of(*send.comm, source, receive_tag), status);
  }
  Request request(Request::Type::kReceive, *send.comm);
  RMA_TRY(start_receive(buffer, source, receive_tag, *send.comm, request));
  const int sent =
      is_sent ? MPI_SUCCESS
              : checked(send_and_wait(Mode::kStandard, send.buffer, peer_of(*send.comm, dest, send_tag)));
  if (sent != MPI_SUCCESS) request.cancel_message();
  RMA_TRY(wait_for(request));
  request.describe(status);
  if (sent != MPI_SUCCESS || request.code == MPI_SUCCESS) return sent;
  return failure_of(*send.comm, request.code);
}

int sendrecv_replace(void* address, MPI_Count count, MPI_Datatype type, int dest, int send_tag, int source,
                     int receive_tag, MPI_Comm handle, MPI_Status* status) {
  Send send;
  RMA_TRY(find_send(address, count, type, dest, send_tag, handle, send));
  const auto copy = std::make_unique_for_overwrite<std::byte[]>(send.buffer.bytes);
  pack(send.buffer, copy.get());
  return sendrecv(copy.get(), static_cast<MPI_Count>(send.buffer.bytes), MPI_PACKED, dest, send_tag, address,
                  count, type, source, receive_tag, handle, status);
}

}  // namespace librma::mpi
