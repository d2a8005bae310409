#include "loopback/loopback_message_endpoint.hpp"

#include <algorithm>
#include <atomic>

#include "loopback/loopback_transport.hpp"

namespace librma::transport {
namespace {

/// Copies the pieces of `from`, in their order, into those of `to`, in their order. There is room.
void copy(std::span<const Local> from, std::span<const Local> to) {
  std::size_t at = 0;
  std::size_t piece = 0;
  for (const Local& source : from) {
    for (std::size_t done = 0; done < source.bytes;) {
      if (at == to[piece].bytes) {
        ++piece;
        at = 0;
        continue;
      }
      const std::size_t bytes = std::min(source.bytes - done, to[piece].bytes - at);
      std::copy_n(source.address + done, bytes, to[piece].address + at);
      done += bytes;
      at += bytes;
    }
  }
}

}  // namespace

std::size_t total_bytes(std::span<const Local> pieces) {
  std::size_t bytes = 0;
  for (const Local& piece : pieces) bytes += piece.bytes;
  return bytes;
}

void LoopbackMessageEndpoint::set_faults(const Faults& faults) {
  const std::lock_guard guard(lock_);
  faults_ = faults;
}

std::size_t LoopbackMessageEndpoint::buffers() const {
  const std::lock_guard guard(lock_);
  return buffers_.size();
}

void LoopbackMessageEndpoint::introduce(LoopbackMessageEndpoint& one, int its_name_of_other,
                                        LoopbackMessageEndpoint& other, int its_name_of_one) {
  {
    const std::lock_guard guard(one.lock_);
    if (one.granted_.contains(its_name_of_other)) return;
    one.granted_[its_name_of_other] = 0;
    other.granted_[its_name_of_one] = 0;
  }
  const std::uint32_t by_other = other.source_ ? other.source_(its_name_of_one) : 0;
  std::uint32_t by_one = by_other;
  if (&one != &other) by_one = one.source_ ? one.source_(its_name_of_other) : 0;
  const std::lock_guard guard(one.lock_);
  one.granted_[its_name_of_other] = by_other;
  other.granted_[its_name_of_one] = by_one;
}

rma_status_t LoopbackMessageEndpoint::admit(int peer, std::span<const Local> pieces,
                                            LoopbackMessageEndpoint** there) {
  LoopbackTransport* const endpoint = owner_.reachable(peer);
  if (endpoint == nullptr) return RMA_ERR_PEER_LOST;
  *there = &endpoint->messages();
  return total_bytes(pieces) > limits_.max_message ? RMA_ERR_SIZE : RMA_SUCCESS;
}

void LoopbackMessageEndpoint::end(Cookie cookie, int peer, rma_status_t status, std::uint32_t bytes,
                                  bool silent, bool solicited) {
  if (silent && status == RMA_SUCCESS) return;
  due_.push_back({.completion = {.cookie = cookie, .peer = peer, .status = status, .bytes = bytes},
                  .solicited = solicited || status != RMA_SUCCESS});
}

rma_status_t LoopbackMessageEndpoint::send(int peer, std::span<const Local> pieces, std::optional<Remote> to,
                                           Cookie cookie, PostFlags flags) {
  const std::lock_guard guard(lock_);
  LoopbackMessageEndpoint* there = nullptr;
  if (const rma_status_t status = admit(peer, pieces, &there); status != RMA_SUCCESS) return status;
  if (faults_.refused_messages > 0) {
    --faults_.refused_messages;
    return RMA_ERR_STATE;
  }
  if (flags.inline_data && total_bytes(pieces) > limits_.max_inline) return RMA_ERR_SIZE;
  Sent sent = {.peer = peer,
               .bytes = {},
               .to = to,
               .cookie = cookie,
               .silent = flags.unsignaled,
               .solicited = flags.solicited,
               .usable = flags.inline_data || owner_.usable(pieces)};
  for (const Local& piece : pieces) {
    sent.bytes.insert(sent.bytes.end(), piece.address, piece.address + piece.bytes);
  }
  if (faults_.held || !held_.empty()) {
    held_.push_back(std::move(sent));
  } else {
    arrive(sent);
  }
  return RMA_SUCCESS;
}

void LoopbackMessageEndpoint::arrive(const Sent& sent) {
  LoopbackTransport* const endpoint = owner_.reachable(sent.peer);
  if (endpoint == nullptr) return end(sent.cookie, sent.peer, RMA_ERR_PEER_LOST, 0, false);
  LoopbackMessageEndpoint& there = endpoint->messages();
  rma_status_t status = sent.usable ? RMA_SUCCESS : RMA_ERR_ADDRESS;
  if (sent.to) {
    if (!endpoint->covered(sent.to->address, sent.bytes.size(), sent.to->key)) status = RMA_ERR_ADDRESS;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a peer's address
    auto* const place = reinterpret_cast<std::byte*>(sent.to->address);
    for (std::size_t i = 0; i < sent.bytes.size() && status == RMA_SUCCESS; ++i) {
      // A reader that finds a byte in place also finds the bytes before it, as with a device. Pairs with the
      // reader's acquire loads.
      std::atomic_ref(place[i]).store(sent.bytes[i], std::memory_order_release);
    }
  } else {
    if (status == RMA_SUCCESS && there.buffers_.empty()) status = RMA_ERR_STATE;
    if (status == RMA_SUCCESS) {
      const auto [buffer, its_cookie] = there.buffers_.front();
      there.buffers_.pop_front();
      if (sent.bytes.size() > buffer.bytes) status = RMA_ERR_SIZE;
      if (status == RMA_SUCCESS) std::ranges::copy(sent.bytes, buffer.address);
      there.end(its_cookie, owner_.number(), status, static_cast<std::uint32_t>(sent.bytes.size()), false,
                sent.solicited);
    }
  }
  end(sent.cookie, sent.peer, status, 0, sent.silent, false);
}

void LoopbackMessageEndpoint::deliver(std::size_t most) {
  const std::lock_guard guard(lock_);
  for (; most > 0 && !held_.empty(); --most) {
    arrive(held_.front());
    held_.pop_front();
  }
}

rma_status_t LoopbackMessageEndpoint::post_message(int peer, std::span<const Local> pieces, Cookie cookie,
                                                   PostFlags flags) {
  return send(peer, pieces, {}, cookie, flags);
}

rma_status_t LoopbackMessageEndpoint::post_message_write(int peer, Remote to, Local piece, Cookie cookie,
                                                         PostFlags flags) {
  return send(peer, {&piece, 1}, to, cookie, flags);
}

rma_status_t LoopbackMessageEndpoint::post_buffer(Local buffer, Cookie cookie) {
  const std::lock_guard guard(lock_);
  if (!owner_.usable({&buffer, 1})) return RMA_ERR_ADDRESS;
  buffers_.emplace_back(buffer, cookie);
  return RMA_SUCCESS;
}

std::uint32_t LoopbackMessageEndpoint::buffers_of(int peer) {
  const std::lock_guard guard(lock_);
  return granted_[peer];
}

std::uint32_t LoopbackMessageEndpoint::gather_of(int peer) {
  const std::lock_guard guard(lock_);
  LoopbackTransport* const there = owner_.reachable(peer);
  return there != nullptr ? there->messages().limits_.gather : 0;
}

rma_status_t LoopbackMessageEndpoint::post_transfer(int peer, const Work& work) {
  const std::lock_guard guard(lock_);
  LoopbackMessageEndpoint* there = nullptr;
  if (const rma_status_t status = admit(peer, work.pieces, &there); status != RMA_SUCCESS) return status;
  if (work.pieces.size() > limits_.gather) return RMA_ERR_ARGUMENT;
  if (faults_.refused_transfers > 0) {
    --faults_.refused_transfers;
    return RMA_ERR_STATE;
  }
  const std::size_t bytes = total_bytes(work.pieces);
  const bool good =
      owner_.usable(work.pieces) && there->owner_.covered(work.remote.address, bytes, work.remote.key);
  if (good) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a peer's address
    const Local remote = {reinterpret_cast<std::byte*>(work.remote.address), bytes, 0};
    if (work.direction == Direction::write) {
      copy(work.pieces, {&remote, 1});
    } else {
      copy({&remote, 1}, work.pieces);
    }
  }
  end(work.cookie, peer, good ? RMA_SUCCESS : RMA_ERR_ADDRESS, 0, work.flags.unsignaled);
  return RMA_SUCCESS;
}

