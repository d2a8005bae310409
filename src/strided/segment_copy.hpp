#pragma once

#include <cstddef>
#include <cstring>

#include "core/one_sided/copy.hpp"
#include "strided/shape.hpp"
#include "util/copying/part_copy.hpp"

// Copy loops between mapped memory. Segments of the usual small sizes are copied through registers. Their
// size is a template argument; 0 means a size that is known only at run time.

namespace librma {

/// Copies one of the segments of a transfer of `all` bytes.
template <std::size_t kBytes>
inline void copy_segment(std::byte* dst, const std::byte* src, std::size_t bytes, std::size_t all) {
  if constexpr (kBytes == 0) {
    copy_part(dst, src, bytes, all);
  } else {
    std::memcpy(dst, src, kBytes);
  }
}

/// Calls `copy` with the template argument for segments of `bytes` bytes.
template <typename Copy>
inline void with_segment_size(std::size_t bytes, const Copy& copy) {
  switch (bytes) {
    case 4:
      return copy.template operator()<4>();
    case 8:
      return copy.template operator()<8>();
    case 16:
      return copy.template operator()<16>();
    case 32:
      return copy.template operator()<32>();
    case 64:
      return copy.template operator()<64>();
    default:
      return copy.template operator()<0>();
  }
}

/// Copies the innermost `kLevels` dimensions of a shape of `all` bytes by nested loops.
template <std::size_t kLevels, std::size_t kBytes>
inline void copy_nest(std::byte* dst, const std::byte* src, const StridedShape::Dimension* dimensions,
                      std::size_t bytes, std::size_t all) {
  if constexpr (kLevels == 0) {
    copy_segment<kBytes>(dst, src, bytes, all);
  } else {
    const StridedShape::Dimension outer = dimensions[kLevels - 1];
    for (std::size_t i = 0; i < outer.count; ++i) {
      copy_nest<kLevels - 1, kBytes>(dst, src, dimensions, bytes, all);
      dst += outer.dst_stride;
      src += outer.src_stride;
    }
  }
}

/// Copies all segments of `shape` from base address `src` to base address `dst`.
inline void copy_shape(std::byte* dst, const std::byte* src, const StridedShape& shape) {
  const std::size_t bytes = shape.segment_bytes();
  const std::size_t all = shape.bytes();
  const auto dimensions = shape.dimensions();
  if (dimensions.empty()) {
    if (!shape.empty()) copy_bytes(dst + shape.dst_start(), src + shape.src_start(), bytes);
    return;
  }
  with_segment_size(bytes, [&]<std::size_t kBytes>() {
    std::byte* const to = dst + shape.dst_start();
    const std::byte* const from = src + shape.src_start();
    switch (dimensions.size()) {
      case 1:
        return copy_nest<1, kBytes>(to, from, dimensions.data(), bytes, all);
      case 2:
        return copy_nest<2, kBytes>(to, from, dimensions.data(), bytes, all);
      case 3:
        return copy_nest<3, kBytes>(to, from, dimensions.data(), bytes, all);
      default:
        shape.for_each_outer(3, [&](std::ptrdiff_t dst_offset, std::ptrdiff_t src_offset) {
          copy_nest<3, kBytes>(dst + dst_offset, src + src_offset, dimensions.data(), bytes, all);
          return true;
        });
    }
  });
}

}  // namespace librma
