#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi.h"
#include "twosided_compat/datatypes/datatypes.hpp"
#include "twosided_compat/objects/object.hpp"
#include "twosided_compat/objects/phase.hpp"
#include "twosided_compat/windows/window.hpp"
#include "util/copy_word.hpp"
#include "util/range_check.hpp"

// The short ways of MPI_Put and MPI_Get: see messages/short_calls.hpp. They are inlined into the entry
// points. A program that leaves a window open may name it after MPI_Finalize, so these ask whether MPI runs.

namespace librma::mpi {

/// A transfer in the usual case: one contiguous predefined type on both sides, and memory that is mapped
/// here. In every other case, and if an argument is wrong, `part` is null or `bytes` is 0.
struct MappedTransfer {
  const WindowPart* part = nullptr;
  std::size_t offset = 0;
  std::size_t bytes = 0;

  [[nodiscard]] std::byte* here() const { return part->here + offset; }
  /// Returns the address in the memory of part->owner.
  [[nodiscard]] std::byte* there() const { return reinterpret_cast<std::byte*>(part->base + offset); }
};

[[nodiscard, gnu::always_inline]] inline MappedTransfer mapped_transfer(const void* origin,
                                                                        MPI_Count origin_count,
                                                                        MPI_Datatype origin_type, int rank,
                                                                        MPI_Aint disp, MPI_Count count,
                                                                        MPI_Datatype type, MPI_Win handle) {
  const std::size_t size = dense_size(type);
  auto* const win = find<Window>(handle);
  // Up to this count, the bytes fit into a size. A negative count is a large number here.
  constexpr std::uint64_t kMost = std::uint64_t{1} << 30U;
  if (win == nullptr || type != origin_type || count != origin_count ||
      static_cast<std::uint64_t>(count) > kMost || origin == nullptr) [[unlikely]] {
    return {};
  }
  if (!win->opens(rank)) [[unlikely]]
    return {};
  const WindowPart& part = win->part(rank);
  const std::size_t bytes = static_cast<std::size_t>(count) * size;
  MPI_Aint offset = 0;
  // The signed product takes one instruction that leaves the arguments where they are. A negative offset is a
  // large number in the check of the range.
  if (part.here == nullptr || __builtin_mul_overflow(disp, static_cast<MPI_Aint>(part.unit), &offset) ||
      !range_contains(part.bytes, static_cast<std::size_t>(offset), bytes)) [[unlikely]] {
    return {};
  }
  return {.part = &part, .offset = static_cast<std::size_t>(offset), .bytes = bytes};
}

/// Copies what one instruction copies. Returns false if it does not.
[[nodiscard, gnu::always_inline]] inline bool copy_any_word(void* to, const void* from, std::size_t bytes) {
  return copy_word<std::uint64_t>(to, from, bytes) || copy_word<std::uint32_t>(to, from, bytes);
}

[[nodiscard, gnu::always_inline]] inline bool inlined_put(const void* origin, MPI_Count origin_count,
                                                          MPI_Datatype origin_type, int rank, MPI_Aint disp,
                                                          MPI_Count count, MPI_Datatype type,
                                                          MPI_Win handle) {
  const MappedTransfer transfer =
      mapped_transfer(origin, origin_count, origin_type, rank, disp, count, type, handle);
  return is_running() && transfer.part != nullptr && copy_any_word(transfer.here(), origin, transfer.bytes);
}

[[nodiscard, gnu::always_inline]] inline bool inlined_get(void* origin, MPI_Count origin_count,
                                                          MPI_Datatype origin_type, int rank, MPI_Aint disp,
                                                          MPI_Count count, MPI_Datatype type,
                                                          MPI_Win handle) {
  const MappedTransfer transfer =
      mapped_transfer(origin, origin_count, origin_type, rank, disp, count, type, handle);
  return is_running() && transfer.part != nullptr && copy_any_word(origin, transfer.here(), transfer.bytes);
}

}  // namespace librma::mpi
