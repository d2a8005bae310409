#pragma once

#include <ISO_Fortran_binding.h>

#include <array>
#include <cstdint>
#include <string>

#include "util/status.hpp"

namespace rma::fortran {

/// What Fortran calls type(rma_array): an array, or a section of one, in some rank's memory. Its layout is
/// that of the type in rma_types.f90. A value that says all there is to know, so it may be sent to other
/// ranks.
struct RemoteArray {
  /// What `mark` is: an array; a section that cannot be made, `values()` saying why. Anything else was never
  /// set.
  static constexpr std::int32_t kArray = 0x616d72;
  static constexpr std::int32_t kRefused = 0x726d61;
  /// Why a section was refused.
  enum Reason : std::int32_t { kOutside = 1, kDimensions, kNoStride, kNotIntegers, kTooLarge };

  std::intptr_t address;  ///< the owner's own, of the element that comes first in array element order
  std::int32_t rank;
  std::int32_t mark;
  std::int32_t type;        ///< a CFI_type_
  std::int32_t dimensions;  ///< of a refused one: the reason
  std::int64_t element_bytes;
  std::array<std::int64_t, CFI_MAX_RANK> lower;
  std::array<std::int64_t, CFI_MAX_RANK> extent;
  std::array<std::int64_t, CFI_MAX_RANK> stride;  ///< in bytes, of any sign

  /// An array that lies at `address` without gaps. `lower` may be null: all ones. `upper` null: one element.
  /// A refused one where the bounds are no bounds.
  [[nodiscard]] static RemoteArray contiguous(std::intptr_t address, int rank, CFI_type_t type,
                                              std::size_t element_bytes, const CFI_cdesc_t* upper,
                                              const CFI_cdesc_t* lower);
  [[nodiscard]] static RemoteArray refused(Reason reason, std::int64_t first = 0, std::int64_t second = 0,
                                           std::int64_t third = 0, std::int64_t fourth = 0,
                                           std::int64_t fifth = 0);

  /// The section first : last : step, each with one number for each dimension, or null for the whole of it.
  [[nodiscard]] RemoteArray section(const CFI_cdesc_t* first, const CFI_cdesc_t* last,
                                    const CFI_cdesc_t* step) const;

  /// RMA_ERR_ARGUMENT unless it is an array.
  [[nodiscard]] Status check(const char* argument) const;
  /// Bytes of all elements.
  [[nodiscard]] std::size_t bytes() const;
};

}  // namespace rma::fortran
