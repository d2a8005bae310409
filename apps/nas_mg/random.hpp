/// @file
/// The benchmark's random numbers: x(k+1) = 5^13 x(k) mod 2^46, as x 2^-46 in (0, 1).
///
/// RNR-94-007, section 2.3. Integers here, where the original splits doubles: the low 46 bits of a product
/// are those of its low 64 bits.
#ifndef NAS_MG_RANDOM_HPP
#define NAS_MG_RANDOM_HPP

#include <cstdint>

namespace nas_mg {

class Random {
 public:
  static constexpr std::uint64_t kSeed = 314159265;
  static constexpr std::uint64_t kFactor = 1220703125;  // 5^13

  explicit Random(std::uint64_t seed = kSeed) : state_(seed) {}

  /// The next number of the sequence. The first is the seed's successor.
  double next() {
    state_ = (state_ * kFactor) & kMask;
    return static_cast<double>(state_) * 0x1p-46;
  }

  /// Passes over `count` numbers, in O(log count).
  void skip(std::uint64_t count) {
    for (std::uint64_t factor = kFactor; count != 0; count >>= 1, factor = (factor * factor) & kMask) {
      if ((count & 1) != 0) state_ = (state_ * factor) & kMask;
    }
  }

 private:
  static constexpr std::uint64_t kMask = (std::uint64_t{1} << 46) - 1;
  std::uint64_t state_;
};

}  // namespace nas_mg

#endif
