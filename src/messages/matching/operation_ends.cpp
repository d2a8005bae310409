#include "messages/matching/operation_ends.hpp"

#include <utility>

#include "util/text.hpp"

namespace rma {

Status OperationEnds::open(rma_request_t* request, rma_request_t* opened) {
  if (request == nullptr) return {};
  *opened = pending_.open(ProgressEngine::kNoRank);
  if (*opened == RMA_REQUEST_NULL) return PendingOperations::too_many();
  *request = *opened;
  return {};
}

bool OperationEnds::finish(MessageEnd& end, const MessageData& data, rma_status_t status, int rank) {
  if (ProgressThread* const thread = driver(data); thread != nullptr) thread->end();
  if (end.request != RMA_REQUEST_NULL) {
    pending_.settle(end.request, status, rank);
    return true;
  }
  end.status = status;
  end.failed_rank = rank;
  end.done.store(true, std::memory_order_release);  // last: the waiting thread now gives the slot back
  pending_.engine().wake();
  return false;
}

void OperationEnds::end(ReceiveOperation& receive, rma_status_t status) {
  if (finish(receive.end, receive.data, status, receive.peer)) receives_.end(receive);
}

void OperationEnds::end(SendOperation& send, rma_status_t status) {
  if (finish(send.end, send.data, status, send.peer)) sends_.end(send);
}

bool OperationEnds::end_send(std::uint64_t name, int peer, rma_status_t status) {
  SendOperation* ended = nullptr;
  static_cast<void>(sends_.with(name, [&](SendOperation& one) {
    if (one.peer != peer || !std::exchange(one.open, false)) return false;
    ended = &one;
    return true;
  }));
  if (ended != nullptr) end(*ended, status);
  return ended != nullptr;
}

bool OperationEnds::claim_send(std::uint64_t name) {
  return sends_.with(name, [](SendOperation& one) { return std::exchange(one.open, false); });
}

Status OperationEnds::outcome(rma_status_t status, int rank) {
  if (status == RMA_SUCCESS) return {};
  return {status, explain(status, rank)};
}

std::string OperationEnds::explain(rma_status_t code, int rank) {
  switch (code) {
    case RMA_ERR_TRUNCATED:
      return text("rank {} has sent a message that is longer than the buffer", rank);
    case RMA_ERR_CANCELED:
      return text("the send or receive was cancelled");
    case RMA_ERR_PEER_LOST:
      return text("rank {} has ended or cannot be reached", rank);
    default:
      return text("a message to or from rank {} failed", rank);
  }
}

}  // namespace rma
