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

  std::uint32_t sequence = 0;  ///< of the messages of one process to another, modulo 2^32
  std::uint32_t bytes = 0;     ///< behind the header
  std::uint16_t kind = kCredits;
  std::uint16_t credits = 0;     ///< messages more that the peer may send
  std::uint16_t wants_more = 0;  ///< 1: more is waiting than there are credits for
  std::uint16_t reserved = 0;
};
static_assert(sizeof(MessageHeader) == 16);

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
