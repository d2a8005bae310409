#pragma once

#include <atomic>
#include <cstdint>

namespace librma {

/// The kinds of objects that handles of the C interface name.
enum class HandleKind : std::uint8_t { team = 0x54, mutexes = 0x4d, context = 0x43 };

/// Returns the value of a new handle. Its high byte is the kind. The rest is a number that this process
/// never gives out again, even after the object is freed or the library is finalized. So a stale handle
/// never names another object. The value is never a valid address, because no address of a 64-bit process
/// has such a high byte.
[[nodiscard]] inline std::uintptr_t new_handle(HandleKind kind) {
  static_assert(sizeof(std::uintptr_t) == sizeof(std::uint64_t));
  static constinit std::atomic<std::uint64_t> given_out = 0;
  // Relaxed: the values need only be distinct.
  return static_cast<std::uintptr_t>(kind) << 56U | (given_out.fetch_add(1, std::memory_order_relaxed) + 1);
}

}  // namespace librma
