#include "channel/ring.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

namespace librma {
namespace {

static_assert(std::endian::native == std::endian::little, "the flag is the head's last byte in memory");
static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free &&
              std::atomic_ref<std::byte>::is_always_lock_free);

// The two values of a tail. Neither equals the byte of an unused slot (zero), so the image need not agree
// with the receiver about bytes that were never written.
constexpr std::byte kTail{0x33};
constexpr std::byte kOtherTail{0xcc};

/// A head, which is written as one word.
struct Head {
  std::uint32_t size = 0;
  std::byte tail{};
  std::uint8_t flag = 0;

  [[nodiscard]] std::uint64_t encode() const {
    return std::uint64_t{size} | std::to_integer<std::uint64_t>(tail) << 48U | std::uint64_t{flag} << 56U;
  }
  [[nodiscard]] static Head decode(std::uint64_t word) {
    return {.size = static_cast<std::uint32_t>(word),
            .tail = static_cast<std::byte>(word >> 48U),
            .flag = static_cast<std::uint8_t>(word >> 56U)};
  }
};
static_assert(sizeof(std::uint64_t) == RingShape::kHeadBytes);

std::atomic_ref<std::uint64_t> head_of(std::span<std::byte> slot) {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(slot.data()));
}

std::span<std::byte> slot_of(const RingShape& shape, std::span<std::byte> memory, const RingPlace& place) {
  return memory.subspan(place.slot() * shape.slot_bytes, shape.slot_bytes);
}

}  // namespace

RingSender::RingSender(const RingShape& shape, std::span<std::byte> memory)
    : shape_(shape), memory_(memory) {}

RingSender::Write RingSender::put(std::span<const std::byte> first, std::span<const std::byte> second,
                                  std::span<const std::byte> third) {
  const std::size_t size = first.size() + second.size() + third.size();
  const std::span<std::byte> slot = slot_of(shape_, memory_, next_);
  const std::span<std::byte> body = slot.subspan(RingShape::kHeadBytes);

  std::byte& end = body[size];
  const std::byte tail = end == kTail ? kOtherTail : kTail;  // differs from the receiver's byte there
  end = tail;
  auto at = std::ranges::copy(first, body.begin()).out;
  at = std::ranges::copy(second, at).out;
  std::ranges::copy(third, at);

  // With mapped memory this publishes the message and its tail: pairs with the acquire load of the head in
  // look(). With an image only this thread sees it.
  const Head head{.size = static_cast<std::uint32_t>(size), .tail = tail, .flag = next_.flag()};
  head_of(slot).store(head.encode(), std::memory_order_release);

  const Write write{.offset = next_.slot() * shape_.slot_bytes,
                    .bytes = slot.first(RingShape::kHeadBytes + size + RingShape::kTailBytes)};
  next_.advance(shape_.slots);
  ++in_use_;
  return write;
}

bool RingSender::returned(std::uint32_t slots) {
  if (slots > in_use_) return false;
  in_use_ -= slots;
  return true;
}

RingReceiver::RingReceiver(const RingShape& shape, std::span<std::byte> memory)
    : shape_(shape), memory_(memory) {
  std::ranges::fill(memory_, std::byte{0});
}

RingReceiver::Look RingReceiver::look() {
  if (broken_) return {.state = State::broken};
  const std::span<std::byte> slot = slot_of(shape_, memory_, next_);

  // Pairs with the release store in put() where the sender has this memory mapped. Where the device writes
  // it, a flag of this lap says that the head's other bytes, placed before it, are in the word just read.
  const std::uint64_t word = head_of(slot).load(std::memory_order_acquire);
  const Head head = Head::decode(word);
  if (head.flag != next_.flag()) {
    if (head.flag == (first_lap_ ? 0 : next_.former_flag())) return {};
    broken_ = true;
    return {.state = State::broken};
  }
  const bool known_tail = head.tail == kTail || head.tail == kOtherTail;
  if (head.size > shape_.most() || !known_tail || head.encode() != word) {
    broken_ = true;
    return {.state = State::broken};
  }

  // Acquire, so that the message is read after its tail, which is the last byte that the device places. (In
  // mapped memory the acquire load of the head is enough.)
  const std::span<std::byte> body = slot.subspan(RingShape::kHeadBytes);
  if (std::atomic_ref(body[head.size]).load(std::memory_order_acquire) != head.tail) return {};
  return {.state = State::message, .message = body.first(head.size)};
}

void RingReceiver::release() {
  next_.advance(shape_.slots);
  if (next_.slot() == 0) first_lap_ = false;
  ++unreturned_;
}

std::uint32_t RingReceiver::take_returned() { return std::exchange(unreturned_, 0); }

}  // namespace librma
