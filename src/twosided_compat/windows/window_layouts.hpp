#pragma once

#include <cstddef>
#include <cstdint>

#include "rma/rma.h"
#include "twosided_compat/datatypes/buffer.hpp"
#include "twosided_compat/windows/window.hpp"

namespace librma::mpi {

enum class Direction : std::uint8_t { kPut, kGet };

/// The memory of a member that a call names. `buffer.data` is an address of `part.owner`.
struct Target {
  WindowPart* part = nullptr;
  Buffer buffer;
};

/// Finds the memory of a member. MPI_ERR_RMA_SYNC (no epoch), MPI_ERR_RANK, MPI_ERR_DISP, MPI_ERR_COUNT,
/// MPI_ERR_TYPE, MPI_ERR_RMA_RANGE. `rank` is not MPI_PROC_NULL.
[[nodiscard]] int find_target(Window& win, int rank, MPI_Aint disp, MPI_Count count, MPI_Datatype type,
                              Target& target);

/// Returns where the buffer of a target is mapped here. The part is mapped.
[[nodiscard]] inline std::byte* mapped(const Target& target, const std::byte* address) {
  return target.part->here + (reinterpret_cast<std::uintptr_t>(address) - target.part->base);
}

/// Copies the first `bytes` bytes of data between a local buffer and a target; both have so many. The copy is
/// complete after a fence of the owner, or when `request` has ended, if that is not null.
[[nodiscard]] rma_status_t transfer(Direction direction, const Buffer& local, const Target& target,
                                    std::size_t bytes, rma_request_t* request);

}  // namespace librma::mpi
