#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace librma {

/// The numbers that this process may give to objects that several ranks share, so that ranks need not agree
/// on a number. The 2^kBits numbers from a base on are divided evenly among the ranks. A number that comes
/// back is the first to be drawn again. Thread-safe.
class NumberPool {
 public:
  static constexpr unsigned kBits = 28;  ///< of the numbers of all ranks together

  NumberPool(std::uint32_t base, int rank, int ranks)
      : own_bits_(kBits - static_cast<unsigned>(std::bit_width(static_cast<unsigned>(ranks) - 1U))),
        first_(base + (static_cast<std::uint32_t>(rank) << own_bits_)) {}

  /// Returns a number, or no value if all of this process are in use. Throws std::bad_alloc.
  [[nodiscard]] std::optional<std::uint32_t> draw() {
    const std::lock_guard guard(lock_);
    if (!free_.empty()) {
      const std::uint32_t number = free_.back();
      free_.pop_back();
      return number;
    }
    if (drawn_ == size()) return std::nullopt;
    // No number needs memory when it comes back. The list grows by factors: one of its size for each number
    // would cost quadratic time.
    if (free_.capacity() <= drawn_) free_.reserve(std::size_t{2} * drawn_ + 16);
    return first_ + drawn_++;
  }
  /// Takes back a number that was drawn.
  void give_back(std::uint32_t number) {
    const std::lock_guard guard(lock_);
    free_.push_back(number);
  }

  /// Returns how many numbers each rank has.
  [[nodiscard]] std::uint32_t size() const { return std::uint32_t{1} << own_bits_; }
  /// Returns how many different numbers this process has drawn.
  [[nodiscard]] std::uint32_t drawn() const {
    const std::lock_guard guard(lock_);
    return drawn_;
  }
  /// Returns whether this process has drawn the number before.
  [[nodiscard]] bool has_drawn(std::uint32_t number) const { return number - first_ < drawn(); }

 private:
  const unsigned own_bits_;
  const std::uint32_t first_;
  mutable std::mutex lock_;  ///< guards the two below
  std::vector<std::uint32_t> free_;
  std::uint32_t drawn_ = 0;
};

}  // namespace librma
