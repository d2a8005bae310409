#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rma {

/// In front of every message: a wire format in the byte order of this library's only platforms,
/// little-endian, checked when read.
struct MessageHeader {
  /// A message that says nothing but what stands in its header.
  static constexpr std::uint16_t kCredits = 0;
  /// Kinds from here on are what channels say to each other about rings; see channel_rings.cpp.
  static constexpr std::uint16_t kFirstOfRings = 0xff00;
  static constexpr std::uint16_t kRingOffered = 0xff00;   ///< a RingOffer follows
  static constexpr std::uint16_t kRingAccepted = 0xff01;  ///< of the offer: messages may come by the ring
  static constexpr std::uint16_t kRingStop = 0xff02;      ///< asks for the next
  static constexpr std::uint16_t kRingStopped = 0xff03;   ///< no more comes by the ring; or it is not wanted

  std::uint32_t sequence = 0;  ///< of the messages of one process to another, modulo 2^32
  std::uint32_t bytes = 0;     ///< behind the header
  std::uint16_t kind = kCredits;
  std::uint16_t credits = 0;       ///< messages more that the peer may send
  std::uint16_t wants_more = 0;    ///< 1: more is waiting than there are credits for
  std::uint16_t ring_credits = 0;  ///< slots more of its ring that the peer may use

  /// One of its user's, not one of the channel's own.
  [[nodiscard]] static constexpr bool ordinary(std::uint16_t kind) {
    return kind != kCredits && kind < kFirstOfRings;
  }
};
static_assert(sizeof(MessageHeader) == 16);

/// Body of kRingOffered: where the slots lie in the memory of who offers them, and its device's key to them.
struct RingOffer {
  std::uint64_t address = 0;
  std::uint32_t key = 0;
  std::uint32_t slots = 0;
  std::uint32_t slot_bytes = 0;
  std::uint32_t reserved = 0;
};
static_assert(sizeof(RingOffer) == 24);

/// How a message travels: to a buffer of the shared receive queue, which wakes a sleeping receiver, or into
/// the ring that the receiver has offered to the sender, which wakes nobody.
enum class MessageWay : std::uint8_t { queue, ring };

/// A message that has arrived. Valid while its receiver looks at it.
struct Message {
  int peer = -1;
  std::size_t rail = 0;  ///< that it came by
  std::uint16_t kind = 0;
  std::span<const std::byte> body;
};

/// Who takes in messages. Called by one thread at a time; never waits.
class MessageReceiver {
 public:
  MessageReceiver() = default;
  MessageReceiver(const MessageReceiver&) = delete;
  MessageReceiver& operator=(const MessageReceiver&) = delete;
  virtual ~MessageReceiver() = default;

  virtual void receive(const Message& message) = 0;
  /// Called when what has arrived has been taken in: to do what had to wait. Returns whether something moved.
  virtual bool advance() = 0;
  /// Nothing more comes from `peer`, and nothing more goes there. Once for each.
  virtual void lost(int peer) = 0;
};

}  // namespace rma
