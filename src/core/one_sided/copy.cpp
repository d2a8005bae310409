#include "core/one_sided/copy.hpp"

namespace rma {

#if defined(__x86_64__)
[[gnu::target("avx")]] void copy_by_vectors(void* dst, const void* src, std::size_t bytes) {
  // A vector at any address, over memory of any type. `auto` would lose these attributes.
  using Vector [[gnu::vector_size(32), gnu::aligned(1), gnu::may_alias]] = long long;
  constexpr std::size_t kVector = sizeof(Vector);
  constexpr std::size_t kTurn = 4 * kVector;
  static_assert(kLeastBlock >= kTurn + kVector);

  // The first and the last vector overlap those between, which begin at an aligned destination: stores that
  // cross cache lines cost more than loads that do.
  auto* to = static_cast<std::byte*>(dst);
  const auto* from = static_cast<const std::byte*>(src);
  std::byte* const last_to = to + (bytes - kVector);
  const Vector last = *reinterpret_cast<const Vector*>(from + (bytes - kVector));
  *reinterpret_cast<Vector*>(to) = *reinterpret_cast<const Vector*>(from);
  const std::size_t skip = kVector - reinterpret_cast<std::uintptr_t>(to) % kVector;
  to += skip;
  from += skip;
  for (; to + kTurn <= last_to; to += kTurn, from += kTurn) {
    const Vector first = *reinterpret_cast<const Vector*>(from);
    const Vector second = *reinterpret_cast<const Vector*>(from + kVector);
    const Vector third = *reinterpret_cast<const Vector*>(from + 2 * kVector);
    const Vector fourth = *reinterpret_cast<const Vector*>(from + 3 * kVector);
    *reinterpret_cast<Vector*>(to) = first;
    *reinterpret_cast<Vector*>(to + kVector) = second;
    *reinterpret_cast<Vector*>(to + 2 * kVector) = third;
    *reinterpret_cast<Vector*>(to + 3 * kVector) = fourth;
  }
  for (; to < last_to; to += kVector, from += kVector) {
    *reinterpret_cast<Vector*>(to) = *reinterpret_cast<const Vector*>(from);
  }
  *reinterpret_cast<Vector*>(last_to) = last;
}
#endif

namespace {

void copy_by_memcpy(void* dst, const void* src, std::size_t bytes) { std::memcpy(dst, src, bytes); }

BlockCopy best_copy() {
#if defined(__x86_64__)
  // If the second-level cache holds the data, glibc copies 4 KiB and more by `rep movsb`. On AMD's Zen 3 that
  // takes up to a fourth longer than the loop above, and half as long again or more if source and destination
  // are not aligned alike. For larger blocks glibc has such a loop, but runs it backwards if both ends lie
  // alike in their pages. Measured at 4 MiB, that was slower in two programs of three and faster in none.
  // Other makers' processors were not measured and keep memcpy.
  __builtin_cpu_init();
  if (__builtin_cpu_is("amd") != 0 && __builtin_cpu_supports("avx") != 0) return copy_by_vectors;
#endif
  return copy_by_memcpy;
}

}  // namespace

const BlockCopy copy_block = best_copy();

}  // namespace rma
