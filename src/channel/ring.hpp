#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace librma {

/// One direction of the eager ring between two processes: slots of one size in the receiver's memory. They
/// are used in order, each for one message at a time. (Liu, Wu, Kini, Wyckoff, Panda: High Performance
/// RDMA-Based MPI Implementation over InfiniBand, ICS 2003, section 4, with the differences named here.)
///
/// A slot, from its start:
///
///     8 bytes  head: size (4 bytes), 2 bytes of zero, the tail's value, the head's flag
///     size     the message
///     1 byte   tail
///
/// The sender has an image of the receiver's slots. It writes slot i of the image to slot i of the receiver
/// by one RDMA write of the bytes from the head to the tail. Nothing else writes to the receiver's slots;
/// even the receiver does not. The protocol needs only one property of that write: its bytes are placed in
/// the order of their addresses.
///
/// - The head's flag is the head's last byte. Its value alternates from one lap of the ring to the next, and
///   the slots begin as zero, so it always differs from the old byte there. If the receiver reads the flag of
///   this lap, the head is complete. Nobody has to clear the flag.
/// - The tail comes directly behind the message. The image tells the sender which byte is at that place in
///   the receiver's slot, left there by an earlier message. The tail gets the one of two values that differs
///   from that byte, and the head says which value it is. If the receiver reads that value, the message is
///   complete, whatever its contents are.
///
/// On one host the sender's "image" is the receiver's memory itself, which the sender has mapped. Then the
/// sender's release store of the head publishes the whole message to the receiver's acquire load, and no
/// further write is needed.
///
/// Both ends are for one thread at a time.
///
/// Why the library's other two rings do not serve here: a device writes this one. It promises no more than
/// the order of bytes, so a message needs the tail, and the sender needs the image. The sender does not
/// see what the receiver has taken either, so messages give the slots back. transport/shm/message_queue.hpp
/// and rings/line_ring.hpp are for processes that share the memory.
struct RingShape {
  std::size_t slots = 0;       ///< at least 1
  std::size_t slot_bytes = 0;  ///< a multiple of kLineBytes

  static constexpr std::size_t kLineBytes = 64;
  static constexpr std::size_t kHeadBytes = 8;
  static constexpr std::size_t kTailBytes = 1;

  /// Returns the size of the slots, and of their image. Both begin at a multiple of kLineBytes.
  [[nodiscard]] constexpr std::size_t bytes() const { return slots * slot_bytes; }
  /// Returns the size of the longest message of a slot.
  [[nodiscard]] constexpr std::size_t most() const { return slot_bytes - kHeadBytes - kTailBytes; }
  [[nodiscard]] constexpr bool valid() const {
    return slots > 0 && slots <= UINT32_MAX && slot_bytes >= kLineBytes && slot_bytes % kLineBytes == 0 &&
           slot_bytes <= UINT32_MAX;
  }
};

static_assert(RingShape{1, 64}.most() >= 48,
              "a short message travels in one cache line with its head and tail");

/// The next slot, and the flag for its head. The flags of two successive laps differ, and neither is zero.
/// The slot number wraps around at the end of a lap, so it never overflows.
class RingPlace {
 public:
  [[nodiscard]] std::size_t slot() const { return slot_; }
  [[nodiscard]] std::uint8_t flag() const { return flag_; }
  /// Returns the flag of the head before this lap's message comes. In the first lap it may also be zero.
  [[nodiscard]] std::uint8_t former_flag() const { return static_cast<std::uint8_t>(flag_ ^ kFlagBits); }

  void advance(std::size_t slots) {
    if (++slot_ < slots) return;
    slot_ = 0;
    flag_ = former_flag();
  }

 private:
  static constexpr std::uint8_t kFirstFlag = 0x5a;
  static constexpr std::uint8_t kFlagBits = 0xff;

  std::size_t slot_ = 0;
  std::uint8_t flag_ = kFirstFlag;
};

/// The sender's end.
class RingSender {
 public:
  /// A write that the caller carries out: `bytes`, to `offset` in the receiver's memory as in the image.
  struct Write {
    std::size_t offset;
    std::span<const std::byte> bytes;
  };

  /// @param memory  shape.bytes(): the image, which may hold anything at the start, or the receiver's slots
  ///                themselves, mapped here. It outlives this.
  RingSender(const RingShape& shape, std::span<std::byte> memory);

  /// Returns whether all slots wait for the receiver to give them back.
  [[nodiscard]] bool full() const { return in_use_ == shape_.slots; }
  [[nodiscard]] const RingShape& shape() const { return shape_; }

  /// Puts the message, its parts one after the other, into the next slot. The ring is not full(), and the
  /// message has at most shape().most() bytes. With an image, the caller carries out the result by one write
  /// that places bytes in the order of their addresses. It writes in the order of these calls. The slot of
  /// the image stays unchanged until the receiver gives it back, which means that the write has been placed.
  /// With mapped memory the message is published on return.
  Write put(std::span<const std::byte> first, std::span<const std::byte> second,
            std::span<const std::byte> third = {});

  /// Records that the receiver has dealt with `slots` messages more. Returns false and changes nothing if
  /// that is more than it owes: the caller should not trust it any more.
  [[nodiscard]] bool returned(std::uint32_t slots);

 private:
  const RingShape shape_;
  const std::span<std::byte> memory_;
  RingPlace next_;
  std::uint32_t in_use_ = 0;
};

/// The receiver's end.
class RingReceiver {
 public:
  enum class State : std::uint8_t {
    nothing,  ///< no message has arrived, or not all of it
    message,
    broken,  ///< no honest sender writes this head; a permanent state
  };
  struct Look {
    State state = State::nothing;
    std::span<const std::byte> message = {};  ///< lies in its slot; valid until release()
  };

  /// Zeroes `memory`, which has shape.bytes() and outlives this. It is not yet offered to the sender.
  RingReceiver(const RingShape& shape, std::span<std::byte> memory);

  [[nodiscard]] const RingShape& shape() const { return shape_; }

  /// Returns the oldest message that was not released. Its size has been checked. A dishonest sender can
  /// still change its contents, so the caller copies a field before it checks the field.
  [[nodiscard]] Look look();

  /// Ends the message of the last look(), and moves on to the next slot. The slot is free once the sender is
  /// told.
  void release();

  /// Returns the number of released slots that the sender has not been told of.
  [[nodiscard]] std::uint32_t unreturned() const { return unreturned_; }
  /// Returns the same number and resets it. The caller sends it to the sender's returned().
  [[nodiscard]] std::uint32_t take_returned();

 private:
  const RingShape shape_;
  const std::span<std::byte> memory_;
  RingPlace next_;
  std::uint32_t unreturned_ = 0;
  bool first_lap_ = true;
  bool broken_ = false;
};

}  // namespace librma
