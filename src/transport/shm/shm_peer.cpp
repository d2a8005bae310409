#include "transport/shm/shm_peer.hpp"

#include <cstring>
#include <utility>

#include "transport/shm/wakeup.hpp"
#include "util/try_assign.hpp"

namespace librma::transport {

Result<std::unique_ptr<ShmPeer>> ShmPeer::meet(const ShmCard& card, std::size_t seat, HostPeer& host) {
  std::unique_ptr<ShmPeer> peer(new ShmPeer(card, seat, host));
  RMA_TRY_ASSIGN(segment, MappedSegment::of(card, host.file(Handed::segment)));
  peer->segment_ = std::move(segment);
  host.close(Handed::segment);  // the mapping keeps the file
  return peer;
}

void ShmPeer::call(std::size_t seat, const ShmCard& card) {
  const std::lock_guard guard(lock_);
  if (std::exchange(called_, true)) return;
  Seat& there = segment_.seat(seat);
  there.caller = card;
  there.called.store(1, std::memory_order_release);  // publishes the card; pairs with the load in answer()
  segment_.head().calls.fetch_add(1, std::memory_order_release);  // publishes the call; pairs with
                                                                  // answer_calls()
  wake();
}

Seat::Answer ShmPeer::open(std::size_t seat) {
  if (open_.load(std::memory_order_acquire)) return Seat::Answer::admitted;  // pairs with the store below
  const std::lock_guard guard(lock_);
  if (open_.load(std::memory_order_relaxed)) return Seat::Answer::admitted;
  const Seat& there = segment_.seat(seat);
  const Seat::Answer answer = there.admitted.load(std::memory_order_acquire);  // pairs with that in admit()
  if (answer != Seat::Answer::admitted) return answer == Seat::Answer::none ? answer : Seat::Answer::refused;
  // Each value is read once, because a dishonest peer could change it between two reads.
  QueueShape shape;
  std::uint64_t queue = 0;
  std::uint32_t buffers = 0;
  std::memcpy(&shape, &there.shape, sizeof shape);
  std::memcpy(&queue, &there.queue, sizeof queue);
  std::memcpy(&buffers, &there.buffers, sizeof buffers);
  if (buffers != 0) {
    if (!shape.valid() || queue % QueueShape::kLineBytes != 0) return Seat::Answer::refused;
    const auto slots = segment_.range(queue, shape.bytes());
    if (!slots) return Seat::Answer::refused;
    to_.emplace(shape, *slots, there.taken);
  }
  buffers_ = buffers;
  open_.store(true, std::memory_order_release);
  return Seat::Answer::admitted;
}

std::uint32_t ShmPeer::buffers() const {
  return open_.load(std::memory_order_acquire) ? buffers_ : 0;  // pairs with the store in open()
}

rma_status_t ShmPeer::post(std::span<const Local> pieces) {
  std::size_t bytes = 0;
  for (const Local& piece : pieces) {
    if (piece.bytes > QueueShape::kMostSlotBytes) return RMA_ERR_SIZE;
    bytes += piece.bytes;
  }
  const std::lock_guard guard(lock_);
  if (failed() || !open_.load(std::memory_order_relaxed) || closed()) return RMA_ERR_PEER_LOST;
  if (!to_) return RMA_ERR_STATE;
  if (bytes > to_->shape().most()) return RMA_ERR_SIZE;
  switch (to_->room()) {
    case QueueSender::Room::broken:
      fail();
      return RMA_ERR_PEER_LOST;
    case QueueSender::Room::full:
      return RMA_ERR_STATE;
    case QueueSender::Room::free:
      to_->put(pieces, bytes);
  }
  // The peer announces that it is about to sleep, and then looks at the queue. So either this thread sees the
  // announcement, or the peer sees the message. The fence pairs with the one in arm(). Each sender signals
  // once for each sleep of the peer. So a sender that dies just before it signals does not keep others from
  // signaling; and its own end wakes the peer, too.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const std::uint32_t sleeps = segment_.head().sleeps.load(std::memory_order_relaxed);
  if (sleeps != signaled_) {
    signaled_ = sleeps;
    wake();
  }
  return RMA_SUCCESS;
}

rma_status_t ShmPeer::write(Remote to, std::span<const std::byte> bytes) {
  if (failed() || !open_.load(std::memory_order_acquire) || closed()) return RMA_ERR_PEER_LOST;
  const auto there = memory(to.address, bytes.size());
  if (!there) return RMA_ERR_ADDRESS;
  copy_in_order(there->data(), bytes);
  return RMA_SUCCESS;
}

bool ShmPeer::copy(const Work& work) const {
  std::size_t bytes = 0;
  for (const Local& piece : work.pieces) bytes += piece.bytes;
  const auto there = memory(work.remote.address, bytes);
  if (!there) return false;
  std::byte* at = there->data();
  for (const Local& piece : work.pieces) {
    if (work.direction == Direction::write) {
      std::memcpy(at, piece.address, piece.bytes);
    } else {
      std::memcpy(piece.address, at, piece.bytes);
    }
    at += piece.bytes;
  }
  return true;
}

void ShmPeer::wake() { Wakeup::signal(host_.file(Handed::wakeup)); }

}  // namespace librma::transport
