#pragma once

#include <ISO_Fortran_binding.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "util/status.hpp"

// Arguments that accept numbers of several types or kinds. They arrive as type(*), dimension(..).

namespace librma::fortran {

/// Returns the value of an integer of any kind that C has.
[[nodiscard]] Result<std::int64_t> integer(const CFI_cdesc_t& given, const char* argument);

/// Returns the value at `address`, which is an element of `given`.
[[nodiscard]] Result<std::int64_t> integer_at(const void* address, const CFI_cdesc_t& given,
                                              const char* argument);

/// Reads one integer for each dimension of an array, from a list or a single number. Returns how many there
/// were. RMA_ERR_ARGUMENT if there are more than `values` can hold.
[[nodiscard]] Result<int> integers(const CFI_cdesc_t& given, const char* argument,
                                   std::span<std::int64_t> values);

/// Stores `value` into an integer variable of 4 or 8 bytes. RMA_ERR_SIZE if the variable is too small for it.
[[nodiscard]] Status store(std::int64_t value, const CFI_cdesc_t& variable, const char* argument);

/// Returns rma.h's type for elements of this CFI type; no value if the runtime cannot add and reduce them.
[[nodiscard]] std::optional<rma_type_t> element_type(CFI_type_t type);

/// Returns rma.h's type for elements of `src`, which are to be accumulated. `scale` may be null.
/// RMA_ERR_ARGUMENT if they cannot be accumulated, or if `scale` is not one number of their type.
[[nodiscard]] Result<rma_type_t> addend_type(const CFI_cdesc_t& src, const CFI_cdesc_t* scale);

/// Returns RMA_ERR_ARGUMENT if two elements differ in type. Types that the CFI does not name (derived types)
/// are compared by their sizes only.
[[nodiscard]] Status check_same_type(CFI_type_t one, std::size_t one_bytes, const char* one_name,
                                     CFI_type_t other, std::size_t other_bytes, const char* other_name);

/// Returns a text such as "real of 8 bytes".
[[nodiscard]] std::string type_name(CFI_type_t type, std::size_t bytes);

}  // namespace librma::fortran
