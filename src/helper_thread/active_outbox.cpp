#include "helper_thread/active_outbox.hpp"

#include <cstring>

#include "channel/channel.hpp"
#include "helper_thread/wire.hpp"
#include "util/bytes_of.hpp"

namespace librma {
namespace {

/// A rank for which this many messages wait is given up, as by MessageSender: an honest one owes far fewer
/// answers.
constexpr std::size_t kMostKept = 65536;

}  // namespace

ActiveOutbox::ActiveOutbox(int ranks, Channel& channel, const ActiveRings& rings)
    : channel_(channel),
      rings_(rings),
      sizes_(ActiveRings::sizes(channel.max_body())),
      ways_(static_cast<std::size_t>(ranks)) {}

ActiveOutbox::~ActiveOutbox() {
  for (std::byte* const ring : memory_) rings_.give(ring);
}

ActiveOutbox::Way& ActiveOutbox::open(int rank) {
  const std::lock_guard guard(opening_);
  std::atomic<Way*>& place = ways_[static_cast<std::size_t>(rank)];
  if (Way* const known = place.load(std::memory_order_relaxed); known != nullptr) return *known;
  owned_.reserve(owned_.size() + 1);
  memory_.reserve(memory_.size() + 1);
  auto made = std::make_unique<Way>();
  made->doorbell = rings_.doorbell(rank);
  std::byte* const memory = made->doorbell != nullptr ? rings_.take(sizes_.memory()) : nullptr;
  if (memory != nullptr) {
    memory_.push_back(memory);
    LineSender::prepare(memory);
    made->ring.emplace(memory, sizes_, made->cursor);
    made->at_once = true;
    const ActiveRingOffer offer = {.address = reinterpret_cast<std::uintptr_t>(memory)};
    channel_.send(rank, kLocalRail, kActiveRing, bytes_of(offer), {});
  }
  Way& opened = *owned_.emplace_back(std::move(made));
  place.store(&opened, std::memory_order_release);  // pairs with the load in way()
  return opened;
}

bool ActiveOutbox::put(Way& to, std::span<const std::byte> head, std::span<const std::byte> tail) {
  Envelope envelope;
  std::memcpy(&envelope, head.data(), sizeof envelope);
  const auto rest = head.subspan(sizeof envelope);
  if (to.ring->send(MessageType::eager, envelope, rest, tail)) return true;
  to.ring->ask_for_room();
  return to.ring->send(MessageType::eager, envelope, rest, tail);
}

void ActiveOutbox::look_after(int rank, const Way& to) {
  if (to.doorbell->must_look() && to.doorbell->must_call()) call(rank);
}

rma_status_t ActiveOutbox::try_send(int rank, std::size_t rail, std::span<const std::byte> head,
                                    std::span<const std::byte> tail) {
  Way& to = way(rank);
  if (!to.ring) return channel_.try_send(rank, rail, kActiveMessage, head, tail);
  bool broken = false;
  {
    const std::lock_guard guard(to.lock);
    if (to.lost) return RMA_ERR_PEER_LOST;
    if (!to.kept.empty()) return RMA_ERR_STATE;
    if (!put(to, head, tail)) {
      if (!to.ring->broken()) return RMA_ERR_STATE;
      broken = true;
    }
  }
  if (broken) [[unlikely]] {
    channel_.fail(rank);
    return RMA_ERR_PEER_LOST;
  }
  count(Counter::active_ring);
  look_after(rank, to);
  return RMA_SUCCESS;
}

void ActiveOutbox::send(int rank, std::size_t rail, std::span<const std::byte> head,
                        std::span<const std::byte> tail) {
  Way& to = way(rank);
  if (!to.ring) return channel_.send(rank, rail, kActiveMessage, head, tail);
  bool given_up = false;
  {
    const std::lock_guard guard(to.lock);
    if (to.lost) return;
    if (!to.kept.empty() || !put(to, head, tail)) {
      given_up = to.ring->broken() || to.kept.size() == kMostKept;
      if (!given_up) {
        std::vector<std::byte>& copy = to.kept.emplace_back(head.begin(), head.end());
        copy.insert(copy.end(), tail.begin(), tail.end());
        to.at_once = false;
        return;
      }
    }
  }
  if (given_up) [[unlikely]]
    return channel_.fail(rank);
  count(Counter::active_ring);
  look_after(rank, to);
}

void ActiveOutbox::call(int rank) {
  count(Counter::wake_message);
  channel_.send(rank, kLocalRail, kActiveCall, {}, {});
}

void ActiveOutbox::flush(int rank) {
  Way* const to = ways_[static_cast<std::size_t>(rank)].load(std::memory_order_acquire);
  if (to == nullptr || !to->ring) return;
  std::uint64_t sent = 0;
  bool broken = false;
  {
    const std::lock_guard guard(to->lock);
    for (; !to->kept.empty() && put(*to, to->kept.front(), {}); ++sent) to->kept.pop_front();
    broken = to->ring->broken();
    to->at_once = to->kept.empty() && !to->lost;
  }
  if (broken) return channel_.fail(rank);
  if (sent == 0) return;
  count(Counter::active_ring, sent);
  look_after(rank, *to);
}

void ActiveOutbox::close(int rank) {
  Way* const to = ways_[static_cast<std::size_t>(rank)].load(std::memory_order_acquire);
  if (to == nullptr) return;
  const std::lock_guard guard(to->lock);
  to->lost = true;
  to->at_once = false;
  to->kept.clear();
}

}  // namespace librma
