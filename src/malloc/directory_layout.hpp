#pragma once

#include <cstddef>
#include <cstdint>

#include "fabric/registrar.hpp"

namespace rma {

/// The layout of a directory of regions, in 64-bit words. region_table.hpp has the picture.
namespace directory {

inline constexpr std::size_t kHeaderWords = 8;      // the version, alone in its cache line
inline constexpr std::size_t kCopyHeaderWords = 8;  // the number of entries
inline constexpr std::size_t kEntryWords = 8;
enum Word : std::size_t { kBase, kBytes, kGenerationAndFlags, kReach, kKeys };

/// Returns the third word of an entry. Its lowest byte holds the flags.
constexpr std::uint64_t generation_and_flags(std::uint64_t generation, std::uint32_t flags) {
  return generation << 8U | flags;
}
constexpr std::uint64_t generation_of(std::uint64_t word) { return word >> 8U; }
constexpr std::uint32_t flags_of(std::uint64_t word) { return static_cast<std::uint32_t>(word & 0xffU); }

constexpr std::size_t copy_words(std::size_t capacity) { return kCopyHeaderWords + capacity * kEntryWords; }
constexpr std::size_t bytes_for(std::size_t capacity) {
  return (kHeaderWords + 2 * copy_words(capacity)) * sizeof(std::uint64_t);
}
/// Returns the largest capacity whose directory fits into `bytes` bytes; 0 if none does.
constexpr std::size_t capacity_of(std::size_t bytes) {
  const std::size_t words = bytes / sizeof(std::uint64_t);
  const std::size_t fixed = kHeaderWords + 2 * kCopyHeaderWords;
  return words < fixed ? 0 : (words - fixed) / (2 * kEntryWords);
}
/// Returns the index of the first word of the copy that is current in this version.
constexpr std::size_t copy_at(std::uint64_t version, std::size_t capacity) {
  return kHeaderWords + (version & 1U) * copy_words(capacity);
}
constexpr std::size_t entry_at(std::size_t copy, std::size_t index) {
  return copy + kCopyHeaderWords + index * kEntryWords;
}

static_assert(kEntryWords * sizeof(std::uint64_t) == 64, "an entry is a cache line");
static_assert(kKeys + kMaxRails == kEntryWords);
static_assert(capacity_of(bytes_for(1024)) == 1024 && capacity_of(bytes_for(1024) - 1) == 1023);

}  // namespace directory
}  // namespace rma
