#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "helper_thread/wire.hpp"

// An input of the fuzzer: what one rank does to another, record after record. A record is one byte that says
// what, two of the length, and as many of the payload; the last may be cut off.

namespace rma::fuzz {

enum class Act : std::uint8_t {
  request,  ///< a message that is a request, behind an honest header
  reply,    ///< one that is a reply
  message,  ///< one of the kind that the first two bytes say
  raw,      ///< a message, header and all
  layout,   ///< no message: a layout to be decoded
  ask,      ///< the victim asks for something, with room for as many bytes as the first two bytes say
  move,     ///< the victim starts a host-assisted transfer with the attacker: a get if the first byte is odd
  scatter,  ///< the attacker posts memory for so many bytes of a gather as the first two bytes say
  gather,   ///< it gathers as many into what the victim has posted
  count_
};

/// Memory of the victim that it has given out, at an address that inputs can name; and memory of the
/// attacker's, with the key that it has there, for bodies and answers.
inline constexpr std::uintptr_t kArena = 0x200000000000;
inline constexpr std::uintptr_t kAttackers = 0x210000000000;
inline constexpr std::size_t kArenaBytes = 65536;
inline constexpr std::uint32_t kAttackersKey = 1;
/// Of the arena, so much is registered; and where in it the mutexes are that others may ask for.
inline constexpr std::size_t kRegisteredBytes = 49152;
inline constexpr std::uintptr_t kMutexes = kArena + 32768;
inline constexpr std::size_t kMutexCount = 4;

struct Record {
  Act act = Act::count_;
  std::span<const std::uint8_t> payload;
};

/// Takes the next record off; false at the end.
inline bool next_record(std::span<const std::uint8_t>& input, Record& record) {
  constexpr std::size_t kHead = 3;
  if (input.size() < kHead) return false;
  record.act = static_cast<Act>(input[0] % static_cast<unsigned>(Act::count_));
  const auto length =
      std::min<std::size_t>(input[1] | static_cast<std::size_t>(input[2]) << 8U, input.size() - kHead);
  record.payload = input.subspan(kHead, length);
  input = input.subspan(kHead + length);
  return true;
}

/// Builds inputs.
class Writer {
 public:
  using Payload = std::vector<std::uint8_t>;

  template <typename Wire>
  static Payload& append(Payload& payload, const Wire& wire) {
    const std::size_t at = payload.size();
    payload.resize(at + sizeof wire);
    std::memcpy(payload.data() + at, &wire, sizeof wire);
    return payload;
  }
  void record(Act act, const Payload& payload) {
    bytes_.push_back(static_cast<std::uint8_t>(act));
    bytes_.push_back(static_cast<std::uint8_t>(payload.size()));
    bytes_.push_back(static_cast<std::uint8_t>(payload.size() >> 8U));
    bytes_.insert(bytes_.end(), payload.begin(), payload.end());
  }
  /// A request with its body, which lies with the attacker if `far`, and so much room for the answer.
  void request(RequestKind kind, const Payload& body, std::uint32_t room, bool far = false) {
    RequestHeader header = {.reply_address = kAttackers,
                            .body_bytes = static_cast<std::uint32_t>(body.size()),
                            .reply_key = kAttackersKey,
                            .reply_room = room,
                            .kind = kind};
    if (far) {
      header.body_address = kAttackers;
      header.body_key = kAttackersKey;
    }
    Payload payload;
    append(payload, header);
    if (!far) payload.insert(payload.end(), body.begin(), body.end());
    record(Act::request, payload);
  }
  [[nodiscard]] const Payload& bytes() const { return bytes_; }

 private:
  Payload bytes_;
};

}  // namespace rma::fuzz
