#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "util/copying/block_copies.hpp"

namespace librma {

/// Blocks of a power of two and up to the next one are a class, from kLeastBlock to the class of 8 MiB.
/// Longer blocks leave every cache and go by memcpy, which knows the sizes of the caches.
inline constexpr std::size_t kCopyClasses = 13;
inline constexpr std::size_t kMostBlock = (kLeastBlock << kCopyClasses) - 1;

/// Returns the class of a block of kLeastBlock to kMostBlock bytes.
[[nodiscard]] inline std::size_t copy_class(std::size_t bytes) {
  return static_cast<std::size_t>(std::bit_width(bytes) - std::bit_width(kLeastBlock));
}
/// Returns the least size of a class in bytes.
[[nodiscard]] constexpr std::size_t copy_class_bytes(std::size_t size_class) {
  return kLeastBlock << size_class;
}

/// Says for each class which method is the fastest on a host's processor. Its bytes are its wire format.
struct CopyTable {
  /// Whether source and destination lie alike in their cache lines: [0] they do not, [1] they do.
  using Row = std::array<CopyMethod, kCopyClasses>;
  std::array<Row, 2> methods = {};

  /// Returns a table with this method everywhere.
  [[nodiscard]] static CopyTable of(CopyMethod method);
  /// Returns whether each entry is a method.
  [[nodiscard]] bool well_formed() const;
  /// Returns whether this processor has all methods of the table, which is well_formed().
  [[nodiscard]] bool usable() const;
};

/// A size that is measured. Its result holds for the classes from `first_class` up to that of the next size.
struct CopyProbe {
  std::size_t bytes;
  std::size_t first_class;
};
inline constexpr std::array<CopyProbe, 4> kCopyProbes = {{
    {.bytes = 4096, .first_class = 0},
    {.bytes = 16384, .first_class = 2},
    {.bytes = 32768, .first_class = 4},
    {.bytes = 65536, .first_class = 5},
}};

/// The nanoseconds that a block takes.
struct CopyTimes {
  /// By CopyMethod. 0: not measured.
  using OfMethods = std::array<double, kCopyMethods>;
  /// By alignment, as in CopyTable, and probe.
  std::array<std::array<OfMethods, kCopyProbes.size()>, 2> at = {};
};

/// The processor time that a process may take to measure.
inline constexpr std::chrono::microseconds kCopyBudget{300};

/// Measures the methods on this processor, the longest blocks first, and begins no size after `budget` of
/// processor time.
/// CopyMethod::stream is not a candidate: a copy is made for somebody who reads it next, and behind such
/// stores he waits for the memory.
[[nodiscard]] CopyTimes time_copies(std::chrono::nanoseconds budget);

/// Returns the fastest methods. Sizes that were not measured go by memcpy.
[[nodiscard]] CopyTable fastest_copies(const CopyTimes& times);

/// Makes this process copy by `table`, which is usable(). Other threads may copy at the same time.
void use_copies(const CopyTable& table);

namespace internal {
/// The functions in use, by alignment and class as in CopyTable. Read and written by atomic_ref, relaxed:
/// every value is a right function, and no data depend on which one.
extern std::array<std::array<BlockCopy, kCopyClasses>, 2> copies_in_use;

/// Copies `bytes` in the way that is fastest for blocks of `like` bytes, kLeastBlock to kMostBlock.
inline void copy_block_like(void* dst, const void* src, std::size_t bytes, std::size_t like) {
  constexpr std::uintptr_t kLine = 64;
  const auto apart = reinterpret_cast<std::uintptr_t>(dst) ^ reinterpret_cast<std::uintptr_t>(src);
  BlockCopy& copy = copies_in_use[apart % kLine == 0 ? 1 : 0][copy_class(like)];
  std::atomic_ref(copy).load(std::memory_order_relaxed)(dst, src, bytes);
}
}  // namespace internal

/// Copies between mapped memory like memcpy, in the fastest way for the size.
inline void copy_mapped(void* dst, const void* src, std::size_t bytes) {
  if (bytes - kLeastBlock > kMostBlock - kLeastBlock) {  // wraps around for shorter ones
    std::memcpy(dst, src, bytes);
    return;
  }
  internal::copy_block_like(dst, src, bytes, bytes);
}

}  // namespace librma
