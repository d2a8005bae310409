#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "api/runtime/runtime.hpp"
#include "util/status.hpp"
#include "util/try.hpp"

// The checks of ranks, pointers, sizes, alignment and handles, which no folder below repeats. The folders
// below check three kinds of arguments themselves: shapes and I/O vectors in strided, lists of members in
// collectives, and the index of a mutex in atomics.

namespace librma {

/// Checks a rank that is not of this world: this process has met it.
[[nodiscard, gnu::cold]] Status check_stranger(const Job& job, int rank);
[[nodiscard, gnu::cold]] Status null_argument(const char* argument);
[[nodiscard, gnu::cold]] Status overflow(const void* address, std::size_t bytes);
[[nodiscard, gnu::cold]] Status misaligned(const void* address, std::size_t alignment);

[[nodiscard]] inline Status check_rank(const Runtime& runtime, int rank) {
  const Job& job = *runtime.job;
  if (static_cast<unsigned>(rank - job.world_first()) >= static_cast<unsigned>(job.world_size())) [[unlikely]]
    return check_stranger(job, rank);
  return {};
}

[[nodiscard]] inline Status check_not_null(const void* pointer, const char* argument) {
  if (pointer == nullptr) [[unlikely]]
    return null_argument(argument);
  return {};
}

/// Checks that [address, address + bytes) is a range of addresses and not null.
[[nodiscard]] inline Status check_range(const void* address, std::size_t bytes, const char* argument) {
  if (address == nullptr) [[unlikely]]
    return null_argument(argument);
  if (bytes > std::numeric_limits<std::uintptr_t>::max() - reinterpret_cast<std::uintptr_t>(address))
      [[unlikely]] {
    return overflow(address, bytes);
  }
  return {};
}

/// Checks an alignment, a power of two. A division would cost as much as the other checks of a small
/// accumulate.
[[nodiscard]] inline Status check_aligned(const void* address, std::size_t alignment) {
  if ((reinterpret_cast<std::uintptr_t>(address) & (alignment - 1)) != 0) [[unlikely]]
    return misaligned(address, alignment);
  return {};
}

/// Checks the rank and both ranges of a contiguous transfer. For 0 bytes, checks only the rank.
[[nodiscard]] inline Status check_transfer(const Runtime& runtime, const void* dst, const void* src,
                                           std::size_t bytes, int rank) {
  RMA_TRY(check_rank(runtime, rank));
  if (bytes == 0) return {};
  RMA_TRY(check_range(dst, bytes, "dst"));
  return check_range(src, bytes, "src");
}

/// Checks that `type` is one of the element types.
[[nodiscard]] Status check_type(rma_type_t type);

/// Checks the element type, the rank, the ranges and the alignment of an accumulate of `count` elements.
[[nodiscard]] Status check_accumulate(const Runtime& runtime, const void* dst, const void* src,
                                      std::size_t count, rma_type_t type, int rank);

/// Checks the rank, the levels and the necessary pointers of a strided transfer.
[[nodiscard]] Status check_strided(const Runtime& runtime, const void* dst, const ptrdiff_t* dst_strides,
                                   const void* src, const ptrdiff_t* src_strides, const std::size_t* counts,
                                   int levels, int rank);

/// Checks the rank and the descriptors of a vector transfer: their lists, and that no size overflows.
[[nodiscard]] Status check_vector(const Runtime& runtime, const rma_iov_t* iov, std::size_t count, int rank);

}  // namespace librma
