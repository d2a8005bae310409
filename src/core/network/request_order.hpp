#pragma once

#include <atomic>
#include <cstddef>

#include "core/completion/pending_operations.hpp"
#include "core/network/connection_manager.hpp"
#include "core/network/posting.hpp"
#include "util/status.hpp"
#include "util/try.hpp"

namespace librma {

/// Keeps transfers by RDMA and requests by messages to one rank in program order. The two go over different
/// queue pairs, so one kind waits for the other. Thread-safe.
class RequestOrder {
 public:
  RequestOrder(PendingOperations& pending, ConnectionManager& connections, Posting& posting)
      : pending_(pending), connections_(connections), posting_(posting) {}

  /// Connects with `rank`, and waits for the requests to it whose call has returned. Called before a
  /// transfer.
  [[nodiscard]] Status start_transfer(int rank, NetworkPeer** connected) {
    RMA_TRY(connections_.connect(rank, connected));
    settle_requests(**connected);
    return {};
  }

  /// Connects with `rank`, and sets `*rail` to the rail that messages to it take. Called before a request.
  [[nodiscard]] Status reach(int rank, std::size_t* rail);
  /// Waits until everything that was put to `rank` is there, because a message must not overtake a put.
  /// Called before a request.
  void settle(int rank) { posting_.drain(connections_.peer(rank)); }
  /// Counts a request to `rank` whose call returns before it is acknowledged. Called before it is sent.
  void request_begins(int rank);
  /// Ends the count of such a request, which is acknowledged or has failed.
  void request_ended(int rank);
  /// Waits until such requests to `rank` have ended.
  void settle_requests(int rank) { settle_requests(connections_.peer(rank)); }

 private:
  void settle_requests(NetworkPeer& peer) {
    // Pairs with request_ended().
    if (peer.unacknowledged_requests.load(std::memory_order_acquire) != 0) wait_for_requests(peer);
  }
  void wait_for_requests(NetworkPeer& peer);

  PendingOperations& pending_;
  ConnectionManager& connections_;
  Posting& posting_;
};

}  // namespace librma
