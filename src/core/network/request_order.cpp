#include "core/network/request_order.hpp"

#include "util/statistics.hpp"
#include "util/try.hpp"

namespace librma {

Status RequestOrder::reach(int rank, std::size_t* rail) {
  NetworkPeer* peer = nullptr;
  RMA_TRY(connections_.connect(rank, &peer));
  return connections_.primary(*peer, rail);
}

void RequestOrder::request_begins(int rank) {
  connections_.peer(rank).unacknowledged_requests.fetch_add(1, std::memory_order_acq_rel);
}

void RequestOrder::request_ended(int rank) {
  // Pairs with settle_requests(): the effects of the request happen before the transfer that waited for it.
  connections_.peer(rank).unacknowledged_requests.fetch_sub(1, std::memory_order_acq_rel);
}

void RequestOrder::wait_for_requests(NetworkPeer& peer) {
  count(Counter::drain);
  pending_.engine().wait_until(peer.rank, [&] {
    return peer.unacknowledged_requests.load(std::memory_order_acquire) == 0;  // pairs with request_ended()
  });
}

}  // namespace librma
