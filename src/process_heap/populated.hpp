#pragma once

#include <cstddef>

namespace librma::process_heap {

/// Which pages of the range have memory, in pieces of 64 KiB. Each piece is populated as a whole when
/// jemalloc begins to use it. One at a time, at its first touch, a page of a shared file takes 1.3 times as
/// long as one of private memory, and several at a time take 1.06 times as long (docs/process_heap.md).
class Populated {
 public:
  constexpr Populated() = default;

  /// Makes room for the marks of a range of `bytes` bytes at `base`. Without memory for them, nothing is
  /// populated ahead.
  void watch(std::byte* base, std::size_t bytes) noexcept;

  /// jemalloc begins to use [address, address + bytes). Populates the pieces that this touches. Thread-safe.
  void use(std::byte* address, std::size_t bytes) noexcept;

  /// The pages of [address, address + bytes) have no memory any more. Thread-safe.
  void forget(std::byte* address, std::size_t bytes) noexcept;

 private:
  std::byte* base_ = nullptr;
  unsigned char* marks_ = nullptr;  ///< a byte for a piece; null: nothing is populated ahead
};

extern Populated populated;

}  // namespace librma::process_heap
