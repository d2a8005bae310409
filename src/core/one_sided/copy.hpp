#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace rma {

/// copy_block() copies blocks of these sizes by its own loop, if the processor gains by it. Shorter blocks
/// are too short for a loop to pay. Longer blocks leave the caches, and memcpy has better ways for those.
inline constexpr std::size_t kLeastBlock = 2048;
inline constexpr std::size_t kMostBlock = std::size_t{8} << 20U;

/// Copies a block of kLeastBlock to kMostBlock bytes like memcpy, in the order of addresses.
using BlockCopy = void (*)(void* dst, const void* src, std::size_t bytes);
#if defined(__x86_64__)
/// Copies by a loop of 32-byte loads and stores. The processor must have AVX.
void copy_by_vectors(void* dst, const void* src, std::size_t bytes);
#endif
/// The fastest copy on this processor, chosen when the library is loaded.
extern const BlockCopy copy_block;

/// Copies between mapped memory like memcpy, in the fastest way for the size.
inline void copy_mapped(void* dst, const void* src, std::size_t bytes) {
  if (bytes - kLeastBlock <= kMostBlock - kLeastBlock) {  // wraps around for shorter ones
    copy_block(dst, src, bytes);
  } else {
    std::memcpy(dst, src, bytes);
  }
}

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
