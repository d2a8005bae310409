#pragma once

#include <ISO_Fortran_binding.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "fortran/array.hpp"
#include "util/status.hpp"

namespace librma::fortran {

/// One side of a transfer, in one form for the descriptors of local and of remote arrays.
struct Side {
  const char* name;  ///< the name of the dummy argument
  std::byte* base;
  std::size_t element_bytes;
  CFI_type_t type;
  int dimensions;
  std::array<std::int64_t, CFI_MAX_RANK> extent;
  std::array<std::int64_t, CFI_MAX_RANK> stride;  ///< bytes

  /// Returns the number of elements; no value if it overflows.
  [[nodiscard]] std::optional<std::int64_t> elements() const;
  /// Returns a text such as "3 x 4 elements".
  [[nodiscard]] std::string shape() const;
};

/// Return the side of a local or a remote array. RMA_ERR_ARGUMENT for an array of assumed size, and for one
/// that is not allocated.
[[nodiscard]] Result<Side> local_side(const CFI_cdesc_t& array, const char* name);
[[nodiscard]] Result<Side> remote_side(const RemoteArray& array, const char* name);

/// The arguments of rma_put_strided and the other strided calls.
struct Levels {
  std::array<std::size_t, RMA_MAX_LEVELS + 1> counts = {};
  std::array<std::ptrdiff_t, RMA_MAX_LEVELS> dst_strides = {};
  std::array<std::ptrdiff_t, RMA_MAX_LEVELS> src_strides = {};
  int levels = 0;  ///< 0: contiguous on both sides
};

/// Computes the strided transfer between the two sides. Their elements correspond in array element order, as
/// in an argument list or in reshape(); the shapes may differ. Where a dimension of one side ends, the
/// dimension of the other side is divided. So the extents must divide each other. They do if the shapes are
/// equal except for dimensions of one element.
///
/// RMA_ERR_SIZE if the numbers of elements differ, RMA_ERR_ARGUMENT if their types differ,
/// RMA_ERR_UNSUPPORTED if the extents do not divide each other.
[[nodiscard]] Result<Levels> correspond(const Side& dst, const Side& src);

}  // namespace librma::fortran
