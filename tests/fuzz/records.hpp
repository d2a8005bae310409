#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "helper_thread/wire.hpp"

// An input of the fuzzer: a list of records, which say what one rank does to another. A record is one byte
// for the kind, two bytes for the length, and the payload. The last record may be cut off.

namespace librma::fuzz {

enum class Act : std::uint8_t {
  request,  ///< a message that is a request, behind an honest header
  reply,    ///< a message that is a reply
  message,  ///< a message; the first two bytes are its kind
  raw,      ///< a message, header and all
  layout,   ///< not a message, but a layout to be decoded
  ask,      ///< the victim sends a request; the first two bytes are the size of the room for the answer
  move,     ///< the victim starts a host-assisted transfer with the attacker: a get if the first byte is odd
  scatter,  ///< the attacker posts memory for a gather; the first two bytes are its size
  gather,   ///< the attacker gathers as many bytes into memory that the victim has posted
  count_
};

/// Memory that the victim has allocated, at an address that inputs can name; and memory of the attacker, with
/// its key, for bodies and answers.
inline constexpr std::uintptr_t kArena = 0x200000000000;
inline constexpr std::uintptr_t kAttackers = 0x210000000000;
inline constexpr std::size_t kArenaBytes = 65536;
inline constexpr std::uint64_t kAttackersKey = (std::uint64_t{1} << 40U) + 1;
/// The size of the arena's registered part, and the offset of the mutexes that other ranks may ask for.
inline constexpr std::size_t kRegisteredBytes = 49152;
inline constexpr std::uintptr_t kMutexes = kArena + 32768;
inline constexpr std::size_t kMutexCount = 4;

struct Record {
  Act act = Act::count_;
  std::span<const std::uint8_t> payload;
};

/// Takes the next record. Returns false at the end.
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
  /// Adds a request with its body and `room` for the answer. If `far`, the body lies in
  /// the attacker's memory.
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

}  // namespace librma::fuzz