rma_status_t LoopbackMessageEndpoint::post_gather(int peer, std::span<const Local> pieces, Cookie cookie,
                                                  PostFlags flags) {
  const std::lock_guard guard(lock_);
  LoopbackMessageEndpoint* there = nullptr;
  if (const rma_status_t status = admit(peer, pieces, &there); status != RMA_SUCCESS) return status;
  if (pieces.size() > limits_.gather) return RMA_ERR_ARGUMENT;
  if (faults_.refused_transfers > 0) {
    --faults_.refused_transfers;
    return RMA_ERR_STATE;
  }
  std::deque<Scatter>& waiting = there->scatters_[owner_.number()];
  rma_status_t status = owner_.usable(pieces) ? RMA_SUCCESS : RMA_ERR_ADDRESS;
  if (status == RMA_SUCCESS && waiting.empty()) status = RMA_ERR_STATE;
  if (status == RMA_SUCCESS) {
    const Scatter into = std::move(waiting.front());
    waiting.pop_front();
    const std::size_t bytes = total_bytes(pieces);
    if (bytes > total_bytes(into.pieces)) status = RMA_ERR_SIZE;
    if (status == RMA_SUCCESS && !there->owner_.usable(into.pieces)) status = RMA_ERR_ADDRESS;
    if (status == RMA_SUCCESS) copy(pieces, into.pieces);
    there->end(into.cookie, owner_.number(), status, static_cast<std::uint32_t>(bytes), false);
  }
  end(cookie, peer, status, 0, flags.unsignaled);
  return RMA_SUCCESS;
}

