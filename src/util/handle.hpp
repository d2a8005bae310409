#pragma once

#include <atomic>
#include <cstdint>

namespace rma {

/// What a handle of the C interface stands for.
enum class HandleKind : std::uint8_t { team = 0x54, mutexes = 0x4d };

/// A value for a new handle: in the high byte its kind, below a number that this process never gives out
/// again, whatever is freed and however often the library is finalized. So a handle that has become stale is
/// never another's. It is no address: none on any 64-bit processor has such a high byte.
[[nodiscard]] inline std::uintptr_t new_handle(HandleKind kind) {
  static_assert(sizeof(std::uintptr_t) == sizeof(std::uint64_t));
  static constinit std::atomic<std::uint64_t> given_out = 0;
  // Relaxed: only that no two are equal matters.
  return static_cast<std::uintptr_t>(kind) << 56U | (given_out.fetch_add(1, std::memory_order_relaxed) + 1);
}

}  // namespace rma
