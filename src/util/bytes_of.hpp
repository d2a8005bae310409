#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

namespace librma {

/// Returns the bytes of a record as they lie in memory, which is also its wire format.
template <typename Wire>
[[nodiscard]] std::span<const std::byte> bytes_of(const Wire& wire) {
  static_assert(std::is_trivially_copyable_v<Wire>);
  return std::as_bytes(std::span(&wire, 1));
}
/// Returns the bytes of a record that is to be filled.
template <typename Wire>
[[nodiscard]] std::span<std::byte> writable_bytes_of(Wire& wire) {
  static_assert(std::is_trivially_copyable_v<Wire>);
  return std::as_writable_bytes(std::span(&wire, 1));
}

}  // namespace librma
