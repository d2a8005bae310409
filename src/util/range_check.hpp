#pragma once

#include <cstddef>
#include <cstdint>

namespace librma {

/// Returns whether a range of `size` bytes contains the `bytes` bytes that begin `offset` bytes behind its
/// start. For addresses `offset` is the difference of two, which is large for an address before the range. No
/// sum overflows. (rma/direct.h repeats this check, because it is public and C.)
[[nodiscard]] constexpr bool range_contains(std::size_t size, std::uintptr_t offset, std::size_t bytes) {
  return bytes <= size && offset <= size - bytes;
}

}  // namespace librma
