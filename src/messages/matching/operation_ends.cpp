#include "messages/matching/operation_ends.hpp"

#include <utility>

#include "util/text.hpp"

namespace librma {

Status OperationEnds::open(rma_request_t* request, rma_request_t* opened) {
  if (request == nullptr) return {};
  *opened = pending_.open(ProgressEngine::kNoRank);
  if (*opened == RMA_REQUEST_NULL) return PendingOperations::too_many();
  *request = *opened;
  return {};
}

void OperationEnds::release(MessageEnd& end, rma_status_t status, int rank) {
  end.status = status;
  end.failed_rank = rank;
  end.done.store(true, std::memory_order_release);  // last: the waiting thread now gives the slot back
  pending_.engine().wake();
}

void OperationEnds::end(ReceiveOperation& receive, rma_status_t status, bool wakes) {
  if (ProgressThread* const thread = driver(receive.data); thread != nullptr) thread->end();
  if (receive.end.waits) return release(receive.end, status, receive.peer);
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

void OperationEnds::end(SendOperation& send, rma_status_t status) {
  if (ProgressThread* const thread = driver(send.data); thread != nullptr) thread->end();
  if (send.end.waits) return release(send.end, status, send.peer);
  const rma_request_t request = send.end.request;
  const int rank = send.peer;
  sends_.end(send);
  pending_.settle(request, status, rank);
}

bool OperationEnds::end_send(std::uint64_t name, int peer, rma_status_t status) {
  SendOperation* ended = nullptr;
  static_cast<void>(sends_.with(name, [&](SendOperation& send) {
    if (send.peer != peer || !std::exchange(send.open, false)) return false;
    ended = &send;
    return true;
  }));
  if (ended != nullptr) end(*ended, status);
  return ended != nullptr;
}

bool OperationEnds::claim_send(std::uint64_t name) {
  return sends_.with(name, [](SendOperation& send) { return std::exchange(send.open, false); });
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
