/**
 * @file patch.hpp
 * The data of a transfer: fills it before the transfer and checks it afterwards.
 */
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "backend.hpp"
#include "suites/buffers.hpp"
#include "suites/noncontiguous.hpp"

namespace rma::bench {

/** Returns the shape of a contiguous transfer: one segment. */
inline StridedShape contiguous(std::size_t bytes) { return {1, bytes, bytes}; }
/** Returns the shape of segments with gaps of the same length. */
inline StridedShape two_dimensional(std::size_t segments, std::size_t segment_bytes) {
  return {segments, segment_bytes, 2 * segment_bytes};
}

/** "64 KiB", "128 x 512 B". */
inline std::string patch_text(const StridedShape& shape) {
  return shape.segments == 1 ? size_text(shape.segment_bytes) : strided_text(shape);
}

/** Returns the distance from the first byte of the first segment to the end of the last gap. */
inline std::size_t span_bytes(const StridedShape& shape) { return shape.segments * shape.stride; }

/** Returns the value at place `i`: small whole numbers, so that sums are exact and no denormals occur. */
inline double pattern(std::size_t i) { return static_cast<double>(i % 1021 + 1); }

inline void fill_pattern(char* memory, std::size_t bytes) {
  auto* const words = reinterpret_cast<double*>(memory);
  for (std::size_t i = 0; i < bytes / sizeof(double); ++i) words[i] = pattern(i);
}

inline void fill_value(char* memory, std::size_t bytes, double value) {
  std::fill_n(reinterpret_cast<double*>(memory), bytes / sizeof(double), value);
}

/** Returns whether the segments of `shape` hold `base + factor * pattern`, and the gaps
 * between them `outside`. */
inline bool holds(const char* memory, const StridedShape& shape, double outside, double base, double factor) {
  const auto* const words = reinterpret_cast<const double*>(memory);
  for (std::size_t i = 0; i < span_bytes(shape) / sizeof(double); ++i) {
    const bool inside = i * sizeof(double) % shape.stride < shape.segment_bytes;
    if (words[i] != (inside ? base + factor * pattern(i) : outside)) return false;
  }
  return true;
}

}  // namespace rma::bench
