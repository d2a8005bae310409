#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

namespace librma {

/// The claims on the pieces of a message that two processes copy together (SharedCopy). It lies in memory
/// that both have mapped. One process takes pieces from the front and the other one from the back, so that
/// each stores into the same parts of a buffer that is used again: the cache lines that it owns.
/// Each transfer has a number, so a process that comes late takes no piece of the next one.
struct alignas(64) PieceClaims {
  enum class End : std::uint8_t { front, back };
  static constexpr std::uint32_t kMostPieces = 0xffff;

  /// The number of the transfer (high half), the pieces taken from the back, and those from the front.
  std::atomic<std::uint64_t> word = 0;

  /// Begins a transfer. The message that tells the other process of it is published later, with release
  /// order.
  void open(std::uint32_t transfer) {
    word.store(static_cast<std::uint64_t>(transfer) << 32U, std::memory_order_relaxed);
  }
  /// Takes the next piece of a transfer of so many pieces, kMostPieces at most. Returns no value if all are
  /// taken or the transfer is over. Relaxed: the pieces have nothing to do with each other, and messages tell
  /// of their contents.
  [[nodiscard]] std::optional<std::uint32_t> take(std::uint32_t transfer, std::uint32_t pieces, End end) {
    std::uint64_t now = word.load(std::memory_order_relaxed);
    for (;;) {
      const std::uint32_t from_front = now & 0xffffU;
      const std::uint32_t from_back = (now >> 16U) & 0xffffU;
      if (now >> 32U != transfer || from_front + from_back >= pieces) return std::nullopt;
      const std::uint64_t taken = end == End::front ? 1 : 1U << 16U;
      if (word.compare_exchange_weak(now, now + taken, std::memory_order_relaxed)) {
        return end == End::front ? from_front : pieces - 1 - from_back;
      }
    }
  }
};
static_assert(sizeof(PieceClaims) == 64);

}  // namespace librma
