#pragma once

#include <ISO_Fortran_binding.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "fortran/array.hpp"
#include "util/status.hpp"

namespace rma::fortran {

/// One side of a transfer, as both descriptors say it: a local array's and a remote one's.
struct Side {
  const char* name;  ///< the dummy argument's
  std::byte* base;
  std::size_t element_bytes;
  CFI_type_t type;
  int dimensions;
  std::array<std::int64_t, CFI_MAX_RANK> extent;
  std::array<std::int64_t, CFI_MAX_RANK> stride;  ///< bytes

  /// How many there are; nothing when there are more than numbers reach.
  [[nodiscard]] std::optional<std::int64_t> elements() const;
  /// "3 x 4 elements", for texts.
  [[nodiscard]] std::string shape() const;
};

/// RMA_ERR_ARGUMENT for an array of assumed size, or one that is not allocated.
[[nodiscard]] Result<Side> local_side(const CFI_cdesc_t& array, const char* name);
[[nodiscard]] Result<Side> remote_side(const RemoteArray& array, const char* name);

/// The arguments of rma_put_strided and its like.
struct Levels {
  std::array<std::size_t, RMA_MAX_LEVELS + 1> counts = {};
  std::array<std::ptrdiff_t, RMA_MAX_LEVELS> dst_strides = {};
  std::array<std::ptrdiff_t, RMA_MAX_LEVELS> src_strides = {};
  int levels = 0;  ///< 0: contiguous on both sides
};

/// Which element goes where: they correspond in array element order, whatever the two shapes are, as in an
/// argument list or in reshape(). Dimensions of one side are cut where those of the other end; this needs the
/// extents to divide each other (they do in shapes that are equal but for dimensions of one element).
///
/// RMA_ERR_SIZE when the numbers of elements differ, RMA_ERR_ARGUMENT when their types do,
/// RMA_ERR_UNSUPPORTED for shapes that cannot be cut.
[[nodiscard]] Result<Levels> correspond(const Side& dst, const Side& src);

}  // namespace rma::fortran