rma_status_t LoopbackMessageEndpoint::post_scatter(int peer, std::span<const Local> pieces, Cookie cookie) {
  const std::lock_guard guard(lock_);
  if (owner_.reachable(peer) == nullptr) return RMA_ERR_PEER_LOST;
  if (pieces.size() > limits_.gather) return RMA_ERR_ARGUMENT;
  std::deque<Scatter>& waiting = scatters_[peer];
  if (faults_.refused_transfers > 0 || waiting.size() == limits_.scatters) {
    if (faults_.refused_transfers > 0) --faults_.refused_transfers;
    return RMA_ERR_STATE;
  }
  waiting.push_back({.pieces = {pieces.begin(), pieces.end()}, .cookie = cookie});
  return RMA_SUCCESS;
}

std::size_t LoopbackMessageEndpoint::poll(std::span<Completion> completions) {
  const std::lock_guard guard(lock_);
  if (faults_.empty_polls > 0) {
    --faults_.empty_polls;
    return 0;
  }
  std::size_t filled = 0;
  while (filled < completions.size() && !due_.empty()) {
    completions[filled++] = due_.front().completion;
    due_.pop_front();
  }
  return filled;
}

bool LoopbackMessageEndpoint::arm(Events events) {
  const std::lock_guard guard(lock_);
  events_ = events;
  return due_.empty();
}

bool LoopbackMessageEndpoint::has_event() const {
  const std::lock_guard guard(lock_);
  return std::ranges::any_of(due_,
                             [this](const Due& due) { return events_ == Events::all || due.solicited; });
}

}  // namespace librma::transport
