#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace librma {

/// The least number of bytes that a BlockCopy takes. Shorter blocks are too short for anything but memcpy to
/// pay.
inline constexpr std::size_t kLeastBlock = 2048;

/// The ways to copy a block.
enum class CopyMethod : std::uint8_t {
  library,    ///< memcpy
  vectors32,  ///< a loop of 32-byte loads and stores (AVX)
  vectors64,  ///< a loop of 64-byte loads and stores (AVX-512)
  movsb,      ///< the instruction `rep movsb`
  stream,     ///< 32-byte stores past the caches (AVX): the reader then fetches the block from memory
  count_
};
inline constexpr std::size_t kCopyMethods = static_cast<std::size_t>(CopyMethod::count_);
/// The words of RMA_COPY behind "auto", in the order of the enumerators.
inline constexpr std::array<std::string_view, kCopyMethods> kCopyMethodNames = {
    "memcpy", "vectors32", "vectors64", "movsb", "stream"};

/// Copies `bytes` bytes, kLeastBlock at least, between ranges that do not overlap. The bytes
/// may appear to others in any order, but before each later store of this thread. (Intel's and AMD's manuals
/// order stores behind a `rep movsb` after those of the instruction; the stream ends with a fence.)
using BlockCopy = void (*)(void* dst, const void* src, std::size_t bytes);

/// Copies by memcpy: CopyMethod::library.
void copy_by_library(void* dst, const void* src, std::size_t bytes);

/// Returns the method's function, or null if this processor lacks its instructions.
[[nodiscard]] BlockCopy block_copy(CopyMethod method);

[[nodiscard]] constexpr std::string_view copy_method_name(CopyMethod method) {
  return kCopyMethodNames[static_cast<std::size_t>(method)];
}

}  // namespace librma
