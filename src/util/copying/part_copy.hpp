#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "util/copying/copy_table.hpp"

namespace librma {

/// Copies between mapped memory like memcpy, in the fastest way for a block that is a part of `all` bytes,
/// which are copied with it: the caches that the whole of them fits into decide.
inline void copy_part(void* dst, const void* src, std::size_t bytes, std::size_t all) {
  if (bytes < kLeastBlock || all - kLeastBlock > kMostBlock - kLeastBlock) {
    std::memcpy(dst, src, bytes);
    return;
  }
  constexpr std::uintptr_t kLine = 64;
  const auto apart = reinterpret_cast<std::uintptr_t>(dst) ^ reinterpret_cast<std::uintptr_t>(src);
  BlockCopy& copy = internal::copies_in_use[apart % kLine == 0 ? 1 : 0][copy_class(all)];
  std::atomic_ref(copy).load(std::memory_order_relaxed)(dst, src, bytes);
}

/// Copies a block for a thread of another processor, which reads it next. The block's cache lines are there,
/// so it is copied like one that is too long for a first-level cache.
inline void copy_for_reader(void* dst, const void* src, std::size_t bytes) {
  constexpr std::size_t kBeyondFirstLevel = std::size_t{64} << 10U;
  copy_part(dst, src, bytes, std::max(bytes, kBeyondFirstLevel));
}

}  // namespace librma
