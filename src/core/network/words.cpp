// Operations of the network on single words: atomics, flags, and the words of a rank's directory.

#include <algorithm>
#include <cstring>

#include "core/network/network.hpp"
#include "core/network/peer.hpp"
#include "util/statistics.hpp"

namespace rma {

Status Network::read_raw(int rank, std::byte* to, std::uintptr_t address, const RailKeys& keys,
                         std::size_t bytes) {
  Peer& its = peer(rank);
  Batch batch(rank);
  Status status;
  while (bytes > 0 && status.ok()) {
    const Span span = {.direction = Direction::read,
                       .remote = address,
                       .local = to,
                       .bytes = std::min<std::size_t>(bytes, settings_.bounce_bytes),
                       .remote_keys = keys};
    status = bounce(batch, its, span);
    address += span.bytes;
    to += span.bytes;
    bytes -= span.bytes;
  }
  if (Status posted = flush(batch); status.ok()) status = std::move(posted);
  if (batch.operation() == RMA_REQUEST_NULL) return status;
  Status finished = flights_.finish(batch.take_operation());
  return status.ok() ? std::move(finished) : std::move(status);
}

Status Network::put_flag(std::uint64_t* flag, std::uint64_t value, int rank) {
  Peer* its = nullptr;
  if (Status status = start(rank, &its); !status.ok()) return status;
  Batch batch(rank);
  const auto address = reinterpret_cast<std::uintptr_t>(flag);
  DirectoryReader reader(*this, batch, its->memory->place().keys);
  auto range = its->memory->find(address, sizeof value, reader);
  if (!range.ok()) return std::move(range).status();
  // Data may have been lost with a rail that has failed, and the flag must not go another way as if that had
  // arrived. So it goes over the rail that was chosen before the fence: should that one fail from here on,
  // the flag is lost with it.
  std::size_t rail = 0;
  if (Status status = primary(*its, rank, &rail); !status.ok()) return status;
  if (its->failed()) {
    if (Status status = flights_.fence(rank); !status.ok()) return status;
  }
  count(Counter::put_rdma);
  const Span span = {.direction = Direction::write,
                     .remote = address,
                     .local = reinterpret_cast<std::byte*>(&value),
                     .bytes = sizeof value,
                     .remote_keys = range->keys};
  Status status;
  if (span.bytes <= inline_bytes_) {
    status = put_inline(batch, rail, span);
  } else {
    auto buffer = take_buffer(batch, rails_.buffers());
    if (!buffer.ok()) return std::move(buffer).status();
    status = bounce_one(batch, *its, rail, span, buffer.value());
  }
  return status.ok() ? flush(batch) : std::move(status);
}

Result<std::uint64_t> Network::atomic(rma_atomic_op_t op, std::uint64_t* target, std::uint64_t operand,
                                      std::uint64_t compare, int rank) {
  count(Counter::atomic_rdma);
  Peer* its = nullptr;
  if (Status status = start(rank, &its); !status.ok()) return status;
  std::size_t rail = 0;
  if (Status status = rail_for_atomics(*its, rank, &rail); !status.ok()) return status;
  const auto address = reinterpret_cast<std::uintptr_t>(target);
  Batch batch(rank);
  DirectoryReader reader(*this, batch, its->memory->place().keys);
  auto range = its->memory->find(address, sizeof *target, reader);
  if (!range.ok()) return std::move(range).status();

  auto word = take_buffer(batch, rails_.words());
  if (!word.ok()) return std::move(word).status();
  if (Status status = open(batch); !status.ok()) {
    rails_.words()->give(word.value());
    return status;
  }
  std::uint64_t before = 0;
  const Span span = {.direction = Direction::read,
                     .remote = address,
                     .local = word.value(),
                     .bytes = sizeof before,
                     .remote_keys = range->keys,
                     .local_keys = rails_.words()->registered().local};
  Fragment& fragment = new_fragment(*its, rank, span, batch.operation());
  fragment.pool = rails_.words();
  fragment.buffer = word.value();
  fragment.copy_to = reinterpret_cast<std::byte*>(&before);
  const transport::Work work = fragment.work(rail);
  const transport::Local local = fragment.local(rail);
  rma_status_t status = RMA_SUCCESS;
  flights_.wait_until(rank, [&] {  // for room in the device's queue
    status = rails_[rail].post_atomic(rank, op, work.remote, operand, compare, local, work.cookie);
    return status != RMA_ERR_STATE;
  });
  if (status != RMA_SUCCESS) close(fragment, status);
  const Status finished = flights_.finish(batch.take_operation());
  if (!finished.ok()) return Status(finished.code(), explain(finished.code(), rank));
  return before;
}

}  // namespace rma
