#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/transport.hpp"

namespace rma::transport {

/// The messages of one process to another of its host: slots of one size in the receiver's memory, which the
/// sender has mapped. One writes, one reads; each pair of processes has one such queue for each direction, so
/// that a sender that dies, or writes rubbish, harms nobody's messages but its own.
///
/// A slot, from its start, at a multiple of a cache line:
///
///     8 bytes  word: size (the lower 4 bytes), stamp
///     size     the message
///
/// The stamp is the message's number, counted from 1 modulo 2^32. It differs from what the slot held before
/// (the number of `slots` messages ago, or zero), so nobody has to clear it, and a short message travels in
/// one cache line with its flag.
///
/// Who publishes what to whom:
/// - The sender writes the message and then stores the word (release), which the receiver loads (acquire).
///   What the sender did not finish is not there.
/// - The receiver counts the messages that it is done with in `taken` (release), which the sender loads
///   (acquire) when it knows of no free slot: the receiver has read what the slot held before.
struct QueueShape {
  std::uint32_t slots = 0;
  std::uint32_t slot_bytes = 0;

  static constexpr std::uint32_t kLineBytes = 64;
  static constexpr std::uint32_t kWordBytes = 8;
  static constexpr std::uint32_t kMostSlots = 1U << 20U;
  static constexpr std::uint32_t kMostSlotBytes = 1U << 20U;

  /// For messages of up to `message` bytes.
  [[nodiscard]] static constexpr QueueShape of(std::uint32_t slots, std::uint32_t message) {
    return {.slots = slots, .slot_bytes = (kWordBytes + message + kLineBytes - 1) / kLineBytes * kLineBytes};
  }
  [[nodiscard]] constexpr std::size_t bytes() const { return std::size_t{slots} * slot_bytes; }
  /// The longest message.
  [[nodiscard]] constexpr std::uint32_t most() const { return slot_bytes - kWordBytes; }
  [[nodiscard]] constexpr bool valid() const {
    return slots > 0 && slots <= kMostSlots && slot_bytes > 0 && slot_bytes <= kMostSlotBytes &&
           slot_bytes % kLineBytes == 0;
  }
};
static_assert(QueueShape::of(1, 48).slot_bytes == QueueShape::kLineBytes,
              "a short message travels in one cache line with its flag");

/// The sender's end. For one thread at a time.
class QueueSender {
 public:
  /// `memory` are the slots, shape.bytes(), at a multiple of a line; it and `taken` are zero before the first
  /// message, and the receiver's.
  QueueSender(const QueueShape& shape, std::span<std::byte> memory, const std::atomic<std::uint64_t>& taken)
      : shape_(shape), memory_(memory), taken_(taken) {}

  [[nodiscard]] const QueueShape& shape() const { return shape_; }
  enum class Room : std::uint8_t { free, full, broken };
  /// Whether there is a free slot. `broken`: the receiver says that it has taken what it cannot have.
  [[nodiscard]] Room room();
  /// Puts a message, the pieces one after the other, into the free slot that room() has found; `bytes` are
  /// all of theirs, at most shape().most(). It is published on return.
  void put(std::span<const Local> pieces, std::size_t bytes);

 private:
  const QueueShape shape_;
  const std::span<std::byte> memory_;
  const std::atomic<std::uint64_t>& taken_;
  std::uint64_t put_ = 0;
  std::uint64_t known_taken_ = 0;
  std::uint32_t slot_ = 0;
};

/// The receiver's end. For one thread at a time.
class QueueReceiver {
 public:
  QueueReceiver(const QueueShape& shape, std::span<std::byte> memory, std::atomic<std::uint64_t>& taken)
      : shape_(shape), memory_(memory), taken_(taken) {}

  enum class State : std::uint8_t {
    nothing,
    message,
    broken,  ///< the word is none that a sender writes; stays so
  };
  struct Look {
    State state = State::nothing;
    /// In its slot, until release(). Its size is checked; a dishonest sender could go on changing it.
    std::span<const std::byte> message = {};
  };
  /// The oldest message that was not released.
  [[nodiscard]] Look look() const;
  void release();

 private:
  const QueueShape shape_;
  const std::span<std::byte> memory_;
  std::atomic<std::uint64_t>& taken_;
  std::uint64_t released_ = 0;
  std::uint32_t slot_ = 0;
};

/// Copies `from` to `to`, which lies in memory of another process, byte after byte: whoever finds a byte in
/// place (by a load with acquire order) finds those before it, as behind a device.
void copy_in_order(std::byte* to, std::span<const std::byte> from);

}  // namespace rma::transport
