#include "messages/matching/operation_ends.hpp"

#include "util/text.hpp"

namespace librma {

Status OperationEnds::open(rma_request_t* request, rma_request_t* opened) {
  if (request == nullptr) return {};
  *opened = pending_.open(ProgressEngine::kNoRank);
  if (*opened == RMA_REQUEST_NULL) return PendingOperations::too_many();
  *request = *opened;
  return {};
}

void OperationEnds::end(ReceiveOperation& receive, rma_status_t status, bool wakes) {
  leave(receive.data.bytes);
  rma_posted_recv_t* posted = nullptr;
  rma_request_t request = RMA_REQUEST_NULL;
  const int rank = receive.peer;
  receives_.end(receive, [&](const ReceiveOperation& operation) {
    posted = operation.end.posted;
    request = operation.end.request;
  });
  if (posted == nullptr) return pending_.settle(request, status, rank);
  tell(*posted, status, rank);
  if (wakes) pending_.engine().wake();
}

void OperationEnds::end(const EndedSend& send, rma_status_t status) {
  leave(send.bytes);
  if (send.awaited == nullptr) return pending_.settle(send.request, status, send.peer);
  send.awaited->status = status;
  send.awaited->done.store(true, std::memory_order_release);  // last: the memory is the caller's again
  pending_.engine().wake();
}

Status OperationEnds::outcome(rma_status_t status, int rank) {
  if (status == RMA_SUCCESS) return {};
  return {status, explain(status, rank)};
}

std::string OperationEnds::explain(rma_status_t code, int rank) {
  switch (code) {
    case RMA_ERR_TRUNCATED:
      return text("rank {} has sent a message that is longer than the buffer", rank);
    case RMA_ERR_NO_MEMORY:
      return text("there is no memory for the receive");
    case RMA_ERR_CANCELED:
      return text("the send or receive was cancelled");
    case RMA_ERR_PEER_LOST:
      return text("rank {} has ended or cannot be reached", rank);
    default:
      return text("a message to or from rank {} failed", rank);
  }
}

}  // namespace librma
