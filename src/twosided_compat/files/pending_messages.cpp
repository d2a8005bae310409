#include "twosided_compat/files/pending_messages.hpp"

#include "rma/rma.h"
#include "twosided_compat/objects/library_failure.hpp"

namespace librma::mpi {

PendingMessages::~PendingMessages() {
  for (Receive& pending : receives_) {
    if (pending.request == RMA_REQUEST_NULL) continue;
    static_cast<void>(rma_cancel(pending.request));
    static_cast<void>(rma_wait(&pending.request));
  }
  for (rma_request_t& request : sends_) {
    if (request != RMA_REQUEST_NULL) static_cast<void>(rma_wait(&request));
  }
}

int PendingMessages::send(const void* data, std::size_t bytes, int to, int tag) {
  return checked(rma_send_nb(data, bytes, comm_.world_rank(to), tag, comm_.context(),
                             &sends_.emplace_back(RMA_REQUEST_NULL)));
}

int PendingMessages::receive(void* data, std::size_t bytes, int from, int tag) {
  Receive& pending = receives_.emplace_back();
  return checked(rma_recv_nb(data, bytes, comm_.world_rank(from), tag, comm_.context(), &pending.info,
                             &pending.request));
}

int PendingMessages::discard(int from, int tag) {
  const std::size_t place = receives_.size();
  const int code = receive(nullptr, 0, from, tag);
  receives_[place].discards = true;
  return code;
}

int PendingMessages::wait() {
  int code = MPI_SUCCESS;
  for (Receive& pending : receives_) {
    if (pending.request == RMA_REQUEST_NULL) continue;
    if (code != MPI_SUCCESS) static_cast<void>(rma_cancel(pending.request));
    const rma_status_t status = rma_wait(&pending.request);
    if (pending.discards && status == RMA_ERR_TRUNCATED) continue;
    if (code == MPI_SUCCESS) code = checked(status);
  }
  for (rma_request_t& request : sends_) {
    if (request == RMA_REQUEST_NULL) continue;
    const rma_status_t status = rma_wait(&request);
    if (code == MPI_SUCCESS) code = checked(status);
  }
  return code;
}

void PendingMessages::clear() {
  sends_.clear();
  receives_.clear();
}

}  // namespace librma::mpi
