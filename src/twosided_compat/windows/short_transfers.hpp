#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi.h"
#include "twosided_compat/datatypes/datatypes.hpp"
#include "twosided_compat/objects/object.hpp"
#include "twosided_compat/windows/window.hpp"
#include "util/copy_word.hpp"

// The short ways of MPI_Put and MPI_Get: see messages/short_calls.hpp. They are inlined into the entry
// points. They need not ask whether MPI runs: the end of the job ends all epochs (close_windows()).

namespace librma::mpi {

/// A transfer in the usual case: one contiguous predefined type on both sides, and memory that is mapped
/// here. In every other case, and if an argument is wrong, `part` is null or `bytes` is 0.
struct MappedTransfer {
  const WindowPart* part = nullptr;
  std::size_t end = 0;  ///< where it ends in the part
  std::size_t bytes = 0;

  [[nodiscard]] std::byte* here() const { return part->here + (end - bytes); }
  /// Returns the address in the memory of part->owner.
  [[nodiscard]] std::byte* there() const { return reinterpret_cast<std::byte*>(part->base + (end - bytes)); }
};

[[nodiscard, gnu::always_inline]] inline MappedTransfer mapped_transfer(
    const void* origin, MPI_Count origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp,
    MPI_Count count, const MPI_Datatype& type, const MPI_Win& handle) {
  // The order of the steps lets each value end before the next ones begin. So they fit into the registers
  // beside those of the arguments, and an entry point saves none.
  auto* const win = find<Window>(handle);
  if (win == nullptr || !win->opens(rank)) [[unlikely]]
    return {};
  const WindowPart& part = win->part(rank);
  if (type != origin_type) [[unlikely]]
    return {};
  const std::size_t size = dense_size(origin_type);
  if (count != origin_count) [[unlikely]]
    return {};
  // A product cannot overflow for an int, so only MPI_Put_c checks the first one. Products below 0 are large
  // numbers in the check of the range.
  MPI_Count bytes = 0;
  MPI_Aint offset = 0;
  std::size_t end = 0;
  if (__builtin_mul_overflow(count, static_cast<MPI_Count>(size), &bytes) ||
      __builtin_mul_overflow(disp, static_cast<MPI_Aint>(part.unit), &offset) ||
      __builtin_add_overflow(static_cast<std::size_t>(offset), static_cast<std::size_t>(bytes), &end) ||
      end > part.mapped_bytes || origin == nullptr) [[unlikely]] {
    return {};
  }
  return {.part = &part, .end = end, .bytes = static_cast<std::size_t>(bytes)};
}

/// Copies what one instruction copies. Returns false if it does not.
[[nodiscard, gnu::always_inline]] inline bool copy_any_word(void* to, const void* from, std::size_t bytes) {
  return copy_word<std::uint64_t>(to, from, bytes) || copy_word<std::uint32_t>(to, from, bytes);
}

[[nodiscard, gnu::always_inline]] inline bool inlined_put(const void* origin, MPI_Count origin_count,
                                                          MPI_Datatype origin_type, int rank, MPI_Aint disp,
                                                          MPI_Count count, const MPI_Datatype& type,
                                                          const MPI_Win& handle) {
  const MappedTransfer transfer =
      mapped_transfer(origin, origin_count, origin_type, rank, disp, count, type, handle);
  return transfer.part != nullptr && copy_any_word(transfer.here(), origin, transfer.bytes);
}

[[nodiscard, gnu::always_inline]] inline bool inlined_get(void* origin, MPI_Count origin_count,
                                                          MPI_Datatype origin_type, int rank, MPI_Aint disp,
                                                          MPI_Count count, const MPI_Datatype& type,
                                                          const MPI_Win& handle) {
  const MappedTransfer transfer =
      mapped_transfer(origin, origin_count, origin_type, rank, disp, count, type, handle);
  return transfer.part != nullptr && copy_any_word(origin, transfer.here(), transfer.bytes);
}

}  // namespace librma::mpi
