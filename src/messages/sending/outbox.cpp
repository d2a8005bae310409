#include "messages/sending/outbox.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <functional>
#include <mutex>
#include <new>
#include <utility>

#include "channel/channel.hpp"
#include "core/network/request_order.hpp"
#include "util/bytes_of.hpp"
#include "util/exhausted.hpp"
#include "util/statistics.hpp"
#include "util/text.hpp"
#include "util/try.hpp"
#include "util/undo.hpp"

namespace librma {
namespace {

/// A control message waits so many yields for memory.
constexpr int kMostTries = 100'000;

/// The most data that one fragment takes through a ring. Small enough that two fragments fit: the sender
/// fills one while the receiver empties the other.
constexpr std::size_t fragment_of(const LineRingSizes& ring) {
  return ring.most_body() - sizeof(FragmentHead);
}

Status lost_rank(int rank) {
  return {RMA_ERR_PEER_LOST, text("rank {} has ended or cannot be reached", rank)};
}

}  // namespace

Outbox::Outbox(Job& job, Channel* channel, Network* network, Inbox& inbox, const Limits& limits)
    : job_(job),
      channel_(channel),
      network_(network),
      inbox_(inbox),
      limits_(limits),
      longest_eager_(channel != nullptr && channel->has_longer_messages()
                         ? std::max(limits.eager, limits.network_eager)
                         : limits.eager),
      ports_(static_cast<std::size_t>(job.size())),
      peers_(ports_.size()),
      sends_(this_thread()),
      sent_by_ports_(Counter::send_eager, [this] { return sent_by_ports(); }) {
  rings_.reserve(peers_.size());
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) peers_[rank].port = &ports_[rank];
}

std::uint64_t Outbox::sent_by_ports() {
  std::uint64_t sum = 0;
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    // By rank, because the constructor may fail before the peers know their ports.
    const std::lock_guard guard(ports_[rank].lock);
    if (peers_[rank].ring) sum += peers_[rank].ring->sent_by_cursor();
  }
  return sum;
}

Outbox::~Outbox() {
  for (std::byte* const ring : rings_)
    static_cast<void>(job_.memory().allocator().free(MemoryKind::internal, ring));
}

bool Outbox::send_longer_at_once(int rank, Envelope envelope, std::span<const std::byte> data) {
  OutboxPeer& peer = peer_of(rank);
  {
    const std::lock_guard guard(peer.port->lock);
    if (data.size() >= peer.at_once) return false;
    const std::uint64_t cost = UnexpectedWindow::cost(data.size());
    if (!peer.has_room(cost, limits_.window) || !peer.ring->send(MessageType::eager, envelope, {}, data))
      return false;
    peer.port->eager_cost += cost;
  }
  count(Counter::send_eager);
  if (peer.port->doorbell->must_look()) wake_otherwise(rank);
  return true;
}

void Outbox::wake_otherwise(int rank) noexcept try { wake(rank); } catch (const std::bad_alloc&) {
  // The message is in the ring, so the receiver finds it when it looks by itself.
}

Status Outbox::open(int rank, OutboxPeer& peer) {
  return by_ring(rank) ? open_ring(rank, peer) : open_channel(rank, peer);
}

Status Outbox::ready(int rank) {
  OutboxPeer& peer = peer_of(rank);
  if (lost(rank)) return lost_rank(rank);
  if (peer.open.load(std::memory_order_acquire)) return {};
  return open(rank, peer);
}

Status Outbox::open_ring(int rank, OutboxPeer& peer) {
  const std::lock_guard guard(peer.port->lock);
  if (peer.ring) return {};
  auto memory =
      job_.memory().allocator().allocate(MemoryKind::internal, limits_.ring.memory(), alignof(RingLine));
  if (!memory.ok()) return std::move(memory).status().within("memory for messages");
  LineSender::prepare(memory.value());
  {
    const std::lock_guard rings(rings_lock_);
    rings_.push_back(memory.value());  // which has room for it
  }
  peer.ring.emplace(memory.value(), limits_.ring, peer.port->cursor);
  peer.port->doorbell = &job_.doorbell(rank);
  peer.eager = std::min<std::size_t>(limits_.eager, limits_.ring.most_body() - sizeof(RendezvousHead));
  peer.fragment = fragment_of(limits_.ring);
  peer.decide_at_once();
  inbox_.announce(rank, memory.value());
  peer.open.store(true, std::memory_order_release);
  return {};
}

