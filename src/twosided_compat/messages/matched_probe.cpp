// Matched probes: a message that MPI_Mprobe has found belongs to its handle until it is received.

#include <memory>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/messages/requests.hpp"
#include "twosided_compat/messages/transfer.hpp"
#include "twosided_compat/objects/library_failure.hpp"
#include "util/try.hpp"

namespace librma::mpi {
namespace {

/// A message that a matched probe has found.
class FoundMessage : public Object {
 public:
  FoundMessage(Communicator& comm, rma_message_t message)
      : Object(Kind::kMessage), comm_(comm), message_(message) {
    comm.add_reference();
  }
  ~FoundMessage() { comm_.remove_reference(); }

  [[nodiscard]] Communicator& comm() const { return comm_; }
  [[nodiscard]] rma_message_t* message() { return &message_; }

 private:
  Communicator& comm_;
  rma_message_t message_;
};

/// Looks for a message once (`found` is not null), or waits for one.
int find_message(int source, int tag, MPI_Comm handle, int* found, MPI_Message* made, MPI_Status* status) {
  Communicator* comm = nullptr;
  if (made == nullptr) return failure(MPI_ERR_ARG, "message is null");
  RMA_TRY(find_communicator(handle).store(comm));
  RMA_TRY(check_source(*comm, source, tag));
  if (source == MPI_PROC_NULL) {
    if (found != nullptr) *found = 1;
    *made = MPI_MESSAGE_NO_PROC;
    describe_proc_null(status);
    return MPI_SUCCESS;
  }
  const int from = source == MPI_ANY_SOURCE ? RMA_ANY_SOURCE : comm->world_rank(source);
  const int with = tag == MPI_ANY_TAG ? RMA_ANY_TAG : tag;
  rma_message_t message = nullptr;
  rma_message_info_t info = {};
  const rma_status_t looked = found != nullptr
                                  ? rma_improbe(from, with, comm->context(), found, &message, &info)
                                  : rma_mprobe(from, with, comm->context(), &message, &info);
  if (looked != RMA_SUCCESS) return checked(looked);
  *made = MPI_MESSAGE_NULL;
  if (message == nullptr) return MPI_SUCCESS;
  *made = (new FoundMessage(*comm, message))->handle<MPI_Message>();
  describe_message(status, *comm, info);
  return MPI_SUCCESS;
}

/// Takes the message out of its handle, which becomes null. Null for MPI_MESSAGE_NO_PROC.
int take(MPI_Message* handle, std::unique_ptr<FoundMessage>& taken) {
  if (handle == nullptr) return failure(MPI_ERR_ARG, "message is null");
  if (*handle != MPI_MESSAGE_NO_PROC) {
    taken.reset(find<FoundMessage>(*handle));
    if (taken == nullptr) return failure(MPI_ERR_REQUEST, "the message is null or was received");
  }
  *handle = MPI_MESSAGE_NULL;
  return MPI_SUCCESS;
}

}  // namespace

int mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  return find_message(source, tag, comm, nullptr, message, status);
}

int improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  if (flag == nullptr) return failure(MPI_ERR_ARG, "flag is null");
  return find_message(source, tag, comm, flag, message, status);
}

int mrecv(void* address, MPI_Count count, MPI_Datatype type, MPI_Message* handle, MPI_Status* status) {
  Buffer buffer;
  std::unique_ptr<FoundMessage> message;
  RMA_TRY(find_buffer(address, count, type, buffer));
  RMA_TRY(take(handle, message));
  if (message == nullptr) {
    describe_proc_null(status);
    return MPI_SUCCESS;
  }
  rma_message_info_t info = {};
  PackMemory memory;
  rma_request_t pending = RMA_REQUEST_NULL;
  rma_status_t received = receive_found(buffer, message->message(), &info, memory, pending);
  if (received == RMA_SUCCESS) received = rma_wait(&pending);
  if (received == RMA_SUCCESS || received == RMA_ERR_TRUNCATED) {
    unpack_received(buffer, info, memory);
    describe_message(status, message->comm(), info);
  }
  return received == RMA_SUCCESS ? MPI_SUCCESS : failure_of(message->comm(), checked(received));
}

int imrecv(void* address, MPI_Count count, MPI_Datatype type, MPI_Message* handle, MPI_Request* made) {
  Buffer buffer;
  std::unique_ptr<FoundMessage> message;
  if (made == nullptr) return failure(MPI_ERR_ARG, "request is null");
  RMA_TRY(find_buffer(address, count, type, buffer));
  RMA_TRY(take(handle, message));
  Communicator* const comm = message != nullptr ? &message->comm() : find<Communicator>(MPI_COMM_SELF);
  if (comm == nullptr) return failure(MPI_ERR_OTHER, "another thread has finalized MPI");
  auto request = std::make_unique<Request>(Request::Type::kReceive, *comm);
  request->keep_datatype(type);
  auto& packed = request->become<Request::Packed>();
  packed.buffer = buffer;
  request->proc_null = request->ended = message == nullptr;
  if (message != nullptr) {
    RMA_TRY(checked(
        receive_found(buffer, message->message(), &request->receive.info, packed.memory, request->pending)));
  }
  *made = request.release()->handle<MPI_Request>();
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
