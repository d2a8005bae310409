#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

// What the files of MessageWorld share: how they read the payload of a record, and what its messages contain.

namespace librma::hostile {

/// The context of all messages between the victim and the attacker.
inline constexpr std::uint32_t kContext = 1;
/// Data that the victim sends to the attacker.
inline constexpr std::byte kGiven{0x5a};

inline std::span<const std::byte> as_bytes(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()};
}

/// Takes a number from the front of a payload; 0 if there is none.
template <typename Number>
Number number(std::span<const std::uint8_t>& payload) {
  Number value = 0;
  if (payload.size() >= sizeof value) std::memcpy(&value, payload.data(), sizeof value);
  payload = payload.subspan(std::min(payload.size(), sizeof value));
  return value;
}

}  // namespace librma::hostile
