#pragma once

#include <cstddef>
#include <cstdint>

// The wire formats of messages between processes and each other's helpers. They are little-endian, the byte
// order of all platforms that this library supports. Readers check every field.

namespace librma {

/// Kinds of messages (MessageHeader::kind). This folder has 1 to 7, atomics 8 to 15, strided 16 to 23.
inline constexpr std::uint16_t kRequestMessage = 1;
inline constexpr std::uint16_t kReplyMessage = 2;
/// Tokens (8 bytes each) of unacknowledged requests that have been served.
inline constexpr std::uint16_t kDoneMessage = 3;
/// An active message (AM) of the program (rma/active_messages.h).
inline constexpr std::uint16_t kActiveMessage = 4;
/// Offers a ring for active messages within a host: an ActiveRingOffer.
inline constexpr std::uint16_t kActiveRing = 5;
/// Makes the receiver look at its rings of active messages, and send what waited for room. No body.
inline constexpr std::uint16_t kActiveCall = 6;

/// The most requests of one rank to another that may be open at the same time. A thread that sends more
/// waits. This bounds the answers and requests that a rank keeps for another.
inline constexpr std::size_t kMostOpenRequests = 4096;

/// The kinds of requests to a helper (active messages, AM, elsewhere). The folder that a kind belongs to
/// serves it.
enum class RequestKind : std::uint16_t {
  put,
  get,
  accumulate,
  atomic,
  lock,
  unlock,
  poke,
  holder,
  leave,
  count_
};

/// The header of a request. The body follows it, or lies in the asker's memory.
struct RequestHeader {
  std::uint64_t token = 0;          ///< the asker's number of the request; the reply repeats it
  std::uint64_t body_address = 0;   ///< address of the body in the asker's memory; 0 if it follows
  std::uint64_t reply_address = 0;  ///< the address for a long reply
  std::uint64_t body_key = 0;
  std::uint64_t reply_key = 0;
  std::uint32_t body_bytes = 0;
  std::uint32_t reply_room = 0;  ///< most bytes of the reply
  RequestKind kind = RequestKind::count_;
  std::uint16_t unacknowledged = 0;  ///< 1: no thread waits for this reply alone; see kDoneMessage
  std::uint32_t reserved = 0;
};
static_assert(sizeof(RequestHeader) == 56);

/// The header of a reply. The body follows it, or has been written to `reply_address`.
struct ReplyHeader {
  std::uint64_t token = 0;
  std::int32_t status = 0;
  std::uint32_t bytes = 0;
  std::uint32_t written = 0;  ///< 1: the body has been written to reply_address
  std::uint32_t reserved = 0;
};
static_assert(sizeof(ReplyHeader) == 24);

/// The forms of an active message (AM). Behind the header come its words (8 bytes each); a long one and
/// `data` then have an ActivePlace; then comes the payload, if the message carries it.
enum class ActiveForm : std::uint8_t {
  words,         ///< a short message
  medium,        ///< with a payload
  long_carried,  ///< a long message with its payload
  long_put,      ///< a long message whose payload is in place already
  data,          ///< a part of the payload of a long reply that follows
  done,          ///< only says how many requests are done
  count_
};

/// The header of an active message (AM).
struct ActiveHeader {
  std::uint8_t handler = 0;
  ActiveForm form = ActiveForm::words;
  std::uint8_t words = 0;
  std::uint8_t reply = 0;  ///< 1: answers one request of the receiver
  std::uint16_t done = 0;  ///< so many other requests of the receiver have been handled, and get no reply
  std::uint16_t reserved = 0;
};
static_assert(sizeof(ActiveHeader) == 8);

/// The ring for active messages to the receiver, in the sender's heap. ActiveRings::sizes() has its sizes.
struct ActiveRingOffer {
  std::uint64_t address = 0;
};

/// The place of a long message's payload in the receiver's memory.
struct ActivePlace {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

}  // namespace librma
