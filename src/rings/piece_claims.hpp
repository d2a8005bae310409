#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

namespace librma {

/// The claims on the pieces of a message that two processes copy together (SharedCopy). It lies in memory
/// that both have mapped. Each transfer has a number, so a process that comes late takes no piece of the next
/// one.
struct alignas(64) PieceClaims {
  std::atomic<std::uint64_t> word = 0;  ///< number of the transfer (high half), next piece (low half)

  /// Begins a transfer. The message that tells the other process of it is published later, with release
  /// order.
  void open(std::uint32_t transfer) {
    word.store(static_cast<std::uint64_t>(transfer) << 32U, std::memory_order_relaxed);
  }
  /// Takes the next piece of a transfer of so many pieces. Returns no value if all are taken or the transfer
  /// is over. Relaxed: the pieces have nothing to do with each other, and messages tell of their contents.
  [[nodiscard]] std::optional<std::uint32_t> take(std::uint32_t transfer, std::uint32_t pieces) {
    std::uint64_t now = word.load(std::memory_order_relaxed);
    while (now >> 32U == transfer && static_cast<std::uint32_t>(now) < pieces) {
      if (word.compare_exchange_weak(now, now + 1, std::memory_order_relaxed)) {
        return static_cast<std::uint32_t>(now);
      }
    }
    return std::nullopt;
  }
};
static_assert(sizeof(PieceClaims) == 64);

}  // namespace librma