Status Outbox::open_channel(int rank, OutboxPeer& peer) {
  if (channel_ == nullptr) {
    return {RMA_ERR_UNSUPPORTED,
            text("rank {} is reached by messages only, for which there was no memory", rank)};
  }
  std::size_t rail = 0;
  if (!channel_->local(rank)) {
    RMA_TRY(network_->requests().reach(rank, &rail));
  }
  if (const rma_status_t status = channel_->open(rank, &rail); status != RMA_SUCCESS) {
    return {status, text("rank {} takes no messages, because it has ended or has no memory for them", rank)};
  }
  const std::lock_guard guard(peer.port->lock);
  peer.by_channel = true;
  peer.rail = rail;
  const std::size_t most = channel_->max_body(rail) - sizeof(ChannelHead);
  const bool long_ones = channel_->max_body(rail) > channel_->max_body();
  peer.eager =
      std::min<std::size_t>(long_ones ? longest_eager_ : limits_.eager, most - sizeof(RendezvousHead));
  peer.fragment = most - sizeof(FragmentHead);
  peer.open.store(true, std::memory_order_release);
  return {};
}

Status Outbox::try_eager(int rank, Envelope envelope, std::span<const std::byte> data, bool* sent) {
  *sent = false;
  OutboxPeer& peer = peer_of(rank);
  const std::lock_guard guard(peer.port->lock);
  if (peer.lost) return lost_rank(rank);
  if (!peer.ring && !peer.by_channel) {
    // Without the lock, because connecting waits.
    peer.port->lock.unlock();
    Status opened = open(rank, peer);
    peer.port->lock.lock();
    if (!opened.ok()) return opened;
  }
  if (peer.waits() || !may_be_eager(peer, envelope, data.size())) return {};
  *sent = put(rank, peer, MessageType::eager, envelope, {}, data);
  if (*sent) peer.port->eager_cost += UnexpectedWindow::cost(data.size());
  return peer.lost ? lost_rank(rank) : Status();
}

bool Outbox::put(int rank, OutboxPeer& peer, MessageType type, Envelope envelope,
                 std::span<const std::byte> head, std::span<const std::byte> tail) {
  if (peer.lost) return false;
  if (peer.ring) {
    const bool sent = peer.ring->send(type, envelope, head, tail);
    if (!sent && peer.ring->broken()) {
      peer.broken = true;
      peer.lost = true;
      peer.decide_at_once();
      any_broken_.store(true, std::memory_order_release);  // pairs with the exchange in take_broken()
    }
    return sent;
  }
  std::array<std::byte, sizeof(ChannelHead) + kMostHead> start = {};
  const ChannelHead channel_head = {.envelope = envelope, .type = static_cast<std::uint32_t>(type)};
  std::memcpy(start.data(), &channel_head, sizeof channel_head);
  if (!head.empty()) std::memcpy(start.data() + sizeof channel_head, head.data(), head.size());
  const rma_status_t status = channel_->try_send(rank, peer.rail, kChannelKind,
                                                 {start.data(), sizeof channel_head + head.size()}, tail);
  if (status != RMA_SUCCESS && status != RMA_ERR_STATE) peer.lost = true;
  return status == RMA_SUCCESS;
}

std::span<const std::byte> Outbox::OutboxPeer::in_one_piece(const MessageData& data, std::size_t from,
                                                            std::size_t count) {
  if (data.contiguous()) return {data.address + from, count};
  staging.resize(std::max(staging.size(), count));
  const std::span<std::byte> staged(staging.data(), count);
  data.gather(from, staged);
  return staged;
}

