#include "core/network/posting.hpp"

#include "util/statistics.hpp"
#include "util/try.hpp"

namespace librma {
namespace {

constexpr Span kEmptyWrite = {.direction = transport::Direction::write};

}  // namespace

Status Posting::open(Batch& batch) {
  if (batch.operation() == RMA_REQUEST_NULL) batch.set_operation(pending_.open(batch.rank()));
  if (batch.operation() != RMA_REQUEST_NULL) return {};
  return PendingOperations::too_many();
}

Status Posting::add(Batch& batch, std::size_t rail, const transport::Work& work,
                    const transport::Local& local) {
  if (!batch.has_room(rail)) {
    if (Status status = flush(batch); !status.ok()) {
      if (work.cookie != 0) completions_.end(Fragment::of(work.cookie), status.code());
      return status;
    }
  }
  batch.add(rail, work, local);
  return {};
}

Status Posting::flush(Batch& batch) {
  const std::span<const transport::Work> work = batch.take();
  if (work.empty()) return {};
  std::size_t posted = 0;
  const rma_status_t status = post(batch.rank(), batch.rail(), work, &posted);
  std::size_t bytes = 0;
  bool unsignaled = false;
  for (const transport::Work& this_work : work.first(posted)) {
    bytes += this_work.pieces[0].bytes;
    unsignaled = unsignaled || this_work.flags.unsignaled;
  }
  count_rail_bytes(batch.rail(), bytes);
  NetworkPeer& peer = connections_.peer(batch.rank());
  if (unsignaled) {
    peer.unsignaled.store(true, std::memory_order_release);  // pairs with the load in drain()
    pending_.issued(batch.rank());
  }
  if (status == RMA_SUCCESS) return {};
  connections_.rail_failed(peer, batch.rail());
  bool unposted = false;
  for (const transport::Work& this_work : work.subspan(posted)) {
    if (this_work.cookie == 0) {
      unposted = true;
    } else {
      completions_.end_unposted(Fragment::of(this_work.cookie), status);
    }
  }
  // The failure of a fragment is reported by its operation or the fence. An unsignaled put has neither.
  if (!unposted) return {};
  return {status, connections_.explain(status, batch.rank())};
}

void Posting::flush_unsignaled(NetworkPeer& peer, CompletionContext& context) {
  std::size_t rail = 0;
  // If no rail is left, the fragments that were lost with the last one have reported it when they ended.
  if (!connections_.primary(peer, &rail).ok()) return;
  // The flush is counted before `unsignaled` is cleared. So drain() of another thread, which reads them in
  // the opposite order, sees one or the other.
  peer.unacknowledged.fetch_add(1, std::memory_order_acq_rel);
  peer.unsignaled.store(false, std::memory_order_release);  // pairs with the load in drain()
  post_empty_write(peer, rail, completions_.begin(peer, kEmptyWrite, context));
  peer.unacknowledged.fetch_sub(1, std::memory_order_release);  // the write is counted by itself now
}

void Posting::drain(NetworkPeer& peer) {
  // The first load pairs with flush() and flush_unsignaled(), the others with Completions::end().
  if (peer.unsignaled.load(std::memory_order_acquire)) flush_unsignaled(peer, pending_.contexts().current());
  if (peer.unacknowledged.load(std::memory_order_acquire) == 0) return;
  count(Counter::drain);
  pending_.engine().wait_until(peer.rank,
                               [&] { return peer.unacknowledged.load(std::memory_order_acquire) == 0; });
}

Status Posting::probe(NetworkPeer& peer) {
  std::size_t rail = 0;
  RMA_TRY(connections_.primary(peer, &rail));
  const rma_request_t operation = pending_.open(peer.rank);
  if (operation == RMA_REQUEST_NULL) return {};  // with so many open, the rank will be heard of
  post_empty_write(peer, rail, completions_.begin(peer, kEmptyWrite, operation));
  return pending_.finish(operation);
}

void Posting::post_empty_write(NetworkPeer& peer, std::size_t rail, Fragment& fragment) {
  // The write has no data. A queue pair completes in order, so when it is complete, all work before it is.
  const transport::Work empty = fragment.work(rail);
  std::size_t posted = 0;
  if (const rma_status_t status = post(peer.rank, rail, {&empty, 1}, &posted); posted == 0) {
    connections_.rail_failed(peer, rail);
    completions_.end(fragment, status);
  }
}

rma_status_t Posting::post(int rank, std::size_t rail, std::span<const transport::Work> work,
                           std::size_t* posted) {
  transport::Transport& transport = rails_[rail];
  rma_status_t status = transport.post(rank, work, posted);
  if (status != RMA_ERR_STATE) return status;
  pending_.engine().wait_until(rank, [&] {  // waits for room in the device's queue
    std::size_t more = 0;
    status = transport.post(rank, work.subspan(*posted), &more);
    *posted += more;
    return status != RMA_ERR_STATE;
  });
  return status;
}

}  // namespace librma
