#include "messages/rendezvous/device_transfers.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "core/network/keyed_transfers.hpp"

namespace librma {

rma_status_t DeviceTransfers::start(transport::Direction direction, int rank, std::uintptr_t remote,
                                    const RailKeys& keys, const MessageData& data, bool keep, Then then) {
  if (network_ == nullptr) return RMA_ERR_UNSUPPORTED;
  KeyedTransfers& transfers = network_->keyed_transfers();
  if (!transfers.connected(rank)) {
    want_connection(rank);
    return RMA_ERR_STATE;
  }
  if (transfers.wants_rails(rank, data.bytes)) want_connection(rank);
  const auto memory = transfers.prepare(data.address, data.bytes, keep);
  if (!memory.ok()) return memory.status().code();
  const rma_request_t operation = pending_.open(rank);
  if (operation == RMA_REQUEST_NULL) return RMA_ERR_NO_MEMORY;
  // Before anything is posted, because there may be no memory for it. The operation is not complete before
  // detach().
  if (const Status watched = unless_exhausted([&] { return watch(operation, std::move(then)); });
      !watched.ok()) {
    pending_.leave(operation);
    return watched.code();
  }
  const Status started = unless_exhausted([&] {
    return transfers.start(direction, rank, remote, keys, data.address, data.bytes, memory.value(),
                           operation);
  });
  if (started.ok()) {
    pending_.detach(operation);
  } else {
    pending_.settle(operation, started.code(), rank);
  }
  return RMA_SUCCESS;
}

bool DeviceTransfers::probe(int rank, bool connects, Then then) {
  if (network_ == nullptr) return false;
  if (!network_->keyed_transfers().connected(rank)) {
    if (connects) want_connection(rank);
    return false;
  }
  const rma_request_t operation = pending_.open(rank);
  if (operation == RMA_REQUEST_NULL) return false;
  if (!unless_exhausted([&] { return watch(operation, std::move(then)); }).ok()) {
    pending_.leave(operation);
    return false;
  }
  network_->keyed_transfers().probe(rank, operation);
  pending_.detach(operation);
  return true;
}

void DeviceTransfers::want_connection(int rank) {
  const std::lock_guard guard(lock_);
  unconnected_.push_back(rank);
  any_unconnected_.store(true, std::memory_order_relaxed);
}

Status DeviceTransfers::watch(rma_request_t operation, Then then) {
  const std::lock_guard guard(lock_);
  under_way_.push_back({.operation = operation, .then = std::move(then)});
  count_.store(under_way_.size(), std::memory_order_relaxed);
  return {};
}

void DeviceTransfers::connect_wanted(const Connect& connect) {
  std::vector<int> ranks;
  {
    const std::lock_guard guard(lock_);
    ranks.swap(unconnected_);
    any_unconnected_.store(false, std::memory_order_relaxed);
  }
  for (const int rank : ranks) {
    connect(rank);
    KeyedTransfers& transfers = network_->keyed_transfers();
    if (transfers.connected(rank)) transfers.connect_rails(rank);
  }
}

bool DeviceTransfers::progress() {
  if (count_.load(std::memory_order_relaxed) == 0) return false;
  std::vector<UnderWay> ended;
  {
    const std::lock_guard guard(lock_);
    const auto open = [&](const UnderWay& way) { return !pending_.complete(way.operation); };
    const auto first = std::stable_partition(under_way_.begin(), under_way_.end(), open);
    ended.assign(std::make_move_iterator(first), std::make_move_iterator(under_way_.end()));
    under_way_.erase(first, under_way_.end());
    count_.store(under_way_.size(), std::memory_order_relaxed);
  }
  for (const UnderWay& way : ended) {
    const Status status = pending_.wait(way.operation);  // complete, so this only closes it
    way.then(status.code());
  }
  return !ended.empty();
}

}  // namespace librma
