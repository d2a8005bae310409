#pragma once

#include <cstddef>
#include <cstdint>

// The wire formats of requests and answers, in little-endian byte order. Their readers check them.

namespace rma {

/// Kinds of messages (MessageHeader::kind). This folder has 1 to 7, atomics 8 to 15, strided 16 to 23.
inline constexpr std::uint16_t kRequestMessage = 1;
inline constexpr std::uint16_t kReplyMessage = 2;
/// Tokens (8 bytes each) of unacknowledged requests that have been served.
inline constexpr std::uint16_t kDoneMessage = 3;

/// The maximum number of requests of one rank to another that are open at the same time. A rank with more
/// waits, so the requests and answers that a rank keeps for another are bounded.
inline constexpr std::size_t kMostOpenRequests = 4096;

/// The kinds of requests. The folder that a kind belongs to serves it.
enum class RequestKind : std::uint16_t { put, get, accumulate, atomic, lock, unlock, poke, count_ };

/// The header of a request. The body follows, or lies in the asker's memory.
struct RequestHeader {
  std::uint64_t token = 0;          ///< chosen by the asker, repeated in the reply
  std::uint64_t body_address = 0;   ///< of a body in the asker's memory; 0 if the body follows
  std::uint64_t reply_address = 0;  ///< for a long reply
  std::uint64_t body_key = 0;
  std::uint64_t reply_key = 0;
  std::uint32_t body_bytes = 0;
  std::uint32_t reply_room = 0;  ///< the maximum size of the reply's body
  RequestKind kind = RequestKind::count_;
  std::uint16_t unacknowledged = 0;  ///< 1: only a fence waits for the reply; see kDoneMessage
  std::uint32_t reserved = 0;
};
static_assert(sizeof(RequestHeader) == 56);

/// The header of a reply. The body follows, or has been written to `reply_address`.
struct ReplyHeader {
  std::uint64_t token = 0;
  std::int32_t status = 0;
  std::uint32_t bytes = 0;
  std::uint32_t written = 0;  ///< 1: the body was written to reply_address
  std::uint32_t reserved = 0;
};
static_assert(sizeof(ReplyHeader) == 24);

}  // namespace rma
