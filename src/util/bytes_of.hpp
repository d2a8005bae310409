#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

namespace rma {

/// The bytes of a record that is its own wire format, as it lies in memory.
template <typename Wire>
[[nodiscard]] std::span<const std::byte> bytes_of(const Wire& wire) {
  static_assert(std::is_trivially_copyable_v<Wire>);
  return std::as_bytes(std::span(&wire, 1));
}

}  // namespace rma
