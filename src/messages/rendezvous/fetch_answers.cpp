#include "messages/rendezvous/fetch_answers.hpp"

#include <utility>

#include "util/statistics.hpp"

namespace librma {

void FetchAnswers::finish(ReceiveOperation& receive, std::uint64_t sender, rma_status_t status) {
  outbox_.control(receive.peer, MessageType::finished, FinishedHead{.sender = sender, .status = status});
  operations_.end(receive, status == RMA_SUCCESS ? receive.status() : status);
}

void FetchAnswers::ask_for_fragments(ReceiveOperation& receive, std::uint64_t sender, std::size_t begin) {
  count(Counter::receive_fragments);
  const std::uint64_t name = receive.name;
  const int rank = receive.peer;
  const std::size_t end = receive.wanted();
  static_cast<void>(operations_.receives().with(name, [&](ReceiveOperation& operation) {
    operation.come = begin;
    operation.fragmented = true;
    operation.pieces.reset();
    return true;
  }));
  outbox_.control(rank, MessageType::clear,
                  ClearHead{.sender = sender, .receiver = name, .begin = begin, .end = end});
  if (outbox_.lost(rank) && operations_.receives().with(name, [](ReceiveOperation& operation) {
        return std::exchange(operation.fragmented, false);
      })) {
    operations_.end(receive, RMA_ERR_PEER_LOST);
  }
}

}  // namespace librma
