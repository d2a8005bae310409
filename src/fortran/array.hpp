#pragma once

#include <ISO_Fortran_binding.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "util/status.hpp"

namespace librma::fortran {

/// The C++ side of type(rma_array): an array, or a section of one, in some rank's memory. Its layout is that
/// of the type in rma_types.f90. The value is complete in itself, so it may be sent to other ranks.
struct RemoteArray {
  /// The values of `mark`: an array, or a section that was refused. With any other value the object
  /// was never set.
  static constexpr std::int32_t kArray = 0x616d72;
  static constexpr std::int32_t kRefused = 0x726d61;
  /// The reasons for which a section is refused.
  enum Reason : std::int32_t { kOutside = 1, kDimensions, kNoStride, kNotIntegers, kTooLarge };

  std::intptr_t address;  ///< the owner's address of the element that is first in array element order
  std::int32_t rank;
  std::int32_t mark;
  std::int32_t type;        ///< a CFI_type_
  std::int32_t dimensions;  ///< of a refused section: the reason
  std::int64_t element_bytes;
  std::array<std::int64_t, CFI_MAX_RANK> lower;
  std::array<std::int64_t, CFI_MAX_RANK> extent;
  std::array<std::int64_t, CFI_MAX_RANK> stride;  ///< in bytes, of any sign

  /// Returns an array that lies at `address` without gaps. If `lower` is null, all lower bounds are 1. If
  /// `upper` is null, the array has one element. If the bounds are invalid, the result is refused.
  [[nodiscard]] static RemoteArray contiguous(std::intptr_t address, int rank, CFI_type_t type,
                                              std::size_t element_bytes, const CFI_cdesc_t* upper,
                                              const CFI_cdesc_t* lower);
  [[nodiscard]] static RemoteArray refused(Reason reason, std::int64_t first = 0, std::int64_t second = 0,
                                           std::int64_t third = 0, std::int64_t fourth = 0,
                                           std::int64_t fifth = 0);

  /// Returns the section first : last : step. Each argument has one number for each dimension. A null
  /// argument means the whole dimension.
  [[nodiscard]] RemoteArray section(const CFI_cdesc_t* first, const CFI_cdesc_t* last,
                                    const CFI_cdesc_t* step) const;

  /// Returns one element, as an array of no dimensions.
  [[nodiscard]] RemoteArray element(const CFI_cdesc_t& index) const;

  /// Returns RMA_ERR_ARGUMENT unless this is an array.
  [[nodiscard]] Status check(const char* argument) const;
  /// Returns the size of all elements in bytes.
  [[nodiscard]] std::size_t bytes() const;
};

}  // namespace librma::fortran
