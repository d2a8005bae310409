#include "core/network/transfers.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "util/statistics.hpp"
#include "util/try.hpp"

namespace librma {

using transport::Direction;

Transfers::Transfers(const Settings& settings, OwnMemory own_memory, RequestOrder& requests, RemoteKeys& keys,
                     Posting& posting, ConnectionManager& connections, InlinePut& inline_put,
                     BounceCopy& bounce, ZeroCopy& zero_copy)
    : settings_(settings),
      own_memory_(std::move(own_memory)),
      requests_(requests),
      keys_(keys),
      posting_(posting),
      connections_(connections),
      inline_put_(inline_put),
      bounce_(bounce),
      zero_copy_(zero_copy) {}

Status Transfers::put(Batch& batch, void* dst, const void* src, std::size_t bytes) {
  count(Counter::put_rdma);
  // The cast is safe, because a put only reads its local memory.
  auto* const local = const_cast<std::byte*>(static_cast<const std::byte*>(src));
  return transfer(batch, Direction::write, reinterpret_cast<std::uintptr_t>(dst), local, bytes);
}

Status Transfers::get(Batch& batch, void* dst, const void* src, std::size_t bytes) {
  count(Counter::get_rdma);
  return transfer(batch, Direction::read, reinterpret_cast<std::uintptr_t>(src), static_cast<std::byte*>(dst),
                  bytes);
}

Status Transfers::transfer(Batch& batch, Direction direction, std::uintptr_t remote, std::byte* local,
                           std::size_t bytes) {
  NetworkPeer* peer = nullptr;
  RMA_TRY(requests_.start_transfer(batch.rank(), &peer));
  const auto post_part = [&](const RemoteRange& range) {
    Span span = {.direction = direction,
                 .remote = remote,
                 .local = local,
                 .bytes = range.bytes,
                 .remote_keys = range.keys,
                 .lasts = range.lasts};
    remote += span.bytes;
    local += span.bytes;
    return post(batch, *peer, span);
  };
  auto first = keys_.find(batch, *peer, remote, bytes);
  if (!first.ok()) {
    return fall_back_to_copy(batch, direction, remote, local, bytes, std::move(first).status());
  }
  if (first->bytes >= bytes) {
    first->bytes = bytes;
    return post_part(first.value());
  }
  // There are several registrations. Nothing moves before all of them are known.
  std::vector<RemoteRange> ranges;
  if (Status status = keys_.find_all(batch, *peer, remote, bytes, ranges); !status.ok()) {
    return fall_back_to_copy(batch, direction, remote, local, bytes, std::move(status));
  }
  for (const RemoteRange& range : ranges) {
    RMA_TRY(post_part(range));
  }
  return {};
}

Status Transfers::post(Batch& batch, NetworkPeer& peer, Span& span) {
  if (span.direction == Direction::write && inline_put_.fits(span.bytes)) {
    std::size_t rail = 0;
    RMA_TRY(connections_.primary(peer, &rail));
    // Written before the put is posted, and read when the device has reported its failure.
    if (!span.lasts) peer.unsignaled_to_user.store(true, std::memory_order_relaxed);
    return inline_put_.post(batch, rail, span);
  }
  while (span.bytes > 0) {
    if (const auto own = own_memory_(span.local)) {
      const auto offset = static_cast<std::size_t>(span.local - own->address);
      Span part = span.split(std::min(span.bytes, own->bytes - offset));
      part.local_keys = own->local;
      RMA_TRY(zero_copy_.post(batch, peer, part, nullptr));
      continue;
    }
    if (span.bytes <= settings_.bounce_bytes || settings_.local_buffers == LocalBufferSetting::bounce) {
      return bounce_.post(batch, peer, span);
    }
    return zero_copy_.register_and_post(batch, peer, span);
  }
  return {};
}

Status Transfers::fall_back_to_copy(Batch& batch, Direction direction, std::uintptr_t remote,
                                    std::byte* local, std::size_t bytes, Status refused) {
  if (refused.code() != RMA_ERR_UNSUPPORTED || copy_fallback_ == nullptr) return refused;
  RMA_TRY(posting_.flush(batch));
  RMA_TRY(posting_.open(batch));
  return copy_fallback_->move(direction, batch.rank(), remote, local, bytes, batch.operation());
}

Status Transfers::reachable(const void* address, std::size_t bytes, int rank) {
  NetworkPeer* peer = nullptr;
  RMA_TRY(connections_.connect(rank, &peer));
  Batch batch(rank);
  std::vector<RemoteRange> ranges;
  Status status = keys_.find_all(batch, *peer, reinterpret_cast<std::uintptr_t>(address), bytes, ranges);
  // The rank checks whether such memory exists when it executes the copy.
  if (status.code() == RMA_ERR_UNSUPPORTED && copy_fallback_ != nullptr) return {};
  return status;
}

bool Transfers::registered(std::uintptr_t address, std::size_t bytes, int rank) {
  NetworkPeer* peer = nullptr;
  // This reads only the directory, which no request changes, so requests need not be waited for.
  if (!connections_.connect(rank, &peer).ok()) return false;
  Batch batch(rank);
  auto range = keys_.find(batch, *peer, address, bytes);
  return range.ok() && range->bytes >= bytes;
}

}  // namespace librma
