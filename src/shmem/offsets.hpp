#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace rma::shmem {

/// Decides where the blocks of the symmetric heap lie, by offsets from its base. It looks at nothing but the calls that
/// were made before, so PEs that make the same calls get the same offsets without communication. Not thread-safe.
class Offsets {
 public:
  /// All blocks begin at multiples of this number of bytes, a cache line, and no two share one.
  static constexpr std::size_t kUnit = 64;

  explicit Offsets(std::size_t bytes);

  /// Returns the offset of a block of `bytes` bytes, above 0, that is a multiple of `alignment`, a power of two. Returns
  /// nothing if there is no room.
  std::optional<std::size_t> take(std::size_t bytes, std::size_t alignment);
  /// Frees the block that begins at `offset`. Returns false if there is none.
  bool give(std::size_t offset);
  /// Returns the size of the block that begins at `offset`, in whole units.
  [[nodiscard]] std::optional<std::size_t> size_at(std::size_t offset) const;

 private:
  using Range = std::pair<std::size_t, std::size_t>;  ///< begin and end

  void insert(std::size_t begin, std::size_t end);
  void erase(std::size_t begin, std::size_t end);

  std::map<std::size_t, std::size_t> blocks_;              ///< size by offset
  std::map<std::size_t, std::size_t> free_;                ///< end by begin; no two ranges touch
  std::set<std::pair<std::size_t, std::size_t>> by_size_;  ///< the same: size and begin
};

}  // namespace rma::shmem
