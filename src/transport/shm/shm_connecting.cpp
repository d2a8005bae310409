// How two processes of a host connect.
//
// Each process admits the other: it maps the other's segment, sets buffers aside, makes the queue for the
// other's messages in its own segment, and says so at the other's seat there. The process that connects does
// this first. Then it calls: it writes its card to its own seat in the other's segment. Then it waits until
// the other has admitted it. The other process finds the call when it polls, or while it waits in a connect()
// of its own, because a process that waits for an answer goes on answering. So if processes wait for each
// other in a circle, of any length, the next one answers each of them. If two processes connect to each other
// at once, both have admitted the other before either waits.
//
// A process that has answered a call can send at once, because the caller admitted it before it called. A
// process that finds a message of a peer can answer at once for the same reason, even while it still waits
// to be admitted.

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "transport/shm/shm_message_endpoint.hpp"
#include "util/log.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"
#include "util/waiting/wait.hpp"

namespace librma::transport {
namespace {

constexpr int kSpins = 2000;
constexpr int kYields = 100;

std::int64_t nanoseconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

/// Checks that `card` is that of the process at this seat, of those with the ranks `locals`.
Status check(const ShmCard& card, std::span<const int> locals, std::size_t seat) {
  if (card.rank == locals[seat] && card.seats == locals.size()) return {};
  return {RMA_ERR_LAUNCH,
          fmt::format("the card of rank {} is one of rank {}, in a host of {} processes instead of {}",
                      locals[seat], card.rank, card.seats, locals.size())};
}

/// Takes the memory for a queue from the segment. Makes no queue, of no slots, if there is no memory.
QueueShape make_queue(Segment& segment, std::uint32_t slots, std::uint32_t longest,
                      std::span<std::byte>* memory) {
  const QueueShape shape = QueueShape::of(slots, longest);
  if (!shape.valid()) return {};
  auto taken = segment.take(shape.bytes());
  if (!taken.ok()) {
    log(LogLevel::warn, "no room for messages of a rank: {}", taken.status().text());
    return {};
  }
  *memory = {taken.value(), shape.bytes()};
  return shape;
}

}  // namespace

Result<ShmPeer*> ShmMessageEndpoint::admit(std::size_t seat, const ShmCard& card) {
  if (ShmPeer* const known = peers_[seat].load(std::memory_order_relaxed)) return known;
  RMA_TRY(check(card, locals_, seat));
  HostPeer* const host = host_.find(card.rank);
  if (host == nullptr) return Status(RMA_ERR_LAUNCH, "this process has not met it");
  if (host_.ended(card.rank)) return Status(RMA_ERR_PEER_LOST, fmt::format("rank {} has ended", card.rank));
  RMA_TRY_ASSIGN(met, ShmPeer::meet(card, seat, *host));
  ShmPeer* const peer = owned_.emplace_back(std::move(met)).get();
  buffers_.end_lending();
  if (Status status = moves_.connect(static_cast<int>(seat), CmaTransport::card_of(*host));
      !status.ok() && status.code() != RMA_ERR_UNSUPPORTED) {  // messages need no such access
    return status;
  }
  const std::uint32_t buffers = source_ ? source_(peer->rank()) : 0;
  std::span<std::byte> slots;
  QueueShape shape;  // of no slots if no buffers were set aside for the peer
  if (buffers != 0) {
    const std::size_t longest = std::min<std::size_t>(buffers_.largest(), limits_.max_inline);
    shape = make_queue(*segment_, buffers + buffers_.lent(), static_cast<std::uint32_t>(longest), &slots);
  }
  Seat& mine = segment_->mapped().seat(seat);
  mine.shape = shape;
  mine.queue = shape.slots != 0 ? static_cast<std::uint64_t>(slots.data() - segment_->mapped().base()) : 0;
  mine.buffers = shape.slots != 0 ? buffers : 0;
  {
    const std::lock_guard guard(poll_lock_);
    if (shape.slots != 0) peer->from.emplace(shape, slots, mine.taken);
    receiving_.push_back(peer);
    wakeup_->watch(peer->end(), seat);
  }
  peers_[seat].store(peer, std::memory_order_release);  // pairs with the load in find()
  // Publishes the answer and the slots. Pairs with the load in ShmPeer::open().
  mine.admitted.store(Seat::Answer::admitted, std::memory_order_release);
  return peer;
}

void ShmMessageEndpoint::answer(std::size_t seat) {
  Seat& mine = segment_->mapped().seat(seat);
  // Pairs with the store in ShmPeer::call().
  if (answered_[seat] || mine.called.load(std::memory_order_acquire) == 0) return;
  answered_[seat] = true;
  std::array<std::byte, sizeof(ShmCard)> bytes;
  std::memcpy(bytes.data(), &mine.caller, bytes.size());
  const auto card = ShmCard::decode(bytes);
  auto admitted = card.ok()
                      ? admit(seat, card.value())
                      : Result<ShmPeer*>(Status(card.status().code(), std::string(card.status().text())));
  if (admitted.ok() && admitted.value()->open(my_seat_) != Seat::Answer::refused) return;
  log(LogLevel::warn, "rank {} calls and is refused: {}", locals_[seat],
      admitted.ok() ? "it makes no sense" : admitted.status().text());
  mine.admitted.store(Seat::Answer::refused, std::memory_order_release);  // pairs with that in open()
}

void ShmMessageEndpoint::answer_calls() {
  const std::atomic<std::uint32_t>& calls = segment_->mapped().head().calls;
  // Pairs with the addition in ShmPeer::call().
  if (calls.load(std::memory_order_acquire) == calls_seen_.load(std::memory_order_relaxed)) return;
  const std::lock_guard guard(connect_lock_);
  calls_seen_.store(calls.load(std::memory_order_acquire), std::memory_order_relaxed);
  for (std::size_t seat = 0; seat < locals_.size(); ++seat) answer(seat);
}

Status ShmMessageEndpoint::connect(int peer, std::span<const std::byte> card) {
  RMA_TRY_ASSIGN(there, ShmCard::decode(card));
  const auto at = std::ranges::lower_bound(locals_, peer);
  if (at == locals_.end() || *at != peer) {
    return {RMA_ERR_LAUNCH, fmt::format("rank {} is not among those of its host", peer)};
  }
  ShmPeer* shm_peer = nullptr;
  {
    const std::lock_guard guard(connect_lock_);
    RMA_TRY_ASSIGN(admitted, admit(static_cast<std::size_t>(at - locals_.begin()), there));
    shm_peer = admitted;
  }
  shm_peer->call(my_seat_, card_);
  return wait_for(*shm_peer);
}

Status ShmMessageEndpoint::wait_for(ShmPeer& peer) {
  std::optional<std::chrono::steady_clock::time_point> since;
  for (int round = 0;; ++round) {
    if (peer.failed()) return {RMA_ERR_PEER_LOST, fmt::format("rank {} was given up", peer.rank())};
    switch (peer.open(my_seat_)) {
      case Seat::Answer::admitted:
        return {};
      case Seat::Answer::refused:
        return {RMA_ERR_PEER_LOST, fmt::format("rank {} refuses to connect", peer.rank())};
      case Seat::Answer::none:
        break;
    }
    answer_calls();
    if (round < kSpins) {
      pause_processor();
      continue;
    }
    if (round < kSpins + kYields) {
      sched_yield();
      continue;
    }
    const auto now = std::chrono::steady_clock::now();
    if (!since) since = now;
    if (now - *since > timeout_) {
      return {RMA_ERR_PEER_LOST, fmt::format("rank {} does not answer", peer.rank())};
    }
    // The end of the peer wakes this thread at once.
    pollfd end = {.fd = peer.end(), .events = POLLIN, .revents = 0};
    const timespec nap = {.tv_sec = 0, .tv_nsec = nap_after(nanoseconds(now - *since))};
    if ((ppoll(&end, 1, &nap, nullptr) > 0 || peer.closed()) &&
        peer.open(my_seat_) != Seat::Answer::admitted) {
      return {RMA_ERR_PEER_LOST, fmt::format("rank {} has ended", peer.rank())};
    }
  }
}

}  // namespace librma::transport