bool Outbox::put(int rank, OutboxPeer& peer, const Waiting& waiting) {
  std::span<const std::byte> data;
  Envelope envelope;
  if (waiting.operation != nullptr) {
    const SendOperation& operation = *waiting.operation;
    envelope = operation.envelope;
    if (waiting.form == RendezvousForm::keyed) {
      data = bytes_of(operation.memory.remote);
    } else if (waiting.form == RendezvousForm::laid_out) {
      const Layout& layout = *operation.data.layout;
      peer.staging.resize(std::max(peer.staging.size(), layout.encoded_bytes(0, layout.bytes())));
      data = std::span(peer.staging).first(layout.encode(0, layout.bytes(), peer.staging));
    } else {
      data = peer.in_one_piece(operation.data, 0, waiting.start);
    }
  }
  if (!put(rank, peer, waiting.type, envelope, {waiting.head.data(), waiting.head_bytes}, data)) return false;
  if (waiting.type == MessageType::rendezvous && waiting.operation != nullptr) {
    waiting.operation->stage = SendOperation::Stage::announced;
  }
  return true;
}

void Outbox::call(int rank) {
  std::size_t rail = 0;
  if (channel_ == nullptr || !channel_->local(rank) || channel_->open(rank, &rail) != RMA_SUCCESS) return;
  count(Counter::wake_message);
  channel_->send(rank, rail, kWakeKind, {}, {});
}

void Outbox::enqueue(OutboxPeer& peer, const Waiting& waiting) {
  if (peer.lost) return;  // the caller ends the operation
  peer.backlog.push_back(waiting);
  peer.decide_at_once();
  waiting_.fetch_add(1, std::memory_order_release);
}

Outbox::Started Outbox::send(int rank, const Outgoing& message) {
  OutboxPeer& peer = peer_of(rank);
  bool over = false;
  {
    const std::lock_guard guard(peer.port->lock);
    // lose() and those who note a revocation do that before they take the sends to the rank out of the table.
    if (peer.lost || (message.own != nullptr && message.own->revoked_by(rank))) return Started::lost;
    SendOperation& operation = peer.sends.make();
    sends_.add(1);
    // Without memory, nothing was sent, and nothing is to be released.
    Undo forget([&, cost = peer.port->eager_cost] {
      peer.port->eager_cost = cost;
      static_cast<void>(end_in_table(peer, operation));
    });
    operation.peer = rank;
    operation.envelope = message.envelope;
    operation.data = message.data;
    operation.own = message.own;
    operation.request = message.request;
    operation.awaited = message.awaited;
    Waiting waiting = {.type = MessageType::rendezvous, .operation = &operation};
    const std::size_t bytes = operation.data.bytes;
    if (!message.synchronous && may_be_eager(peer, operation.envelope, bytes)) {
      waiting.type = MessageType::eager;
      waiting.start = bytes;
      waiting.cost = UnexpectedWindow::cost(bytes);
      peer.port->eager_cost += waiting.cost;
      count(Counter::send_eager);
    } else {
      count(Counter::send_rendezvous);
      announce(rank, peer, operation, waiting);
    }
    if (peer.waits() || !put(rank, peer, waiting)) {
      if (peer.lost) return Started::lost;
      enqueue(peer, waiting);
    } else {
      over = waiting.type == MessageType::eager;
    }
    forget.dismiss();
    if (over) {
      static_cast<void>(end_in_table(peer, operation));
    } else if (message.awaited != nullptr) {
      message.awaited->name = operation.name;
      message.awaited->peer = rank;
    }
  }
  if (by_ring(rank)) wake(rank);
  return over ? Started::over : Started::under_way;
}

EndedSend Outbox::end_in_table(OutboxPeer& peer, SendOperation& send) {
  const EndedSend ended = send.ended();
  sends_.add(-1);
  peer.sends.end(send);
  return ended;
}

EndedSend Outbox::take_out(OutboxPeer& peer, SendOperation& send) {
  // A message that was announced waits for its receiver, and for no room.
  if (send.stage != SendOperation::Stage::announced) {
    const std::size_t dropped =
        std::erase_if(peer.backlog, [&](const Waiting& waiting) { return waiting.operation == &send; }) +
        std::erase(peer.fragmented, &send);
    peer.decide_at_once();
    waiting_.fetch_sub(dropped, std::memory_order_relaxed);
  }
  return end_in_table(peer, send);
}

