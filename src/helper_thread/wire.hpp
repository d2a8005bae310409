#pragma once

#include <cstddef>
#include <cstdint>

// What processes say to each other's helpers: wire formats in the byte order of this library's only
// platforms, little-endian, checked when read.

namespace rma {

/// Kinds of messages (MessageHeader::kind). This folder has 1 to 7, atomics 8 to 15, strided 16 to 23.
inline constexpr std::uint16_t kRequestMessage = 1;
inline constexpr std::uint16_t kReplyMessage = 2;
/// Tokens (8 bytes each) of unacknowledged requests that have been served.
inline constexpr std::uint16_t kDoneMessage = 3;

/// Requests of one rank to another that may be open at the same time. Whoever asks for more waits, so the
/// answers and requests that a rank keeps for another are bounded.
inline constexpr std::size_t kMostOpenRequests = 4096;

/// What a helper is asked to do. Each is served by the folder that it belongs to.
enum class RequestKind : std::uint16_t { put, get, accumulate, atomic, lock, unlock, poke, count_ };

/// In front of a request. Its body follows, or lies in the asker's memory.
struct RequestHeader {
  std::uint64_t token = 0;          ///< the asker's, repeated in the reply
  std::uint64_t body_address = 0;   ///< of a body in the asker's memory; 0 when it follows
  std::uint64_t reply_address = 0;  ///< where a long reply goes
  std::uint64_t body_key = 0;
  std::uint64_t reply_key = 0;
  std::uint32_t body_bytes = 0;
  std::uint32_t reply_room = 0;  ///< bytes that a reply may have
  RequestKind kind = RequestKind::count_;
  std::uint16_t unacknowledged = 0;  ///< 1: nobody waits for this reply alone; see kDoneMessage
  std::uint32_t reserved = 0;
};
static_assert(sizeof(RequestHeader) == 56);

/// In front of a reply. Its body follows, or has been written to `reply_address`.
struct ReplyHeader {
  std::uint64_t token = 0;
  std::int32_t status = 0;
  std::uint32_t bytes = 0;
  std::uint32_t written = 0;  ///< 1: to reply_address
  std::uint32_t reserved = 0;
};
static_assert(sizeof(ReplyHeader) == 24);

}  // namespace rma
