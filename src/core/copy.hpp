#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace rma {

/// memcpy, in whose place 8 aligned bytes are one store: a word that another process polls is never seen half
/// written. Its release order makes what was copied before visible to whoever sees the word.
inline void copy_bytes(void* dst, const void* src, std::size_t bytes) {
  if (bytes == sizeof(std::uint64_t) && (reinterpret_cast<std::uintptr_t>(dst) & 7U) == 0) {
    std::uint64_t word = 0;
    std::memcpy(&word, src, sizeof word);
    __atomic_store_n(static_cast<std::uint64_t*>(dst), word, __ATOMIC_RELEASE);
    return;
  }
  if (bytes != 0) std::memcpy(dst, src, bytes);
}

}  // namespace rma
