// Persistent sends and receives.

#include "twosided_compat/calls.hpp"
#include "twosided_compat/messages/completion.hpp"
#include "twosided_compat/messages/sends.hpp"
#include "util/try.hpp"

namespace librma::mpi {

int make_send(Mode mode, const void* address, MPI_Count count, MPI_Datatype type, int dest, int tag,
              MPI_Comm handle, MPI_Request* made) {
  Send send;
  if (made == nullptr) return failure(MPI_ERR_ARG, "request is null");
  RMA_TRY(find_send(address, count, type, dest, tag, handle, send));
  auto request = std::make_unique<Request>(Request::Type::kSend, *send.comm);
  request->keep_datatype(type);
  request->active = false;
  request->extra().start = [mode, send, dest, tag](Request& self) {
    return start_send(mode, send, dest, tag, self);
  };
  *made = request.release()->handle<MPI_Request>();
  return MPI_SUCCESS;
}

int recv_init(void* address, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm handle,
              MPI_Request* made) {
  Communicator* comm = nullptr;
  Buffer buffer;
  if (made == nullptr) return failure(MPI_ERR_ARG, "request is null");
  RMA_TRY(find_communicator(handle).store(comm));
  RMA_TRY(find_buffer(address, count, type, buffer));
  RMA_TRY(check_source(*comm, source, tag));
  auto request = std::make_unique<Request>(Request::Type::kReceive, *comm);
  request->keep_datatype(type);
  request->active = false;
  request->extra().start = [buffer, source, tag](Request& self) {
    return start_receive(buffer, source, tag, self.comm(), self);
  };
  *made = request.release()->handle<MPI_Request>();
  return MPI_SUCCESS;
}

int start(MPI_Request* handle) {
  if (handle == nullptr) return failure(MPI_ERR_ARG, "request is null");
  Request* request = nullptr;
  RMA_TRY(find_request(*handle, request));
  if (!request->is_persistent()) return failure(MPI_ERR_REQUEST, "the request is not persistent");
  if (request->active) return failure(MPI_ERR_REQUEST, "the request was started and not waited for");
  request->cancelled = false;
  const int code = request->extra().start(*request);
  request->active = code == MPI_SUCCESS;
  return code == MPI_SUCCESS ? code : failure_of(request->comm(), code);
}

int startall(int count, MPI_Request* handles) {
  if (count < 0) return failure(MPI_ERR_COUNT, "count is negative");
  for (int i = 0; i < count; ++i) {
    RMA_TRY(start(handles + i));
  }
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
