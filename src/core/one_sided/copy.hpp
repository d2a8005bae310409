#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace rma {

/// Blocks of these sizes are copied by copy_block()'s own loop where the processor gains by it. Shorter ones
/// are over before a loop pays; longer ones leave the caches, where memcpy knows more ways.
inline constexpr std::size_t kLeastBlock = 2048;
inline constexpr std::size_t kMostBlock = std::size_t{8} << 20U;

/// memcpy of a block of kLeastBlock to kMostBlock bytes, in the order of addresses.
using BlockCopy = void (*)(void* dst, const void* src, std::size_t bytes);
#if defined(__x86_64__)
/// A loop of 32-byte loads and stores; the processor must have AVX.
void copy_by_vectors(void* dst, const void* src, std::size_t bytes);
#endif
/// The fastest one on this processor, chosen when the library is loaded.
extern const BlockCopy copy_block;

/// memcpy between memory that is mapped here, in the fastest way for its size.
inline void copy_mapped(void* dst, const void* src, std::size_t bytes) {
  if (bytes - kLeastBlock <= kMostBlock - kLeastBlock) {  // wraps around for shorter ones
    copy_block(dst, src, bytes);
  } else {
    std::memcpy(dst, src, bytes);
  }
}

/// copy_mapped, in whose place 8 aligned bytes are one store: a word that another process polls is never seen
/// half written. Its release order makes what was copied before visible to whoever sees the word.
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
