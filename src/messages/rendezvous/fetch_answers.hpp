#pragma once

#include <cstddef>
#include <cstdint>

#include "messages/matching/operation_ends.hpp"
#include "messages/sending/outbox.hpp"

namespace librma {

/// A receiver's answers to the announcement of a message, when it has fetched the data or cannot. All
/// protocols of the rendezvous share them. Thread-safe.
class FetchAnswers {
 public:
  /// The arguments outlive this.
  FetchAnswers(OperationEnds& operations, Outbox& outbox) : operations_(operations), outbox_(outbox) {}

  /// Says to the sender that its buffer is free, and ends the receive. `sender` is the sender's name for the
  /// operation. `status` says whether the data have come.
  void finish(ReceiveOperation& receive, std::uint64_t sender, rma_status_t status);
  /// Asks the sender for the bytes from number `begin` on in fragments. The last fragment ends the receive.
  void ask_for_fragments(ReceiveOperation& receive, std::uint64_t sender, std::size_t begin);

 private:
  OperationEnds& operations_;
  Outbox& outbox_;
};

}  // namespace librma
