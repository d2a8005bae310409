#pragma once

#include <ISO_Fortran_binding.h>

#include <cstdint>
#include <optional>
#include <span>

#include "util/status.hpp"

// Arguments that take numbers of more than one type or kind, as they arrive: type(*), dimension(..).

namespace rma::fortran {

/// An integer of any kind that C has.
[[nodiscard]] Result<std::int64_t> integer(const CFI_cdesc_t& given, const char* argument);

/// The one at `address`, an element of `given`.
[[nodiscard]] Result<std::int64_t> integer_at(const void* address, const CFI_cdesc_t& given,
                                              const char* argument);

/// One integer for each dimension of an array: a list, or one number alone. Returns how many there were;
/// RMA_ERR_ARGUMENT for more than `values` holds.
[[nodiscard]] Result<int> integers(const CFI_cdesc_t& given, const char* argument,
                                   std::span<std::int64_t> values);

/// Stores `value` into an integer variable of 4 or 8 bytes; RMA_ERR_SIZE when that has too few.
[[nodiscard]] Status store(std::int64_t value, const CFI_cdesc_t& variable, const char* argument);

/// What rma.h calls elements of this CFI type, where it can add and reduce them.
[[nodiscard]] std::optional<rma_type_t> element_type(CFI_type_t type);

/// What rma.h calls elements of `src`, which are to be added; `scale` may be null. RMA_ERR_ARGUMENT where
/// they cannot be, or `scale` is not one number of their type.
[[nodiscard]] Result<rma_type_t> addend_type(const CFI_cdesc_t& src, const CFI_cdesc_t* scale);

/// RMA_ERR_ARGUMENT where two elements that have to be of one type are not. What the compiler does not name
/// (derived types) is only told apart by its size.
[[nodiscard]] Status check_same_type(CFI_type_t one, std::size_t one_bytes, const char* one_name,
                                     CFI_type_t other, std::size_t other_bytes, const char* other_name);

/// "real of 8 bytes", for texts.
[[nodiscard]] std::string type_name(CFI_type_t type, std::size_t bytes);

}  // namespace rma::fortran
