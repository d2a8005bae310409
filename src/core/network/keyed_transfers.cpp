#include "core/network/keyed_transfers.hpp"

#include <algorithm>
#include <utility>

#include "util/statistics.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma {

Result<DeviceMemory> KeyedTransfers::prepare(std::byte* address, std::size_t bytes, bool keep) {
  if (const auto own = own_memory_(address); own && address + bytes <= own->address + own->bytes) {
    return DeviceMemory{.local = own->local, .remote = own->remote};
  }
  if (settings_.local_buffers == LocalBufferSetting::bounce) {
    return Status(RMA_ERR_UNSUPPORTED, "RMA_LOCAL_BUFFERS=bounce");
  }
  // The callers have another way for data that cannot be registered.
  return unless_exhausted([&]() -> Result<DeviceMemory> {
    RMA_TRY_ASSIGN(use, keep ? cache_.get(address, bytes) : cache_.get_once(address, bytes));
    DeviceMemory memory = {.local = use.registered().local, .remote = use.registered().remote};
    memory.use = std::make_shared<RegistrationCache::Use>(std::move(use));
    return memory;
  });
}

bool KeyedTransfers::wants_rails(int rank, std::size_t bytes) {
  if (bytes < settings_.stripe_bytes) return false;
  const NetworkPeer& peer = connections_.peer(rank);
  return !ConnectionManager::all_tried(peer);
}

Status KeyedTransfers::start(transport::Direction direction, int rank, std::uintptr_t remote,
                             const RailKeys& keys, std::byte* local, std::size_t bytes,
                             const DeviceMemory& memory, rma_request_t operation) {
  NetworkPeer* peer = nullptr;
  RMA_TRY(connections_.connect(rank, &peer));
  count(direction == transport::Direction::read ? Counter::get_rdma : Counter::put_rdma);
  Span span = {.direction = direction,
               .remote = remote,
               .local = local,
               .bytes = bytes,
               .remote_keys = peer->match.by_mine(keys),
               .local_keys = memory.local,
               .lasts = true};
  constexpr std::size_t kPage = 4096;
  std::size_t most = settings_.piece_bytes;
  if (bytes >= settings_.stripe_bytes) {
    const std::size_t alive = std::max<std::size_t>(ConnectionManager::alive(*peer), 1);
    most = std::min(most, (bytes / alive + kPage - 1) / kPage * kPage);
  }
  while (span.bytes > 0) {
    const Span part = span.split(std::min(span.bytes, most));
    Fragment& fragment = completions_.begin(*peer, part, operation);
    fragment.use = memory.use;
    fragment.movable = true;
    completions_.post_later(fragment);
  }
  return {};
}

void KeyedTransfers::probe(int rank, rma_request_t operation) {
  Fragment& fragment =
      completions_.begin(connections_.peer(rank), {.direction = transport::Direction::write}, operation);
  fragment.movable = true;  // the rank is lost only if no rail reaches it
  completions_.post_later(fragment);
}

}  // namespace librma
