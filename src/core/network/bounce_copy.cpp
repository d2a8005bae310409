#include "core/network/bounce_copy.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "util/statistics.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma {

using transport::Direction;

Status BounceCopy::post(Batch& batch, NetworkPeer& peer, Span& span) {
  while (span.bytes > 0) {
    RMA_TRY_ASSIGN(buffer, take_buffer(batch, rails_.buffers()));
    Span part = span.split(std::min(span.bytes, rails_.buffers()->bytes()));
    std::size_t rail = 0;
    Status ready = connections_.primary(peer, &rail);
    if (ready.ok() && part.direction == Direction::read) ready = posting_.open(batch);
    if (!ready.ok()) {
      rails_.buffers()->give(buffer);
      return ready;
    }
    RMA_TRY(post_one(batch, peer, rail, part, buffer));
  }
  return {};
}

Status BounceCopy::post_one(Batch& batch, NetworkPeer& peer, std::size_t rail, Span& span,
                            std::byte* buffer) {
  count(Counter::rdma_bounced);
  std::byte* const program = std::exchange(span.local, buffer);
  span.local_keys = rails_.buffers()->registered().local;
  const bool write = span.direction == Direction::write;
  if (write) std::memcpy(buffer, program, span.bytes);
  Fragment& fragment = write ? completions_.begin(peer, span, pending_.contexts().current())
                             : completions_.begin(peer, span, batch.operation());
  fragment.pool = rails_.buffers();
  fragment.buffer = buffer;
  fragment.copy_to = write ? nullptr : program;
  fragment.movable = !write;  // a put that has returned is not repeated: others may have seen its effect
  return posting_.add(batch, rail, fragment);
}

Result<std::byte*> BounceCopy::take_buffer(Batch& batch, BouncePool* pool) {
  if (pool == nullptr) {
    return Status(
        RMA_ERR_NO_MEMORY,
        "no memory can be registered with the network: raise the limit of locked memory (ulimit -l)");
  }
  std::byte* buffer = pool->take();
  if (buffer != nullptr) return buffer;
  // The batch may hold the other buffers, so it is posted before this thread waits for them.
  RMA_TRY(posting_.flush(batch));
  pending_.engine().wait_until(batch.rank(),
                               [&] { return (buffer = pool->take()) != nullptr || pool->usable() == 0; });
  if (buffer != nullptr) return buffer;
  return Status(RMA_ERR_NO_MEMORY, "ranks that were lost may still write to all bounce buffers");
}

}  // namespace librma
