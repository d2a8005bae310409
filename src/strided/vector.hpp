#pragma once

#include <span>

#include "atomics/accumulate.hpp"
#include "core/job/job.hpp"
#include "core/one_sided/operation.hpp"
#include "strided/noncontiguous.hpp"
#include "util/status.hpp"

namespace librma {

// I/O-vector transfers. The lists of each descriptor that has segments and bytes are not null. The bytes read
// and the bytes written must not overlap. Every piece is checked before any data moves. So a call that
// returns RMA_ERR_ARGUMENT (a null pointer in a list), RMA_ERR_SIZE (a piece wraps around the address space)
// or RMA_ERR_ADDRESS has changed nothing.

/// Writes the pieces to `rank`.
[[nodiscard]] Status put_vector(const TransferPaths& paths, std::span<const rma_iov_t> iov, int rank,
                                const Ending& ending);

/// Reads the pieces from `rank`.
[[nodiscard]] Status get_vector(const TransferPaths& paths, std::span<const rma_iov_t> iov, int rank,
                                const Ending& ending);

/// Performs dst += scale * src for each element. `type` is valid. RMA_ERR_SIZE if a descriptor's bytes are
/// not whole elements, RMA_ERR_ALIGNMENT if a piece at `dst` is not aligned.
[[nodiscard]] Status acc_vector(Accumulator& accumulator, std::span<const rma_iov_t> iov, rma_type_t type,
                                const void* scale, int rank);

}  // namespace librma
