#pragma once

#include "atomics/accumulate.hpp"
#include "core/job/job.hpp"
#include "core/one_sided/device.hpp"
#include "core/one_sided/operation.hpp"
#include "strided/shape.hpp"
#include "strided/ways.hpp"
#include "util/status.hpp"

namespace rma {

// Strided transfers. `dst` and `src` are the base addresses that the shape's strides were given for. The
// bytes read and the bytes written must not overlap. All that is touched at `rank` is looked up before
// anything moves: RMA_ERR_ADDRESS and RMA_ERR_SIZE (an extent wraps around the address space) changed
// nothing.

/// Writes to `rank`.
[[nodiscard]] Status put_strided(const Ways& ways, void* dst, const void* src, const Shape& shape, int rank,
                                 const Ending& ending);

/// Reads from `rank`.
[[nodiscard]] Status get_strided(const Ways& ways, void* dst, const void* src, const Shape& shape, int rank,
                                 const Ending& ending);

/// dst += scale * src, element by element; over when it returns. `type` is valid. RMA_ERR_SIZE when the
/// contiguous bytes are no whole elements, RMA_ERR_ALIGNMENT when some element at `dst` is not aligned.
[[nodiscard]] Status acc_strided(Accumulator& accumulator, void* dst, const void* src, const Shape& shape,
                                 rma_type_t type, const void* scale, int rank);

}  // namespace rma
