// How a shm endpoint takes in messages, and how it sleeps until one comes.

#include <algorithm>

#include "transport/shm/shm_message_endpoint.hpp"
#include "util/log.hpp"

namespace librma::transport {
namespace {

/// A system call finds out whether peers have ended. It is made once in this many polls, and
/// before each sleep.
constexpr std::uint32_t kPolls = 1024;

}  // namespace

rma_status_t ShmMessageEndpoint::post_buffer(Local buffer, Cookie cookie) {
  buffers_.post({.memory = buffer, .cookie = cookie});
  return RMA_SUCCESS;
}

std::size_t ShmMessageEndpoint::poll(std::span<Completion> completions) {
  answer_calls();
  const std::lock_guard guard(poll_lock_);
  if (++polls_ == kPolls) look_for_ends();
  std::size_t filled = ended_.take(completions);
  for (std::size_t i = 0; i < receiving_.size() && filled < completions.size(); ++i) {
    ShmPeer& peer = *receiving_[(first_ + i) % receiving_.size()];
    filled += take_messages(peer, completions.subspan(filled));
  }
  if (++first_ >= receiving_.size()) first_ = 0;
  return filled;
}

std::size_t ShmMessageEndpoint::take_messages(ShmPeer& peer, std::span<Completion> completions) {
  std::size_t filled = 0;
  while (filled < completions.size() && !peer.told) {
    using State = QueueReceiver::State;
    const auto [state, message] = peer.from && !peer.failed() ? peer.from->look() : QueueReceiver::Look();
    if (state == State::message) {
      // A process that gets a message must be able to answer it. The peer admitted this process before
      // it sent any.
      const bool open = peer.open(my_seat_) == Seat::Answer::admitted;
      PostedBuffers::Buffer buffer;
      if (open && !buffers_.take(&buffer))
        return filled;  // it waits in its slot; this does not happen to
                        // an honest peer
      if (open) {
        const bool fits = message.size() <= buffer.memory.bytes;
        if (fits) std::ranges::copy(message, buffer.memory.address);
        completions[filled++] = {.cookie = buffer.cookie,
                                 .peer = peer.rank(),
                                 .status = fits ? RMA_SUCCESS : RMA_ERR_SIZE,
                                 .bytes = static_cast<std::uint32_t>(message.size())};
        peer.from->release();
        continue;
      }
    }
    const bool broken = state != State::nothing;
    if (!broken && !peer.gone) return filled;
    if (broken) {
      log(LogLevel::warn, "rank {} writes messages that make no sense: it is given up", peer.rank());
    }
    peer.told = true;
    if (!broken && peer.failed()) return filled;
    fail(peer.rank());
    completions[filled++] = {.cookie = 0, .peer = peer.rank(), .status = RMA_ERR_PEER_LOST, .bytes = 0};
  }
  return filled;
}

void ShmMessageEndpoint::look_for_ends() {
  polls_ = 0;
  ends_.clear();
  wakeup_->look(ends_);
  for (ShmPeer* const peer : receiving_) {
    // Everything that the peer sent is visible now. poll() takes it in before it reports the end.
    if (peer->closed() || std::ranges::find(ends_, peer->seat()) != ends_.end()) peer->gone = true;
  }
}

bool ShmMessageEndpoint::arm(Events /*events*/) {
  const std::lock_guard guard(poll_lock_);
  // Takes the signals only here, and not in poll(): another thread that polls must leave them to the thread
  // that sleeps, because a sender signals only once for each sleep.
  wakeup_->take_signals();
  look_for_ends();
  // From here on each peer signals with the next message that it sends. Either the sender sees this store, or
  // the loop below sees the message. The fence pairs with the one in ShmPeer::post(). A new peer has not
  // signaled for any sleep, so it signals too; and a call always signals.
  segment_->mapped().head().sleeps.store(++sleeps_, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (calls_seen_.load(std::memory_order_relaxed) !=
      segment_->mapped().head().calls.load(std::memory_order_acquire)) {
    return false;
  }
  if (!ended_.empty()) return false;
  return std::ranges::none_of(receiving_, [](const ShmPeer* peer) {
    if (peer->told || peer->failed()) return false;
    return peer->gone || (peer->from && peer->from->look().state != QueueReceiver::State::nothing);
  });
}

}  // namespace librma::transport
