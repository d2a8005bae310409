// How a receiver fetches the data of a message that was announced (rendezvous).

#include <algorithm>
#include <cstring>
#include <mutex>

#include "messages/messages.hpp"
#include "util/statistics.hpp"

namespace rma {

rma_status_t Messages::read(int rank, std::uintptr_t address, std::span<std::byte> into, bool* readable) {
  *readable = true;
  if (into.empty()) return RMA_SUCCESS;
  if (rank == job_.rank()) {
    std::memcpy(into.data(), reinterpret_cast<const void*>(address), into.size());
    return RMA_SUCCESS;
  }
  if (const std::byte* const here = job_.direct(reinterpret_cast<const void*>(address), into.size(), rank);
      here != nullptr) {
    count(Counter::receive_mapped);
    std::memcpy(into.data(), here, into.size());
    return RMA_SUCCESS;
  }
  *readable = job_.mapped(rank) && remote_access_.permitted(rank);
  if (!*readable) return RMA_SUCCESS;
  count(Counter::receive_cma);
  return reader_(rank, address, into);
}

void Messages::end_fetched(ReceiveOperation& receive, std::uint64_t sender, rma_status_t status) {
  outbox_.control(receive.peer, MessageType::finished, FinishedHead{.sender = sender, .status = status});
  if (status == RMA_SUCCESS && receive.bytes > receive.capacity) status = RMA_ERR_TRUNCATED;
  end(receive, status);
}

bool Messages::start_read(const Fetch& fetch, std::size_t bytes) {
  Network* const network = remote_access_.network();
  if (fetch.head.form != RendezvousForm::keyed || network == nullptr) return false;
  ReceiveOperation& receive = *fetch.receive;
  if (!network->keyed_reads().connected(receive.peer)) {
    const std::lock_guard guard(reads_lock_);
    unconnected_.push_back(receive.peer);
    any_unconnected_.store(true, std::memory_order_relaxed);
    return false;
  }
  const auto memory = network->keyed_reads().prepare(receive.buffer, bytes);
  if (!memory.ok()) return false;
  const rma_request_t operation = pending_.open(receive.peer);
  if (operation == RMA_REQUEST_NULL) return false;
  const Status started = network->keyed_reads().start(receive.peer, fetch.head.address, fetch.keys,
                                                      receive.buffer, bytes, memory.value(), operation);
  if (!started.ok()) pending_.settle(operation, started.code(), receive.peer);
  if (started.ok()) pending_.detach(operation);
  count(Counter::receive_rdma);
  const std::lock_guard guard(reads_lock_);
  reads_.push_back({.operation = operation, .receive = &receive, .sender = fetch.head.sender});
  read_count_.store(reads_.size(), std::memory_order_relaxed);
  return true;
}

void Messages::connect_wanted() {
  std::vector<int> ranks;
  {
    const std::lock_guard guard(reads_lock_);
    ranks.swap(unconnected_);
    any_unconnected_.store(false, std::memory_order_relaxed);
  }
  // A failure is that of the next message to the rank, or of the next read.
  for (const int rank : ranks) static_cast<void>(outbox_.ready(rank));
}

bool Messages::end_reads() {
  if (read_count_.load(std::memory_order_relaxed) == 0) return false;
  std::vector<Read> ended;
  {
    const std::lock_guard guard(reads_lock_);
    const auto open = [&](const Read& read) { return !pending_.complete(read.operation); };
    const auto first = std::stable_partition(reads_.begin(), reads_.end(), open);
    ended.assign(first, reads_.end());
    reads_.erase(first, reads_.end());
    read_count_.store(reads_.size(), std::memory_order_relaxed);
  }
  for (const Read& read : ended) {
    const Status status = pending_.wait(read.operation);  // complete, so this only closes it
    end_fetched(*read.receive, read.sender, status.code());
  }
  return !ended.empty();
}

void Messages::fetch(const Fetch& fetch) {
  const auto& [receive_at, head, keys] = fetch;
  ReceiveOperation& receive = *receive_at;
  const std::size_t bytes = std::min<std::uint64_t>(receive.bytes, receive.capacity);
  const int rank = receive.peer;
  bool readable = false;
  const rma_status_t status = read(rank, head.address, {receive.buffer, bytes}, &readable);
  if (readable) {
    end_fetched(receive, head.sender, status);
    return;
  }
  if (start_read(fetch, bytes)) return;
  count(Counter::receive_fragments);
  const std::uint64_t name = receive.name;
  static_cast<void>(receives_.with(name, [&](ReceiveOperation& one) {
    one.wanted = bytes;
    one.fragmented = true;
    return true;
  }));
  outbox_.control(rank, MessageType::clear,
                  ClearHead{.sender = head.sender, .receiver = name, .bytes = bytes});
  if (outbox_.lost(rank) &&
      receives_.with(name, [](ReceiveOperation& one) { return std::exchange(one.fragmented, false); })) {
    end(receive, RMA_ERR_PEER_LOST);
  }
}

}  // namespace rma
