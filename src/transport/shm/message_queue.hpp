#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/transport.hpp"

namespace librma::transport {

/// The messages from one process to another of its host: slots of one size in the receiver's memory, which
/// the sender has mapped. There is one writer and one reader. Each pair of processes has one queue for each
/// direction. So a sender that dies, or writes garbage, damages only its own messages.
///
/// A slot starts at a multiple of a cache line:
///
///     8 bytes  word: size (the lower 4 bytes), stamp
///     size     the message
///
/// The stamp is the message's number, counted from 1, modulo 2^32. It differs from the stamp that the slot
/// held before (that of `slots` messages ago, or zero). So nobody has to clear the slot, and a short message
/// and its flag share one cache line.
///
/// How the two sides publish to each other:
/// - The sender writes the message and then stores the word (release), which the receiver loads (acquire).
///   The receiver never sees an unfinished message.
/// - The receiver counts the messages that it has finished reading in `taken` (release). The sender
///   loads `taken` (acquire) when it knows of no free slot. So the receiver has read a slot before the
///   sender reuses it.
///
/// Why there are three rings. The eager ring (channel/ring.hpp) is written by a device, which promises no
/// more than the order of bytes. So it has an image of the slots and a tail behind each message, and messages
/// give its slots back. Here the processes share memory: one release store publishes a message, and `taken`
/// gives slots back without a message. A two-sided message (rings/line_ring.hpp) has a body of any
/// length, so bodies lie apart from the lines that announce them; here no message is longer than a slot.
struct QueueShape {
  std::uint32_t slots = 0;
  std::uint32_t slot_bytes = 0;

  static constexpr std::uint32_t kLineBytes = 64;
  static constexpr std::uint32_t kWordBytes = 8;
  static constexpr std::uint32_t kMostSlots = 1U << 20U;
  static constexpr std::uint32_t kMostSlotBytes = 1U << 20U;

  /// Returns the shape for `slots` messages of up to `message` bytes.
  [[nodiscard]] static constexpr QueueShape of(std::uint32_t slots, std::uint32_t message) {
    return {.slots = slots, .slot_bytes = (kWordBytes + message + kLineBytes - 1) / kLineBytes * kLineBytes};
  }
  [[nodiscard]] constexpr std::size_t bytes() const { return std::size_t{slots} * slot_bytes; }
  /// Returns the maximum size of a message in bytes.
  [[nodiscard]] constexpr std::uint32_t most() const { return slot_bytes - kWordBytes; }
  [[nodiscard]] constexpr bool valid() const {
    return slots > 0 && slots <= kMostSlots && slot_bytes > 0 && slot_bytes <= kMostSlotBytes &&
           slot_bytes % kLineBytes == 0;
  }
};
static_assert(QueueShape::of(1, 48).slot_bytes == QueueShape::kLineBytes,
              "a short message travels in one cache line with its flag");

/// The sender's end. Only one thread at a time may use it.
class QueueSender {
 public:
  /// `memory` holds the slots: shape.bytes() bytes, aligned to a cache line. It and `taken` lie in the
  /// receiver's memory, and are zero before the first message.
  QueueSender(const QueueShape& shape, std::span<std::byte> memory, const std::atomic<std::uint64_t>& taken)
      : shape_(shape), memory_(memory), taken_(taken) {}

  [[nodiscard]] const QueueShape& shape() const { return shape_; }
  enum class Room : std::uint8_t { free, full, broken };
  /// Returns whether there is a free slot. `broken` means that the receiver claims to have taken more
  /// messages than were sent.
  [[nodiscard]] Room room();
  /// Puts a message into the free slot that room() has found, and publishes it. The message consists of
  /// `pieces`, which have `bytes` bytes together, at most shape().most().
  void put(std::span<const Local> pieces, std::size_t bytes);

 private:
  const QueueShape shape_;
  const std::span<std::byte> memory_;
  const std::atomic<std::uint64_t>& taken_;
  std::uint64_t put_ = 0;
  std::uint64_t known_taken_ = 0;
  std::uint32_t slot_ = 0;
};

/// The receiver's end. Only one thread at a time may use it.
class QueueReceiver {
 public:
  QueueReceiver(const QueueShape& shape, std::span<std::byte> memory, std::atomic<std::uint64_t>& taken)
      : shape_(shape), memory_(memory), taken_(taken) {}

  enum class State : std::uint8_t {
    nothing,
    message,
    broken,  ///< no honest sender writes this word; the state does not change any more
  };
  struct Look {
    State state = State::nothing;
    /// Lies in its slot until release(). Its size is checked. A dishonest sender can still change its bytes.
    std::span<const std::byte> message = {};
  };
  /// Looks for the oldest message that was not released.
  [[nodiscard]] Look look() const;
  void release();

 private:
  const QueueShape shape_;
  const std::span<std::byte> memory_;
  std::atomic<std::uint64_t>& taken_;
  std::uint64_t released_ = 0;
  std::uint32_t slot_ = 0;
};

/// Copies `from` to `to`, which lies in memory of another process. The bytes become visible in their order: a
/// reader that sees a byte (by an acquire load) also sees the bytes before it, as with a device.
void copy_in_order(std::byte* to, std::span<const std::byte> from);

}  // namespace librma::transport
