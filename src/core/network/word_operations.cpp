#include "core/network/word_operations.hpp"

#include <utility>

#include "util/statistics.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma {

using transport::Direction;

WordOperations::WordOperations(PendingOperations& pending, Rails& rails, RequestOrder& requests,
                               ConnectionManager& connections, RemoteKeys& keys, Completions& completions,
                               Posting& posting, InlinePut& inline_put, BounceCopy& bounce)
    : pending_(pending),
      rails_(rails),
      requests_(requests),
      connections_(connections),
      keys_(keys),
      completions_(completions),
      posting_(posting),
      inline_put_(inline_put),
      bounce_(bounce) {}

Status WordOperations::put_flag(std::uint64_t* flag, std::uint64_t value, int rank) {
  NetworkPeer* peer = nullptr;
  RMA_TRY(requests_.start_transfer(rank, &peer));
  Batch batch(rank);
  const auto address = reinterpret_cast<std::uintptr_t>(flag);
  RMA_TRY_ASSIGN(range, keys_.find(batch, *peer, address, sizeof value));
  // If a rail has failed, data may have been lost with it, and the flag must not say over another rail that
  // the data has arrived. So the flag goes over the rail that was chosen before the fence: if that one fails
  // from here on, the flag is lost with it.
  std::size_t rail = 0;
  RMA_TRY(connections_.primary(*peer, &rail));
  if (peer->failed()) {
    RMA_TRY(pending_.fence(rank));
  }
  count(Counter::put_rdma);
  Span span = {.direction = Direction::write,
               .remote = address,
               .local = reinterpret_cast<std::byte*>(&value),
               .bytes = sizeof value,
               .remote_keys = range.keys,
               .lasts = range.lasts};
  Status status;
  if (inline_put_.fits(span.bytes)) {
    if (!span.lasts) peer->unsignaled_to_user.store(true, std::memory_order_relaxed);  // as in Transfers
    status = inline_put_.post(batch, rail, span);
  } else {
    RMA_TRY_ASSIGN(buffer, bounce_.take_buffer(batch, rails_.buffers()));
    status = bounce_.post_one(batch, *peer, rail, span, buffer);
  }
  return status.ok() ? posting_.flush(batch) : std::move(status);
}

Result<rma_request_t> WordOperations::start_atomic(rma_atomic_op_t op, std::uint64_t* target,
                                                   std::uint64_t operand, std::uint64_t compare,
                                                   std::uint64_t* old, int rank) {
  count(Counter::atomic_rdma);
  NetworkPeer* peer = nullptr;
  RMA_TRY(requests_.start_transfer(rank, &peer));
  std::size_t rail = 0;
  RMA_TRY(connections_.rail_for_atomics(*peer, &rail));
  const auto address = reinterpret_cast<std::uintptr_t>(target);
  Batch batch(rank);
  RMA_TRY_ASSIGN(range, keys_.find(batch, *peer, address, sizeof *target));

  RMA_TRY_ASSIGN(word, bounce_.take_buffer(batch, rails_.words()));
  if (Status status = posting_.open(batch); !status.ok()) {
    rails_.words()->give(word);
    return status;
  }
  const Span span = {.direction = Direction::read,
                     .remote = address,
                     .local = word,
                     .bytes = sizeof *target,
                     .remote_keys = range.keys,
                     .local_keys = rails_.words()->registered().local,
                     .lasts = range.lasts};
  Fragment& fragment = completions_.begin(*peer, span, batch.operation());
  fragment.pool = rails_.words();
  fragment.buffer = word;
  fragment.copy_to = reinterpret_cast<std::byte*>(old);
  const transport::Work work = fragment.work(rail);
  const transport::Local local = fragment.local(rail);
  rma_status_t status = RMA_SUCCESS;
  pending_.engine().wait_until(rank, [&] {  // waits for room in the device's queue
    status = rails_[rail].post_atomic(rank, op, work.remote, operand, compare, local, work.cookie);
    return status != RMA_ERR_STATE;
  });
  if (status != RMA_SUCCESS) completions_.end(fragment, status);
  return batch.take_operation();
}

Result<std::uint64_t> WordOperations::atomic(rma_atomic_op_t op, std::uint64_t* target, std::uint64_t operand,
                                             std::uint64_t compare, int rank) {
  std::uint64_t before = 0;
  RMA_TRY_ASSIGN(started, start_atomic(op, target, operand, compare, &before, rank));
  const Status finished = pending_.finish(started);
  if (!finished.ok()) return Status(finished.code(), connections_.explain(finished.code(), rank));
  return before;
}

}  // namespace librma
