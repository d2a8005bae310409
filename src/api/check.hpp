#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "api/runtime.hpp"
#include "util/status.hpp"

// The checks of ranks, pointers, sizes, alignment and handles, which no folder below repeats. Three kinds of arguments
// are checked where they are taken apart: shapes and I/O vectors in strided, lists of members in collectives, and an
// index of a mutex in atomics.

namespace rma {

[[nodiscard, gnu::cold]] Status bad_rank(int rank, int size);
[[nodiscard, gnu::cold]] Status null_argument(const char* argument);
[[nodiscard, gnu::cold]] Status overflow(const void* address, std::size_t bytes);
[[nodiscard, gnu::cold]] Status misaligned(const void* address, std::size_t alignment);

[[nodiscard]] inline Status check_rank(const Runtime& runtime, int rank) {
  const int size = runtime.job->size();
  if (static_cast<unsigned>(rank) >= static_cast<unsigned>(size)) [[unlikely]]
    return bad_rank(rank, size);
  return {};
}

[[nodiscard]] inline Status check_not_null(const void* pointer, const char* argument) {
  if (pointer == nullptr) [[unlikely]]
    return null_argument(argument);
  return {};
}

/// [address, address + bytes) is a range of addresses.
[[nodiscard]] inline Status check_range(const void* address, std::size_t bytes, const char* argument) {
  if (address == nullptr) [[unlikely]]
    return null_argument(argument);
  if (bytes > std::numeric_limits<std::uintptr_t>::max() - reinterpret_cast<std::uintptr_t>(address))
      [[unlikely]] {
    return overflow(address, bytes);
  }
  return {};
}

/// `alignment` is a power of two; a division would cost as much as the rest of a small accumulate's checks.
[[nodiscard]] inline Status check_aligned(const void* address, std::size_t alignment) {
  if ((reinterpret_cast<std::uintptr_t>(address) & (alignment - 1)) != 0) [[unlikely]]
    return misaligned(address, alignment);
  return {};
}

/// Rank and both ranges of a contiguous transfer; for 0 bytes only the rank.
[[nodiscard]] inline Status check_transfer(const Runtime& runtime, const void* dst, const void* src,
                                           std::size_t bytes, int rank) {
  if (Status status = check_rank(runtime, rank); !status.ok()) [[unlikely]]
    return status;
  if (bytes == 0) return {};
  if (Status status = check_range(dst, bytes, "dst"); !status.ok()) [[unlikely]]
    return status;
  return check_range(src, bytes, "src");
}

/// One of the element types.
[[nodiscard]] Status check_type(rma_type_t type);

/// The element type, the rank and the ranges of an accumulate; `count` elements become `bytes`.
[[nodiscard]] Status check_accumulate(const Runtime& runtime, const void* dst, const void* src,
                                      std::size_t count, rma_type_t type, int rank);

/// Shape of a strided transfer: levels, and pointers that are needed.
[[nodiscard]] Status check_strided(const Runtime& runtime, const void* dst, const ptrdiff_t* dst_strides,
                                   const void* src, const ptrdiff_t* src_strides, const std::size_t* counts,
                                   int levels, int rank);

/// Descriptors of a vector transfer: their lists, and that sizes add up without overflow.
[[nodiscard]] Status check_vector(const Runtime& runtime, const rma_iov_t* iov, std::size_t count, int rank);

[[nodiscard, gnu::cold]] Status no_team(rma_team_t handle);
[[nodiscard, gnu::cold]] Status no_member(int team_rank, int size);

/// Finds the team of a handle.
[[nodiscard]] inline Status check_team(const Runtime& runtime, rma_team_t handle, Team*& team) {
  team = runtime.teams->find(handle);
  if (team == nullptr) [[unlikely]]
    return no_team(handle);
  return {};
}

/// check_team, and `team_rank` is one of its members.
[[nodiscard]] inline Status check_member(const Runtime& runtime, rma_team_t handle, int team_rank,
                                         Team*& team) {
  if (Status status = check_team(runtime, handle, team); !status.ok()) [[unlikely]]
    return status;
  const int size = team->size();
  if (static_cast<unsigned>(team_rank) >= static_cast<unsigned>(size)) [[unlikely]]
    return no_member(team_rank, size);
  return {};
}

}  // namespace rma
