#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace librma {

/// Copies at most 48 bytes, the body of a line, without a call. The blocks are disjoint. The first and the
/// last bytes go as one piece each, and the two pieces overlap if the size is no power of two.
[[gnu::always_inline]] inline void copy_short(std::byte* to, const std::byte* from, std::size_t bytes) {
  const auto copy_ends = [&](auto piece) __attribute__((always_inline)) {
    auto last = piece;
    std::memcpy(&piece, from, sizeof piece);
    std::memcpy(&last, from + bytes - sizeof last, sizeof last);
    std::memcpy(to, &piece, sizeof piece);
    std::memcpy(to + bytes - sizeof last, &last, sizeof last);
  };
  using Sixteen = unsigned __int128;
  if (bytes == sizeof(std::uint64_t)) {
    std::memcpy(to, from, sizeof(std::uint64_t));
  } else if (bytes > sizeof(std::uint64_t)) {
    if (bytes <= sizeof(Sixteen)) return copy_ends(std::uint64_t{});
    if (bytes > 2 * sizeof(Sixteen))
      std::memcpy(to + sizeof(Sixteen), from + sizeof(Sixteen), sizeof(Sixteen));
    copy_ends(Sixteen{});
  } else if (bytes >= sizeof(std::uint32_t)) {
    copy_ends(std::uint32_t{});
  } else if (bytes != 0) {
    to[0] = from[0];
    to[bytes / 2] = from[bytes / 2];
    to[bytes - 1] = from[bytes - 1];
  }
}

}  // namespace librma
