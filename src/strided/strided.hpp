#pragma once

#include "atomics/accumulate.hpp"
#include "core/job/job.hpp"
#include "core/one_sided/operation.hpp"
#include "strided/noncontiguous.hpp"
#include "strided/shape.hpp"
#include "util/status.hpp"

namespace librma {

// Strided transfers. `dst` and `src` are the base addresses for the shape's strides. The bytes read and the
// bytes written must not overlap. All memory of `rank` is looked up before any data moves. So a call that
// returns RMA_ERR_ADDRESS or RMA_ERR_SIZE (an extent wraps around the address space) has changed nothing.

/// Writes to `rank`.
[[nodiscard]] Status put_strided(const TransferPaths& paths, void* dst, const void* src,
                                 const StridedShape& shape, int rank, const Ending& ending);

/// Reads from `rank`.
[[nodiscard]] Status get_strided(const TransferPaths& paths, void* dst, const void* src,
                                 const StridedShape& shape, int rank, const Ending& ending);

/// Performs dst += scale * src for each element. `type` is valid. RMA_ERR_SIZE if the contiguous bytes are
/// not whole elements, RMA_ERR_ALIGNMENT if an element at `dst` is not aligned.
[[nodiscard]] Status acc_strided(Accumulator& accumulator, void* dst, const void* src,
                                 const StridedShape& shape, rma_type_t type, const void* scale, int rank);

}  // namespace librma
