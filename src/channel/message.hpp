#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace librma {

/// The header in front of every message. It is a wire format in little-endian byte order, the order of all
/// platforms that this library supports. Readers check every field.
struct MessageHeader {
  /// A message that only carries the credits in its header.
  static constexpr std::uint16_t kCredits = 0;
  /// Messages that have waited for each other. The body consists of a CoalescedHeader and a body for each.
  static constexpr std::uint16_t kCoalesced = 0xfeff;
  /// Kinds from here on are control messages about rings; eager_rings.cpp describes them.
  static constexpr std::uint16_t kFirstOfRings = 0xff00;
  static constexpr std::uint16_t kRingOffered = 0xff00;   ///< a RingOffer follows
  static constexpr std::uint16_t kRingAccepted = 0xff01;  ///< messages may now come by the ring
  static constexpr std::uint16_t kRingStop = 0xff02;      ///< asks the sender to stop using the ring
  static constexpr std::uint16_t kRingStopped = 0xff03;   ///< the ring is not used any more, or declined

  std::uint32_t sequence = 0;  ///< number among the messages of one process to another, modulo 2^32
  std::uint32_t bytes = 0;     ///< size of the body, which follows the header
  std::uint16_t kind = kCredits;
  std::uint16_t credits = 0;       ///< how many more messages the peer may send
  std::uint16_t wants_more = 0;    ///< 1: more messages wait than there are credits
  std::uint16_t ring_credits = 0;  ///< how many more slots of its ring the peer may use

  /// Returns whether a message belongs to a user of the channel, and not to the channel itself.
  [[nodiscard]] static constexpr bool ordinary(std::uint16_t kind) {
    return kind != kCredits && kind < kCoalesced;
  }
};
static_assert(sizeof(MessageHeader) == 16);

/// The header of each message in the body of kCoalesced. Its body follows, and the next header at the next
/// multiple of its alignment.
struct alignas(8) CoalescedHeader {
  std::uint32_t bytes = 0;  ///< size of the message's body
  std::uint16_t kind = 0;   ///< an ordinary one
  std::uint16_t reserved = 0;
};
static_assert(sizeof(CoalescedHeader) == 8);

/// The body of kRingOffered: the address of the slots in the receiver's memory, and its device's remote key
/// for them.
struct RingOffer {
  std::uint64_t address = 0;
  std::uint64_t key = 0;
  std::uint32_t slots = 0;
  std::uint32_t slot_bytes = 0;
  std::uint32_t unsolicited_only = 0;  ///< 1: the ring takes messages of unsolicited kinds only
  std::uint32_t reserved = 0;
};
static_assert(sizeof(RingOffer) == 32);

/// Says whether the messages of a kind wake a receiver that computes.
enum class MessageEvent : std::uint8_t {
  solicited,    ///< the helper thread takes the message in
  unsolicited,  ///< the message waits until a thread of the program is inside the library
};

/// The path of a message: `queue` is the shared receive queue, whose messages wake a sleeping receiver;
/// `ring` is the ring that the receiver has offered to the sender, whose messages wake nobody.
enum class MessagePath : std::uint8_t { queue, ring };

/// A message that has arrived. It is valid only while its handler runs.
struct Message {
  int peer = -1;
  std::size_t rail = 0;  ///< the rail that it came by
  std::uint16_t kind = 0;
  std::span<const std::byte> body;
};

/// Takes in the messages of one kind (UCX: active message callback; GASNet: handler). One thread at a time
/// calls it. It never waits. Returns false if no honest peer sends this message; the peer is then given up.
using MessageHandler = std::function<bool(const Message&)>;

}  // namespace librma
