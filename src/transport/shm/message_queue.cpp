#include "transport/shm/message_queue.hpp"

#include <cstring>

namespace librma::transport {
namespace {

static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
              std::atomic_ref<std::uint64_t>::is_always_lock_free &&
              std::atomic_ref<std::byte>::is_always_lock_free);

constexpr unsigned kStampShift = 32;

std::atomic_ref<std::uint64_t> word_of(std::byte* slot) {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(slot));
}

/// Returns the stamp of the message that `number` messages precede.
constexpr std::uint32_t stamp(std::uint64_t number) { return static_cast<std::uint32_t>(number + 1); }

}  // namespace

QueueSender::Room QueueSender::room() {
  if (put_ - known_taken_ < shape_.slots) return Room::free;
  // Pairs with the store in release(): the receiver has read the slot's previous message.
  const std::uint64_t taken = taken_.load(std::memory_order_acquire);
  if (taken - known_taken_ > put_ - known_taken_) return Room::broken;
  known_taken_ = taken;
  return put_ - known_taken_ < shape_.slots ? Room::free : Room::full;
}

void QueueSender::put(std::span<const Local> pieces, std::size_t bytes) {
  std::byte* const slot = memory_.data() + std::size_t{slot_} * shape_.slot_bytes;
  std::byte* to = slot + QueueShape::kWordBytes;
  for (const Local& piece : pieces) {
    if (piece.bytes == 0) continue;
    std::memcpy(to, piece.address, piece.bytes);
    to += piece.bytes;
  }
  // Publishes the message: pairs with the load in look().
  word_of(slot).store(bytes | std::uint64_t{stamp(put_)} << kStampShift, std::memory_order_release);
  ++put_;
  if (++slot_ == shape_.slots) slot_ = 0;
}

QueueReceiver::Look QueueReceiver::look() const {
  std::byte* const slot = memory_.data() + std::size_t{slot_} * shape_.slot_bytes;
  // Pairs with the store in put().
  const std::uint64_t word = word_of(slot).load(std::memory_order_acquire);
  const auto size = static_cast<std::uint32_t>(word);
  const auto found = static_cast<std::uint32_t>(word >> kStampShift);
  if (found == stamp(released_)) {
    if (size > shape_.most()) return {.state = State::broken};
    return {.state = State::message, .message = {slot + QueueShape::kWordBytes, size}};
  }
  const bool first_lap = released_ < shape_.slots;
  if (first_lap ? word == 0 : found == stamp(released_ - shape_.slots)) return {};
  return {.state = State::broken};
}

void QueueReceiver::release() {
  ++released_;
  if (++slot_ == shape_.slots) slot_ = 0;
  taken_.store(released_, std::memory_order_release);  // pairs with the load in room()
}

void copy_in_order(std::byte* to, std::span<const std::byte> from) {
  // Each store has release order, so none becomes visible before the one in front of it.
  const auto misaligned = reinterpret_cast<std::uintptr_t>(to) % sizeof(std::uint64_t);
  std::size_t front = misaligned == 0 ? 0 : sizeof(std::uint64_t) - misaligned;
  if (front > from.size()) front = from.size();
  std::size_t at = 0;
  for (; at < front; ++at) std::atomic_ref(to[at]).store(from[at], std::memory_order_release);
  for (; from.size() - at >= sizeof(std::uint64_t); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, from.data() + at, sizeof word);
    std::atomic_ref(*reinterpret_cast<std::uint64_t*>(to + at)).store(word, std::memory_order_release);
  }
  for (; at < from.size(); ++at) std::atomic_ref(to[at]).store(from[at], std::memory_order_release);
}

}  // namespace librma::transport
