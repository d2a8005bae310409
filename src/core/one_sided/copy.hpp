#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace rma {

/// copy_block() may copy blocks of these sizes by a loop of its own. A loop does not pay for shorter blocks.
/// Longer ones do not fit into the caches, and memcpy has better methods for those.
inline constexpr std::size_t kLeastBlock = 2048;
inline constexpr std::size_t kMostBlock = std::size_t{8} << 20U;

/// Copies a block of kLeastBlock to kMostBlock bytes, in the order of addresses.
using BlockCopy = void (*)(void* dst, const void* src, std::size_t bytes);
#if defined(__x86_64__)
/// Copies such a block by a loop of 32-byte loads and stores. The processor must have AVX.
void copy_by_vectors(void* dst, const void* src, std::size_t bytes);
#endif
/// The fastest function on this processor, chosen when the library is loaded.
extern const BlockCopy copy_block;

/// Copies between memory that is mapped here, by the fastest method for its size.
inline void copy_mapped(void* dst, const void* src, std::size_t bytes) {
  if (bytes - kLeastBlock <= kMostBlock - kLeastBlock) {  // wraps around for shorter ones
    copy_block(dst, src, bytes);
  } else {
    std::memcpy(dst, src, bytes);
  }
}

/// Does the same, but copies 8 aligned bytes by one store. So another process that polls a word never sees it
/// half written. The store has release order: a process that sees the word also sees everything copied
/// before.
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
