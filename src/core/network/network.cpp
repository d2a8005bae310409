#include "core/network/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/network/peer.hpp"
#include "util/log.hpp"
#include "util/statistics.hpp"

namespace rma {

Network::Network(const Settings& settings, Flights& flights, Rails& rails, int ranks, CardSource cards,
                 OwnMemory own_memory)
    : settings_(settings),
      flights_(flights),
      rails_(rails),
      cards_(std::move(cards)),
      own_memory_(std::move(own_memory)),
      inline_bytes_(std::min(static_cast<std::uint32_t>(settings.inline_bytes), rails.max_inline())),
      cache_(
          RegistrationCache::create(rails, {.max_bytes = settings.cache_bytes,
                                            .max_entries = settings.cache_entries,
                                            .enabled = settings.local_buffers == LocalBufferSetting::cache})),
      peers_(std::make_unique<Peer[]>(static_cast<std::size_t>(ranks))) {
  rails_.make_buffers(settings);
  for (std::size_t rail = 0; rail < rails_.count(); ++rail) {
    if (const int fd = rails_[rail].event_fd(); fd >= 0) event_fds_.push_back(fd);
  }
}

Network::~Network() = default;

Status Network::connect(int rank, Peer** connected) {
  Peer& its = peer(rank);
  *connected = &its;
  if (its.ready.load(std::memory_order_acquire)) return {};  // pairs with the store below
  const std::lock_guard guard(its.lock);
  if (its.ready.load(std::memory_order_relaxed)) return {};
  if (its.dead.load(std::memory_order_relaxed) != 0) return lost(rank);
  auto card = cards_(rank);
  if (!card.ok()) return std::move(card).status();
  its.cards = std::move(card->rails);
  if (its.cards.size() > rails_.count()) its.cards.resize(rails_.count());
  if (its.cards.empty()) {
    return {RMA_ERR_UNSUPPORTED, fmt::format("rank {} has no network open (RMA_NETWORK)", rank)};
  }
  its.memory = std::make_unique<RemoteMemory>(rank, card->directory);
  if (Status status = connect_rail(its, rank, 0); !status.ok()) return status;
  its.ready.store(true, std::memory_order_release);
  return {};
}

Status Network::connect_rail(Peer& its, int rank, std::size_t rail) {
  Status status = rails_[rail].connect(rank, its.cards[rail]);
  if (status.ok()) {
    its.connected.fetch_or(1U << rail, std::memory_order_release);
  } else if (status.code() == RMA_ERR_PEER_LOST) {
    rail_failed(rank, rail);
  }
  return status;
}

void Network::rail_failed(int rank, std::size_t rail) {
  Peer& its = peer(rank);
  const std::uint32_t before = its.dead.fetch_or(1U << rail, std::memory_order_acq_rel);
  if ((before & (1U << rail)) != 0) return;
  log(LogLevel::warn, fmt::format("rank {} cannot be reached over {} any more", rank, rails_[rail].name()));
}

Status Network::primary(Peer& its, int rank, std::size_t* rail) {
  *rail = its.primary_rail.load(std::memory_order_acquire);
  if (its.alive(*rail)) return {};
  // Everything on the rail that failed ends first: what it had taken and lost is then known, and reported.
  const std::size_t failed = *rail;
  flights_.wait_until(rank, [&] { return rails_[failed].outstanding(rank) == 0; });
  const std::lock_guard guard(its.lock);
  for (*rail = 0; *rail < its.cards.size(); ++*rail) {
    if ((its.dead.load(std::memory_order_acquire) & (1U << *rail)) != 0) continue;
    if (!its.alive(*rail) && !connect_rail(its, rank, *rail).ok()) continue;
    its.primary_rail.store(*rail, std::memory_order_release);
    return {};
  }
  return lost(rank);
}

std::size_t Network::live_rails(Peer& its, int rank) {
  std::size_t live = 0;
  for (std::size_t rail = 0; rail < its.cards.size(); ++rail) {
    const std::uint32_t bit = 1U << rail;
    if (((its.connected | its.dead) & bit) == 0) {
      const std::lock_guard guard(its.lock);
      if ((its.connected & bit) == 0) static_cast<void>(connect_rail(its, rank, rail));
    }
    if (its.alive(rail)) ++live;
  }
  return live;
}

std::size_t Network::next_rail(Peer& its) {
  const std::size_t first = its.next_rail.fetch_add(1, std::memory_order_relaxed);
  for (std::size_t i = 0; i < its.cards.size(); ++i) {
    const std::size_t rail = (first + i) % its.cards.size();
    if (its.alive(rail)) return rail;
  }
  return its.primary_rail.load(std::memory_order_relaxed);
}

Status Network::put(Parts& parts, void* dst, const void* src, std::size_t bytes) {
  count(Counter::put_rdma);
  // Not written to: a write's local side is only read.
  auto* const local = const_cast<std::byte*>(static_cast<const std::byte*>(src));
  return transfer(parts, Direction::write, reinterpret_cast<std::uintptr_t>(dst), local, bytes);
}

Status Network::get(Parts& parts, void* dst, const void* src, std::size_t bytes) {
  count(Counter::get_rdma);
  return transfer(parts, Direction::read, reinterpret_cast<std::uintptr_t>(src), static_cast<std::byte*>(dst),
                  bytes);
}

Status Network::find(Parts& parts, Peer& its, std::uintptr_t address, std::size_t bytes,
                     std::vector<RemoteRange>& ranges) {
  DirectoryReader reader(*this, parts, its.memory->place().keys);
  const std::uintptr_t whole = address;
  const std::size_t whole_bytes = bytes;
  while (bytes > 0) {
    auto range = its.memory->find(address, bytes, reader);
    if (!range.ok()) {
      if (address == whole) return std::move(range).status();
      return std::move(range).status().within(fmt::format("part of {} bytes at {:#x}", whole_bytes, whole));
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
  Parts parts(rank);
  std::vector<RemoteRange> ranges;
  return find(parts, *its, reinterpret_cast<std::uintptr_t>(address), bytes, ranges);
}

Status Network::transfer(Parts& parts, Direction direction, std::uintptr_t remote, std::byte* local,
                         std::size_t bytes) {
  Peer* its = nullptr;
  if (Status status = connect(parts.rank_, &its); !status.ok()) return status;
  const auto part = [&](const RemoteRange& range) {
    const Span span = {.direction = direction,
                       .remote = remote,
                       .local = local,
                       .bytes = range.bytes,
                       .remote_keys = range.keys};
    remote += span.bytes;
    local += span.bytes;
    return transfer_within(parts, *its, span);
  };
  DirectoryReader reader(*this, parts, its->memory->place().keys);
  auto first = its->memory->find(remote, bytes, reader);
  if (!first.ok()) return std::move(first).status();
  if (first->bytes >= bytes) {
    first->bytes = bytes;
    return part(first.value());
  }
  // Several registrations: nothing moves before all of them are known.
  std::vector<RemoteRange> ranges;
  if (Status status = find(parts, *its, remote, bytes, ranges); !status.ok()) return status;
  for (const RemoteRange& range : ranges) {
    if (Status status = part(range); !status.ok()) return status;
  }
  return {};
}

Status Network::transfer_within(Parts& parts, Peer& its, const Span& whole) {
  Span span = whole;
  if (span.direction == Direction::write && span.bytes <= inline_bytes_) {
    count(Counter::rdma_inline);
    std::size_t rail = 0;
    if (Status status = primary(its, parts.rank_, &rail); !status.ok()) return status;
    return add(parts, rail,
               {.direction = Direction::write,
                .remote = {.address = span.remote, .key = span.remote_keys[rail]},
                .pieces = {},
                .cookie = 0,
                .flags = {.inline_data = true, .unsignalled = true}},
               {.address = span.local, .bytes = span.bytes, .key = 0});
  }
  while (span.bytes > 0) {
    if (const auto own = own_memory_(span.local)) {
      const auto offset = static_cast<std::size_t>(span.local - own->address);
      Span part = span.split(std::min(span.bytes, own->bytes - offset));
      part.local_keys = own->local;
      if (Status status = fly(parts, its, part, nullptr); !status.ok()) return status;
      continue;
    }
    if (span.bytes <= settings_.bounce_bytes || settings_.local_buffers == LocalBufferSetting::bounce) {
      return bounce(parts, its, span);
    }
    return fly_by_strategy(parts, its, span);
  }
  return {};
}

Status Network::fly_by_strategy(Parts& parts, Peer& its, Span span) {
  const bool pipeline = settings_.local_buffers == LocalBufferSetting::pipeline;
  while (span.bytes > 0) {
    Span part =
        span.split(pipeline ? std::min<std::size_t>(span.bytes, settings_.pipeline_bytes) : span.bytes);
    auto use = cache_->get(part.local, part.bytes);
    if (!use.ok()) {
      // A limit is reached, or the memory is not to be written to: copying goes on where registering does
      // not.
      if (Status status = bounce(parts, its, part); !status.ok()) return status;
      continue;
    }
    part.local_keys = use->registered().local;
    const auto shared = std::make_shared<RegistrationCache::Use>(std::move(use).value());
    if (Status status = fly(parts, its, part, shared); !status.ok()) return status;
    // This part flies while the next one is registered.
    if (Status status = flush(parts); !status.ok()) return status;
  }
  return {};
}

Status Network::fly(Parts& parts, Peer& its, Span span, const std::shared_ptr<RegistrationCache::Use>& use) {
  constexpr std::size_t kPage = 4096;
  std::size_t most = settings_.piece_bytes;
  bool divided = false;
  if (span.bytes >= settings_.stripe_bytes && its.cards.size() > 1) {
    const std::size_t live = live_rails(its, parts.rank_);
    divided = live > 1;
    if (divided) {
      most = std::min(most, (span.bytes / live + kPage - 1) / kPage * kPage);
      if (Status status = drain(parts, its); !status.ok()) return status;
    }
  }
  while (span.bytes > 0) {
    std::size_t rail = 0;
    if (divided) {
      rail = next_rail(its);
    } else if (Status status = primary(its, parts.rank_, &rail); !status.ok()) {
      return status;
    }
    const Span part = span.split(std::min(span.bytes, most));
    if (Status status = open(parts); !status.ok()) return status;
    Piece& piece = new_piece(its, parts.rank_, part, parts.operation_);
    piece.use = use;
    piece.movable = true;
    if (Status status = add(parts, rail, work_for(piece, rail), local_for(piece, rail)); !status.ok()) {
      return status;
    }
  }
  return {};
}

Status Network::bounce(Parts& parts, Peer& its, Span span) {
  while (span.bytes > 0) {
    count(Counter::rdma_bounced);
    auto buffer = take_buffer(parts, rails_.buffers());
    if (!buffer.ok()) return std::move(buffer).status();
    Span part = span.split(std::min(span.bytes, rails_.buffers()->bytes()));
    std::byte* const program = std::exchange(part.local, buffer.value());
    part.local_keys = rails_.buffers()->registered().local;
    const bool write = part.direction == Direction::write;
    std::size_t rail = 0;
    Status ready = primary(its, parts.rank_, &rail);
    if (ready.ok() && !write) ready = open(parts);
    if (!ready.ok()) {
      rails_.buffers()->give(buffer.value());
      return ready;
    }
    if (write) std::memcpy(buffer.value(), program, part.bytes);
    Piece& piece = new_piece(its, parts.rank_, part, write ? RMA_REQUEST_NULL : parts.operation_);
    piece.pool = rails_.buffers();
    piece.buffer = buffer.value();
    piece.copy_to = write ? nullptr : program;
    piece.movable = !write;
    if (Status status = add(parts, rail, work_for(piece, rail), local_for(piece, rail)); !status.ok()) {
      return status;
    }
  }
  return {};
}

Status Network::drain(Parts& parts, Peer& its) {
  if (Status status = flush(parts); !status.ok()) return status;
  if (its.trailing.load(std::memory_order_acquire)) flush(parts.rank_);
  if (its.loose.load(std::memory_order_acquire) == 0) return {};
  count(Counter::drain);
  flights_.wait_until(parts.rank_, [&] { return its.loose.load(std::memory_order_acquire) == 0; });
  return {};
}

Status Network::open(Parts& parts) {
  if (parts.operation_ == RMA_REQUEST_NULL) parts.operation_ = flights_.open(parts.rank_);
  if (parts.operation_ != RMA_REQUEST_NULL) return {};
  return {RMA_ERR_NO_MEMORY, "too many nonblocking operations are open: wait for some of them"};
}

Piece& Network::new_piece(Peer& its, int rank, const Span& span, rma_request_t operation) {
  Piece& piece = pieces_.take();
  piece = {.rank = rank, .span = span, .operation = operation};
  flights_.begin(rank);
  if (operation != RMA_REQUEST_NULL) {
    flights_.add_part(operation);
  } else {
    its.loose.fetch_add(1, std::memory_order_relaxed);
  }
  return piece;
}

Result<std::byte*> Network::take_buffer(Parts& parts, BouncePool* pool) {
  if (pool == nullptr) {
    return Status(
        RMA_ERR_NO_MEMORY,
        "no memory can be registered with the network: raise the limit of locked memory (ulimit -l)");
  }
  std::byte* buffer = pool->take();
  if (buffer != nullptr) return buffer;
  // What holds the others is to be on its way before this thread waits for them.
  if (Status status = flush(parts); !status.ok()) return status;
  flights_.wait_until(parts.rank_, [&] { return (buffer = pool->take()) != nullptr; });
  return buffer;
}

}  // namespace rma
