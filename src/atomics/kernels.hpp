#pragma once

#include <array>
#include <cstddef>

#include "kernels/operators.hpp"
#include "rma/rma.h"

namespace librma {

/// The arithmetic of dst[i] += scale * src[i], which is chosen once for a type and a scale.
///
/// Integers wrap around. A complex sum is two real sums. So a complex accumulate without a scale is a real
/// one with twice as many elements.
class Kernel {
 public:
  /// `scale` is one element of the (valid) type, which is copied; null means 1.
  Kernel(rma_type_t type, const void* scale);

  /// Returns the size of an element of run() in bytes, a power of two.
  [[nodiscard]] std::size_t element_bytes() const { return element_bytes_; }
  /// Returns the size of a real part in bytes; `dst` is aligned to it. It equals element_bytes() unless the
  /// arithmetic is complex.
  [[nodiscard]] std::size_t part_bytes() const { return part_bytes_; }

  /// Accumulates `bytes` bytes, a multiple of element_bytes(). `src` needs no alignment. It is equal to
  /// `dst`, or the two are disjoint.
  void run(std::byte* dst, const std::byte* src, std::size_t bytes) const {
    function_(src, dst, bytes >> element_shift_, scale());  // a division would cost as much as the rest
  }

  /// Stores scale * (the element at `src`), whose parts add_part() then adds. For complex arithmetic only.
  void product(std::byte* dst, const std::byte* src) const;
  /// Adds the real number at `src` to the one at `dst`.
  void add_part(std::byte* dst, const std::byte* src) const { add_(src, dst, 1, nullptr); }

  static constexpr std::size_t kMostElementBytes = 16;

 private:
  /// Returns the context of a loop. The loops only read it.
  [[nodiscard]] void* scale() const { return const_cast<std::byte*>(scale_.data()); }

  kernels::Loop function_ = nullptr;
  kernels::Loop add_ = nullptr;  ///< adds parts, with the scale 1
  std::size_t element_bytes_ = 0;
  int element_shift_ = 0;  ///< log2(element_bytes_)
  std::size_t part_bytes_ = 0;
  alignas(kMostElementBytes) std::array<std::byte, kMostElementBytes> scale_ = {};
};

}  // namespace librma
