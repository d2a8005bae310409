// How one put or get becomes pieces: looked up, cut, and each given the registered memory it needs on this
// side.

#include <algorithm>
#include <cstring>

#include "core/network/network.hpp"
#include "core/network/peer.hpp"
#include "util/statistics.hpp"
#include "util/text.hpp"

namespace rma {

Status Network::put(Batch& batch, void* dst, const void* src, std::size_t bytes) {
  count(Counter::put_rdma);
  // Not written to: a write's local side is only read.
  auto* const local = const_cast<std::byte*>(static_cast<const std::byte*>(src));
  return transfer(batch, Direction::write, reinterpret_cast<std::uintptr_t>(dst), local, bytes);
}

Status Network::get(Batch& batch, void* dst, const void* src, std::size_t bytes) {
  count(Counter::get_rdma);
  return transfer(batch, Direction::read, reinterpret_cast<std::uintptr_t>(src), static_cast<std::byte*>(dst),
                  bytes);
}

Status Network::find(Batch& batch, Peer& its, std::uintptr_t address, std::size_t bytes,
                     std::vector<RemoteRange>& ranges) {
  DirectoryReader reader(*this, batch, its.memory->place().keys);
  const std::uintptr_t whole = address;
  const std::size_t whole_bytes = bytes;
  while (bytes > 0) {
    auto range = its.memory->find(address, bytes, reader);
    if (!range.ok()) {
      if (address == whole) return std::move(range).status();
      return std::move(range).status().within(text("part of {} bytes at {:#x}", whole_bytes, whole));
    }
    range->bytes = std::min(range->bytes, bytes);
    address += range->bytes;
    bytes -= range->bytes;
    ranges.push_back(range.value());
  }
  return {};
}

Status Network::reachable(const void* address, std::size_t bytes, int rank) {
  Peer* its = nullptr;
  if (Status status = connect(rank, &its); !status.ok()) return status;
  Batch batch(rank);
  std::vector<RemoteRange> ranges;
  Status status = find(batch, *its, reinterpret_cast<std::uintptr_t>(address), bytes, ranges);
  // Whether there is such memory at all, the rank says when it is asked to use it.
  if (status.code() == RMA_ERR_UNSUPPORTED && copy_fallback_ != nullptr) return {};
  return status;
}

bool Network::registered(std::uintptr_t address, std::size_t bytes, int rank) {
  Peer* its = nullptr;
  // Only the directory is read, which no request changes: those under way need not be waited for.
  if (!connect(rank, &its).ok()) return false;
  Batch batch(rank);
  DirectoryReader reader(*this, batch, its->memory->place().keys);
  auto range = its->memory->find(address, bytes, reader);
  return range.ok() && range->bytes >= bytes;
}

Result<RegistrationCache::Use> Network::register_local(std::byte* address, std::size_t bytes) {
  if (settings_.local_buffers == LocalBufferSetting::bounce) {
    return Status(RMA_ERR_UNSUPPORTED, "RMA_LOCAL_BUFFERS=bounce");
  }
  return cache_->get(address, bytes);
}

Status Network::fall_back_to_copy(Batch& batch, Direction direction, std::uintptr_t remote, std::byte* local,
                                  std::size_t bytes, Status refused) {
  if (refused.code() != RMA_ERR_UNSUPPORTED || copy_fallback_ == nullptr) return refused;
  if (Status status = flush(batch); !status.ok()) return status;
  if (Status status = open(batch); !status.ok()) return status;
  return copy_fallback_->move(direction, batch.rank(), remote, local, bytes, batch.operation());
}

Status Network::transfer(Batch& batch, Direction direction, std::uintptr_t remote, std::byte* local,
                         std::size_t bytes) {
  Peer* its = nullptr;
  if (Status status = start(batch.rank(), &its); !status.ok()) return status;
  const auto part = [&](const RemoteRange& range) {
    const Span span = {.direction = direction,
                       .remote = remote,
                       .local = local,
                       .bytes = range.bytes,
                       .remote_keys = range.keys};
    remote += span.bytes;
    local += span.bytes;
    return transfer_within(batch, *its, span);
  };
  DirectoryReader reader(*this, batch, its->memory->place().keys);
  auto first = its->memory->find(remote, bytes, reader);
  if (!first.ok())
    return fall_back_to_copy(batch, direction, remote, local, bytes, std::move(first).status());
  if (first->bytes >= bytes) {
    first->bytes = bytes;
    return part(first.value());
  }
  // Several registrations: nothing moves before all of them are known.
  std::vector<RemoteRange> ranges;
  if (Status status = find(batch, *its, remote, bytes, ranges); !status.ok()) {
    return fall_back_to_copy(batch, direction, remote, local, bytes, std::move(status));
  }
  for (const RemoteRange& range : ranges) {
    if (Status status = part(range); !status.ok()) return status;
  }
  return {};
}

Status Network::transfer_within(Batch& batch, Peer& its, const Span& whole) {
  Span span = whole;
  if (span.direction == Direction::write && span.bytes <= inline_bytes_) {
    std::size_t rail = 0;
    if (Status status = primary(its, batch.rank(), &rail); !status.ok()) return status;
    return put_inline(batch, rail, span);
  }
  while (span.bytes > 0) {
    if (const auto own = own_memory_(span.local)) {
      const auto offset = static_cast<std::size_t>(span.local - own->address);
      Span part = span.split(std::min(span.bytes, own->bytes - offset));
      part.local_keys = own->local;
      if (Status status = post_registered(batch, its, part, nullptr); !status.ok()) return status;
      continue;
    }
    if (span.bytes <= settings_.bounce_bytes || settings_.local_buffers == LocalBufferSetting::bounce) {
      return bounce(batch, its, span);
    }
    return register_and_post(batch, its, span);
  }
  return {};
}

Status Network::put_inline(Batch& batch, std::size_t rail, const Span& span) {
  count(Counter::rdma_inline);
  return add(batch, rail,
             {.direction = Direction::write,
              .remote = {.address = span.remote, .key = span.remote_keys[rail]},
              .pieces = {},
              .cookie = 0,
              .flags = {.inline_data = true, .unsignaled = true}},
             {.address = span.local, .bytes = span.bytes, .key = 0});
}

Status Network::register_and_post(Batch& batch, Peer& its, Span span) {
  const bool pipeline = settings_.local_buffers == LocalBufferSetting::pipeline;
  while (span.bytes > 0) {
    Span part =
        span.split(pipeline ? std::min<std::size_t>(span.bytes, settings_.pipeline_bytes) : span.bytes);
    auto use = cache_->get(part.local, part.bytes);
    if (!use.ok()) {
      // A limit is reached, or the memory is not to be written to: copying goes on where registering does
      // not.
      if (Status status = bounce(batch, its, part); !status.ok()) return status;
      continue;
    }
    part.local_keys = use->registered().local;
    const auto shared = std::make_shared<RegistrationCache::Use>(std::move(use).value());
    if (Status status = post_registered(batch, its, part, shared); !status.ok()) return status;
    // This part flies while the next one is registered.
    if (Status status = flush(batch); !status.ok()) return status;
  }
  return {};
}

Status Network::post_registered(Batch& batch, Peer& its, Span span,
                                const std::shared_ptr<RegistrationCache::Use>& use) {
  constexpr std::size_t kPage = 4096;
  std::size_t most = settings_.piece_bytes;
  bool divided = false;
  if (span.bytes >= settings_.stripe_bytes && its.cards.size() > 1) {
    const std::size_t live = live_rails(its, batch.rank());
    divided = live > 1;
    if (divided) {
      most = std::min(most, (span.bytes / live + kPage - 1) / kPage * kPage);
      if (Status status = drain(batch, its); !status.ok()) return status;
    }
  }
  while (span.bytes > 0) {
    std::size_t rail = 0;
    if (divided) {
      rail = next_rail(its);
    } else if (Status status = primary(its, batch.rank(), &rail); !status.ok()) {
      return status;
    }
    const Span part = span.split(std::min(span.bytes, most));
    if (Status status = open(batch); !status.ok()) return status;
    Fragment& fragment = new_fragment(its, batch.rank(), part, batch.operation());
    fragment.use = use;
    fragment.movable = true;
    if (Status status = add(batch, rail, fragment.work(rail), fragment.local(rail)); !status.ok()) {
      return status;
    }
  }
  return {};
}

Status Network::bounce(Batch& batch, Peer& its, Span span) {
  while (span.bytes > 0) {
    auto buffer = take_buffer(batch, rails_.buffers());
    if (!buffer.ok()) return std::move(buffer).status();
    const Span part = span.split(std::min(span.bytes, rails_.buffers()->bytes()));
    std::size_t rail = 0;
    Status ready = primary(its, batch.rank(), &rail);
    if (ready.ok() && part.direction == Direction::read) ready = open(batch);
    if (!ready.ok()) {
      rails_.buffers()->give(buffer.value());
      return ready;
    }
    if (Status status = bounce_one(batch, its, rail, part, buffer.value()); !status.ok()) return status;
  }
  return {};
}

Status Network::bounce_one(Batch& batch, Peer& its, std::size_t rail, Span part, std::byte* buffer) {
  count(Counter::rdma_bounced);
  std::byte* const program = std::exchange(part.local, buffer);
  part.local_keys = rails_.buffers()->registered().local;
  const bool write = part.direction == Direction::write;
  if (write) std::memcpy(buffer, program, part.bytes);
  Fragment& fragment = new_fragment(its, batch.rank(), part, write ? RMA_REQUEST_NULL : batch.operation());
  fragment.pool = rails_.buffers();
  fragment.buffer = buffer;
  fragment.copy_to = write ? nullptr : program;
  fragment.movable = !write;
  return add(batch, rail, fragment.work(rail), fragment.local(rail));
}

Status Network::drain(Batch& batch, Peer& its) {
  if (Status status = flush(batch); !status.ok()) return status;
  if (its.trailing.load(std::memory_order_acquire)) flush(batch.rank());
  if (its.loose.load(std::memory_order_acquire) == 0) return {};
  count(Counter::drain);
  flights_.wait_until(batch.rank(), [&] { return its.loose.load(std::memory_order_acquire) == 0; });
  return {};
}

Status Network::open(Batch& batch) {
  if (batch.operation() == RMA_REQUEST_NULL) batch.set_operation(flights_.open(batch.rank()));
  if (batch.operation() != RMA_REQUEST_NULL) return {};
  return Flights::too_many();
}

Fragment& Network::new_fragment(Peer& its, int rank, const Span& span, rma_request_t operation) {
  Fragment& fragment = fragments_.take();
  fragment = {.rank = rank, .span = span, .operation = operation};
  flights_.begin(rank);
  if (operation != RMA_REQUEST_NULL) {
    flights_.add_part(operation);
  } else {
    its.loose.fetch_add(1, std::memory_order_relaxed);
  }
  return fragment;
}

Result<std::byte*> Network::take_buffer(Batch& batch, BouncePool* pool) {
  if (pool == nullptr) {
    return Status(
        RMA_ERR_NO_MEMORY,
        "no memory can be registered with the network: raise the limit of locked memory (ulimit -l)");
  }
  std::byte* buffer = pool->take();
  if (buffer != nullptr) return buffer;
  // What holds the others is to be on its way before this thread waits for them.
  if (Status status = flush(batch); !status.ok()) return status;
  flights_.wait_until(batch.rank(), [&] { return (buffer = pool->take()) != nullptr; });
  return buffer;
}

}  // namespace rma
