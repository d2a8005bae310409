#pragma once

#include <array>
#include <cstddef>

#include "rma/rma.h"

namespace rma {

/// The arithmetic of dst[i] += scale * src[i], chosen once for a type and a scale.
///
/// Integers wrap. A complex sum is two real sums, so a complex accumulate without a factor is a real one of
/// twice as many elements.
class Kernel {
 public:
  /// `scale` is one element of the (valid) type, copied, or null for 1.
  Kernel(rma_type_t type, const void* scale);

  /// Bytes of what run() treats as one element, a power of two.
  [[nodiscard]] std::size_t element_bytes() const { return element_bytes_; }
  /// Bytes of a real part: what `dst` is aligned to. Equals element_bytes() unless the arithmetic is complex.
  [[nodiscard]] std::size_t part_bytes() const { return part_bytes_; }

  /// For `bytes` bytes, a multiple of element_bytes(). `src` needs no alignment, and is disjoint from `dst`
  /// or the same.
  void run(std::byte* dst, const std::byte* src, std::size_t bytes) const {
    function_(dst, src, bytes >> element_shift_, scale_.data());  // a division would cost as much as all else
  }

  /// Complex arithmetic only: scale * (the element at src), to be added part by part by add_part().
  void product(std::byte* dst, const std::byte* src) const;
  /// Adds the real number at `src` to the one at `dst`.
  void add_part(std::byte* dst, const std::byte* src) const { add_(dst, src, 1, nullptr); }

  static constexpr std::size_t kMostElementBytes = 16;

 private:
  using Function = void (*)(std::byte* dst, const std::byte* src, std::size_t count, const std::byte* scale);

  Function function_ = nullptr;
  Function add_ = nullptr;  ///< of parts, with the factor 1
  std::size_t element_bytes_ = 0;
  int element_shift_ = 0;  ///< log2(element_bytes_)
  std::size_t part_bytes_ = 0;
  alignas(kMostElementBytes) std::array<std::byte, kMostElementBytes> scale_ = {};
};

}  // namespace rma
