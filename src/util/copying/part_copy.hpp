#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "util/copying/copy_table.hpp"

namespace librma {

/// Copies a block between mapped memory like memcpy. The block is one of several that are copied together,
/// `all` bytes in sum, and that sum decides which way of copying is the fastest.
inline void copy_part(void* dst, const void* src, std::size_t bytes, std::size_t all) {
  if (bytes < kLeastBlock || all - kLeastBlock > kMostBlock - kLeastBlock) {
    std::memcpy(dst, src, bytes);
    return;
  }
  internal::copy_block_like(dst, src, bytes, all);
}

/// Copies a block for a thread on another processor, which reads it next. The destination's cache lines are
/// in that processor's caches, so the block is copied like one that is too long for a first-level cache.
inline void copy_for_reader(void* dst, const void* src, std::size_t bytes) {
  constexpr std::size_t kBeyondFirstLevel = std::size_t{64} << 10U;
  copy_part(dst, src, bytes, std::max(bytes, kBeyondFirstLevel));
}

}  // namespace librma
