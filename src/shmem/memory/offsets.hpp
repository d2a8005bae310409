#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "util/free_ranges.hpp"

namespace librma::shmem {

/// Decides where the blocks of the symmetric heap lie, by offsets from its base. It looks at nothing but the
/// calls that were made before, so PEs that make the same calls get the same offsets without communication.
/// It keeps the last small blocks that were freed for the next ones of their sizes, which is several times as
/// fast as to join them with the free room around them. Not thread-safe.
class Offsets {
 public:
  /// All blocks begin at multiples of this number of bytes, a cache line, and no two share one.
  static constexpr std::size_t kUnit = 64;

  explicit Offsets(std::size_t bytes);
  Offsets(Offsets&&) = default;  // a copy would have iterators of the original

  /// Returns the offset of a block of `bytes` bytes, above 0, that is a multiple of `alignment`, a power of
  /// two. Returns nothing if there is no room.
  std::optional<std::size_t> take(std::size_t bytes, std::size_t alignment);
  /// Frees the block that begins at `offset`. Returns false if there is none.
  bool give(std::size_t offset);
  /// Returns the size of the block that begins at `offset`, in whole units.
  [[nodiscard]] std::optional<std::size_t> size_at(std::size_t offset) const;

 private:
  struct OffsetBlock {
    std::size_t size = 0;
    bool kept = false;  ///< it is freed, and in `kept_`
  };
  using Blocks = std::map<std::size_t, OffsetBlock>;  ///< by offset

  /// The most freed blocks that are kept, and the largest.
  static constexpr std::size_t kMostKept = 8;
  static constexpr std::size_t kLargestKept = 4096;

  /// Returns a kept block of this size, or nothing.
  std::optional<std::size_t> take_kept(std::size_t whole, std::size_t alignment);
  /// Removes a block, and joins its room with the free room around it.
  void join(Blocks::iterator block);

  Blocks blocks_;
  std::vector<Blocks::iterator> kept_;  ///< in the order in which they were freed
  FreeRanges free_;
};

}  // namespace librma::shmem
