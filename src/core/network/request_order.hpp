#pragma once

#include <cstddef>

#include "core/completion/pending_operations.hpp"
#include "core/network/connection_manager.hpp"
#include "core/network/posting.hpp"
#include "util/status.hpp"

namespace rma {

/// Keeps transfers by RDMA and requests by messages to one rank in program order. The two go over different
/// queue pairs, so one kind waits for the other. Thread-safe.
class RequestOrder {
 public:
  RequestOrder(PendingOperations& pending, ConnectionManager& connections, Posting& posting)
      : pending_(pending), connections_(connections), posting_(posting) {}

  /// Called before a transfer. Connects with `rank`, and waits for the requests to it whose call has
  /// returned.
  [[nodiscard]] Status start_transfer(int rank, Peer** connected) {
    if (Status status = connections_.connect(rank, connected); !status.ok()) return status;
    settle_requests(**connected);
    return {};
  }

  /// Called before a request. Connects with `rank`, and sets `*rail` to the rail that messages to it take.
  [[nodiscard]] Status reach(int rank, std::size_t* rail);
  /// Called before a request. Waits until everything that was put to `rank` is there, because a message must
  /// not overtake a put.
  void settle(int rank) { posting_.drain(connections_.peer(rank)); }
  /// Called before a request to `rank` is sent whose call returns before it is acknowledged.
  void request_begins(int rank);
  /// Called when such a request is acknowledged or has failed.
  void request_ended(int rank);
  /// Waits until such requests to `rank` have ended.
  void settle_requests(int rank) { settle_requests(connections_.peer(rank)); }

 private:
  void settle_requests(Peer& peer) {
    // Pairs with request_ended().
    if (peer.unacknowledged_requests.load(std::memory_order_acquire) != 0) wait_for_requests(peer);
  }
  void wait_for_requests(Peer& peer);

  PendingOperations& pending_;
  ConnectionManager& connections_;
  Posting& posting_;
};

}  // namespace rma
