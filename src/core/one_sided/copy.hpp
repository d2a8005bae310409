#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "util/copying/copy_table.hpp"

namespace rma {

/// Copies like copy_mapped(), but stores 8 aligned bytes by one store, so no process sees a polled word half
/// written. The store's release order makes everything copied before visible to a thread that sees the word.
inline void copy_bytes(void* dst, const void* src, std::size_t bytes) {
  if (bytes == sizeof(std::uint64_t) && (reinterpret_cast<std::uintptr_t>(dst) & 7U) == 0) {
    std::uint64_t word = 0;
    std::memcpy(&word, src, sizeof word);
    __atomic_store_n(static_cast<std::uint64_t*>(dst), word, __ATOMIC_RELEASE);
    return;
  }
  if (bytes != 0) copy_mapped(dst, src, bytes);
}

}  // namespace rma