void Outbox::control(int rank, MessageType type, std::span<const std::byte> head) {
  for (int tries = 0; tries < kMostTries; ++tries) {
    try {
      return try_control(rank, type, head);
    } catch (const std::bad_alloc&) {
      sched_yield();  // nothing has been sent: other threads may give memory back, or the receiver room
    }
  }
  // The message reports an event that has happened, and its receiver waits for ever without it.
  end_exhausted("a message of the library");
}

void Outbox::try_control(int rank, MessageType type, std::span<const std::byte> head) {
  OutboxPeer& peer = peer_of(rank);
  if (!by_ring(rank)) {
    std::size_t rail = 0;
    if (channel_->open(rank, &rail) != RMA_SUCCESS) return;
    std::array<std::byte, sizeof(ChannelHead)> start = {};
    const ChannelHead channel_head = {.envelope = {}, .type = static_cast<std::uint32_t>(type)};
    std::memcpy(start.data(), &channel_head, sizeof channel_head);
    channel_->send(rank, rail, kChannelKind, start, head);
    return;
  }
  const bool opened = peer.open.load(std::memory_order_acquire) || open_ring(rank, peer).ok();
  {
    const std::lock_guard guard(peer.port->lock);
    Waiting waiting = {.type = type, .head_bytes = head.size()};
    assert(head.size() <= waiting.head.size());  // `ready`, which is longer, goes between hosts only
    std::memcpy(waiting.head.data(), head.data(), head.size());
    // Without memory for the ring, the message waits: pump() tries to make the ring again.
    if (!opened || peer.waits() || !put(rank, peer, waiting)) enqueue(peer, waiting);
  }
  wake(rank);
}

void Outbox::send_fragments(SendOperation& operation) {
  OutboxPeer& peer = peer_of(operation.peer);
  if (peer.lost) return;                  // lose() or its caller ends the operation
  peer.fragmented.push_back(&operation);  // throws before anything has changed
  operation.stage = SendOperation::Stage::fragmenting;
  waiting_.fetch_add(1, std::memory_order_release);
}

bool Outbox::pump(int rank, OutboxPeer& peer, Ended& ended) {
  bool found = false;
  while (!peer.backlog.empty() && !peer.lost && !ended.full()) {
    const Waiting& waiting = peer.backlog.front();
    if (!put_if_memory(rank, peer, waiting)) return found;
    if (waiting.type == MessageType::eager) ended.add(end_in_table(peer, *waiting.operation));
    peer.backlog.pop_front();
    peer.decide_at_once();
    waiting_.fetch_sub(1, std::memory_order_relaxed);
    found = true;
  }
  while (!peer.fragmented.empty() && !peer.lost && !ended.full()) {
    SendOperation& operation = *peer.fragmented.front();
    const std::size_t bytes = put_fragment(rank, peer, operation);
    if (bytes == 0) return found;
    found = true;
    operation.given += bytes;
    if (operation.given < operation.wanted) continue;
    peer.fragmented.pop_front();
    waiting_.fetch_sub(1, std::memory_order_relaxed);
    ended.add(end_in_table(peer, operation));
  }
  return found;
}

bool Outbox::put_if_memory(int rank, OutboxPeer& peer, const Waiting& waiting) try {
  return put(rank, peer, waiting);
} catch (const std::bad_alloc&) {
  return false;  // its data have no room in one piece: it waits for memory
}

std::size_t Outbox::put_fragment(int rank, OutboxPeer& peer, const SendOperation& operation) try {
  const std::size_t bytes = std::min(peer.fragment, operation.wanted - operation.given);
  const FragmentHead head = {.receiver = operation.receiver, .offset = operation.given};
  const bool sent = put(rank, peer, MessageType::fragment, {}, std::as_bytes(std::span(&head, 1)),
                        peer.in_one_piece(operation.data, operation.given, bytes));
  return sent ? bytes : 0;
} catch (const std::bad_alloc&) {
  return 0;
}

