// A nonblocking send and receive with one request.

#include <memory>

#include "rma/messages.h"
#include "twosided_compat/calls.hpp"
#include "twosided_compat/messages/completion.hpp"
#include "twosided_compat/messages/sends.hpp"
#include "twosided_compat/objects/library_failure.hpp"
#include "util/try.hpp"

namespace librma::mpi {
namespace {

/// The arguments of the receive, as the program gives them.
struct Receive {
  void* address;
  MPI_Count count;
  MPI_Datatype type;
  int source;
  int tag;
};

/// Starts both parts on one request. If `copies`, the request keeps a copy of what it sends.
int begin_exchange(Send send, int dest, int send_tag, bool copies, const Receive& receive,
                   MPI_Request* made) {
  MPI_Request handle = MPI_REQUEST_NULL;
  Communicator& comm = *send.comm;
  PackMemory copy;
  if (copies) {
    copy = std::make_unique_for_overwrite<std::byte[]>(send.buffer.bytes);
    pack(send.buffer, copy.get());
    send.buffer = {.data = copy.get(), .bytes = send.buffer.bytes};
  }
  if (const int code = begin_receive(receive.address, receive.count, receive.type, receive.source,
                                     receive.tag, comm.handle<MPI_Comm>(), &handle);
      code != MPI_SUCCESS) {
    return code;
  }
  auto* const request = find<Request>(handle);
  Request::Packed received;
  if (auto* const packed = request->as<Request::Packed>(); packed != nullptr) received = std::move(*packed);
  auto& exchange = request->become<Request::SendAndReceive>();
  exchange.copy = std::move(copy);
  exchange.received = std::move(received);
  if (dest != MPI_PROC_NULL) {
    const MessagePeer to = peer_of(comm, dest, send_tag);
    const int code = checked(
        send.buffer.is_contiguous()
            ? rma_send_nb(send.buffer.data, send.buffer.bytes, to.rank, to.tag, to.context, &exchange.send)
            : send_noncontiguous(Mode::kStandard, send.buffer, to, exchange.copy, exchange.send));
    if (code != MPI_SUCCESS) {
      const std::unique_ptr<Request> given_up(request);
      request->cancel_message();
      static_cast<void>(wait_for(*request));
      return code;
    }
    request->ended = false;  // also if the receive is from MPI_PROC_NULL
  }
  *made = handle;
  return MPI_SUCCESS;
}

}  // namespace

int isendrecv(const void* out, MPI_Count out_count, MPI_Datatype out_type, int dest, int send_tag, void* in,
              MPI_Count in_count, MPI_Datatype in_type, int source, int receive_tag, MPI_Comm comm,
              MPI_Request* request) {
  Send send;
  if (request == nullptr) return failure(MPI_ERR_ARG, "request is null");
  RMA_TRY(find_send(out, out_count, out_type, dest, send_tag, comm, send));
  return begin_exchange(
      send, dest, send_tag, false,
      {.address = in, .count = in_count, .type = in_type, .source = source, .tag = receive_tag}, request);
}

int isendrecv_replace(void* address, MPI_Count count, MPI_Datatype type, int dest, int send_tag, int source,
                      int receive_tag, MPI_Comm comm, MPI_Request* request) {
  Send send;
  if (request == nullptr) return failure(MPI_ERR_ARG, "request is null");
  RMA_TRY(find_send(address, count, type, dest, send_tag, comm, send));
  return begin_exchange(
      send, dest, send_tag, true,
      {.address = address, .count = count, .type = type, .source = source, .tag = receive_tag}, request);
}

}  // namespace librma::mpi
