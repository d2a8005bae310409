#include "util/copying/block_copies.hpp"

#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace librma {

void copy_by_library(void* dst, const void* src, std::size_t bytes) { std::memcpy(dst, src, bytes); }

namespace {

#if defined(__x86_64__)
/// Copies by vectors of `kVector` bytes to an aligned destination: a store that crosses cache lines costs
/// more than a load that does. The first vector overlaps the second. memcpy copies the rest behind the
/// last one. A last vector that ended with the block would often cross pages, since malloc places a long
/// block 16 bytes behind the beginning of a page; that one store takes a third of the time of a copy of 4
/// KiB.
template <std::size_t kVector>
[[gnu::always_inline]] inline void copy_by_vectors(void* dst, const void* src, std::size_t bytes) {
  // A vector at any address, over memory of any type. `auto` would lose these attributes.
  using Vector [[gnu::vector_size(kVector), gnu::aligned(1), gnu::may_alias]] = long long;
  constexpr std::size_t kTurn = 4 * kVector;
  static_assert(kLeastBlock >= kTurn + kVector);
  auto* to = static_cast<std::byte*>(dst);
  const auto* from = static_cast<const std::byte*>(src);
  std::byte* const end = to + bytes;
  *reinterpret_cast<Vector*>(to) = *reinterpret_cast<const Vector*>(from);
  const std::size_t skip = kVector - reinterpret_cast<std::uintptr_t>(to) % kVector;
  to += skip;
  from += skip;
  for (; to + kTurn <= end; to += kTurn, from += kTurn) {
    const Vector first = *reinterpret_cast<const Vector*>(from);
    const Vector second = *reinterpret_cast<const Vector*>(from + kVector);
    const Vector third = *reinterpret_cast<const Vector*>(from + 2 * kVector);
    const Vector fourth = *reinterpret_cast<const Vector*>(from + 3 * kVector);
    *reinterpret_cast<Vector*>(to) = first;
    *reinterpret_cast<Vector*>(to + kVector) = second;
    *reinterpret_cast<Vector*>(to + 2 * kVector) = third;
    *reinterpret_cast<Vector*>(to + 3 * kVector) = fourth;
  }
  for (; to + kVector <= end; to += kVector, from += kVector) {
    *reinterpret_cast<Vector*>(to) = *reinterpret_cast<const Vector*>(from);
  }
  if (to != end) std::memcpy(to, from, static_cast<std::size_t>(end - to));
}

[[gnu::target("avx")]] void copy_by_vectors32(void* dst, const void* src, std::size_t bytes) {
  copy_by_vectors<32>(dst, src, bytes);
}

[[gnu::target("avx512f")]] void copy_by_vectors64(void* dst, const void* src, std::size_t bytes) {
  copy_by_vectors<64>(dst, src, bytes);
}

void copy_by_movsb(void* dst, const void* src, std::size_t bytes) {
  // Processors copy by whole cache lines if the destination is aligned to one.
  constexpr std::size_t kLine = 64;
  std::memcpy(dst, src, kLine);
  const std::size_t skip = kLine - reinterpret_cast<std::uintptr_t>(dst) % kLine;
  void* to = static_cast<std::byte*>(dst) + skip;
  const void* from = static_cast<const std::byte*>(src) + skip;
  std::size_t left = bytes - skip;
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(left) : : "memory");
}

[[gnu::target("avx")]] void copy_by_stream(void* dst, const void* src, std::size_t bytes) {
  constexpr std::size_t kVector = sizeof(__m256i);
  auto* to = static_cast<std::byte*>(dst);
  const auto* from = static_cast<const std::byte*>(src);
  std::memcpy(to, from, kVector);
  std::memcpy(to + (bytes - kVector), from + (bytes - kVector), kVector);
  const std::size_t skip = kVector - reinterpret_cast<std::uintptr_t>(to) % kVector;
  for (std::size_t done = skip; done + kVector <= bytes; done += kVector) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + done),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + done)));
  }
  // Orders the stores past the caches before every later store, which may tell another process of the block.
  _mm_sfence();
}
#endif

}  // namespace

BlockCopy block_copy(CopyMethod method) {
  switch (method) {
    case CopyMethod::library:
      return copy_by_library;
#if defined(__x86_64__)
    case CopyMethod::vectors32:
      return __builtin_cpu_supports("avx") != 0 ? copy_by_vectors32 : nullptr;
    case CopyMethod::vectors64:
      return __builtin_cpu_supports("avx512f") != 0 ? copy_by_vectors64 : nullptr;
    case CopyMethod::movsb:
      return copy_by_movsb;
    case CopyMethod::stream:
      return __builtin_cpu_supports("avx") != 0 ? copy_by_stream : nullptr;
#endif
    default:
      return nullptr;
  }
}

}  // namespace librma