bool Outbox::pump_all(const std::function<void(const EndedSend& send)>& ended) {
  bool found = false;
  for (int rank = 0; rank < job_.size(); ++rank) {
    OutboxPeer& peer = peer_of(rank);
    Ended over;
    do {
      over.clear();
      bool sent = false;
      {
        std::unique_lock guard(peer.port->lock, std::try_to_lock);
        if (!guard.owns_lock() || (peer.backlog.empty() && peer.fragmented.empty())) break;
        if (by_ring(rank) && !peer.ring) {
          guard.unlock();
          if (!open_ring(rank, peer).ok()) break;
          guard.lock();
        }
        sent = pump(rank, peer, over);
      }
      if (sent && by_ring(rank)) wake(rank);
      found = found || sent;
      for (const EndedSend& send : over.sends()) ended(send);
    } while (over.full());
  }
  return found;
}

void Outbox::ask_for_room() {
  if (!waits()) return;
  for (OutboxPeer& peer : peers_) {
    const std::lock_guard guard(peer.port->lock);
    if (peer.ring && !(peer.backlog.empty() && peer.fragmented.empty())) peer.ring->ask_for_room();
  }
}

bool Outbox::released(int rank, std::uint64_t cost) {
  OutboxPeer& peer = peer_of(rank);
  const std::lock_guard guard(peer.port->lock);
  if (cost > peer.port->eager_cost) return false;
  // Two threads of the rank may have said their sums in the opposite order.
  peer.known_released = std::max(peer.known_released, cost);
  peer.port->cost_limit = peer.known_released + limits_.window;
  return true;
}

void Outbox::give_back(int rank, std::uint64_t cost) {
  OutboxPeer& peer = peer_of(rank);
  const std::uint64_t given_back = peer.given_back.fetch_add(cost, std::memory_order_relaxed) + cost;
  std::uint64_t told = peer.told.load(std::memory_order_relaxed);
  // One of the threads that pass the mark tells it.
  if (given_back - told < limits_.window / 4 ||
      !peer.told.compare_exchange_strong(told, given_back, std::memory_order_relaxed)) {
    return;
  }
  control(rank, MessageType::released, ReleasedHead{.cost = given_back});
}

Outbox::Withdrawn Outbox::withdraw(rma_request_t request) {
  Withdrawn withdrawn;
  for (OutboxPeer& peer : peers_) {
    if (peer.sends.live() == 0) continue;
    const std::lock_guard guard(peer.port->lock);
    std::size_t next = 0;
    SendOperation* const send =
        peer.sends.find_if(next, [&](const SendOperation& started) { return started.request == request; });
    if (send == nullptr) continue;
    const auto found = std::ranges::find(peer.backlog, send, &Waiting::operation);
    if (found != peer.backlog.end()) {
      peer.port->eager_cost -= found->cost;
      withdrawn.send = take_out(peer, *send);
    } else if (send->awaits_answer() && !std::exchange(send->retracting, true)) {
      withdrawn.announced_to = send->peer;
      withdrawn.announcement = {.sender = send->name, .envelope = send->envelope};
    }
    // Otherwise the message is on its way with all its data, or the receiver has asked for them.
    break;
  }
  return withdrawn;
}

void Outbox::nudge(int rank) {
  std::size_t rail = 0;
  if (channel_ == nullptr || rank == job_.rank() || (by_ring(rank) && !channel_->local(rank)) ||
      channel_->open(rank, &rail) != RMA_SUCCESS) {
    return;
  }
  channel_->send(rank, rail, kNudgeKind, {}, {});
}

std::optional<int> Outbox::take_broken() {
  if (!any_broken_.load(std::memory_order_relaxed)) [[likely]]
    return {};
  any_broken_.store(false, std::memory_order_relaxed);
  for (int rank = 0; rank < job_.size(); ++rank) {
    OutboxPeer& peer = peer_of(rank);
    const std::lock_guard guard(peer.port->lock);
    if (!std::exchange(peer.broken, false)) continue;
    any_broken_.store(true, std::memory_order_relaxed);  // there may be another
    return rank;
  }
  return {};
}

void Outbox::lose(int rank) {
  OutboxPeer& peer = peer_of(rank);
  const std::lock_guard guard(peer.port->lock);
  peer.lost.store(true, std::memory_order_release);
  waiting_.fetch_sub(peer.backlog.size() + peer.fragmented.size(), std::memory_order_relaxed);
  peer.backlog.clear();
  peer.fragmented.clear();
  peer.decide_at_once();
}

}  // namespace librma
