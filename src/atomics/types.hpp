#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "rma/rma.h"

namespace librma {

/// Returns whether `type` is an element type of rma.h.
constexpr bool valid_type(rma_type_t type) { return type >= RMA_INT && type <= RMA_COMPLEX_DOUBLE; }

/// Returns the size of one element of a valid type in bytes.
constexpr std::size_t type_size(rma_type_t type) {
  switch (type) {
    case RMA_INT:
      return sizeof(int);
    case RMA_LONG:
      return sizeof(long);
    case RMA_LONG_LONG:
      return sizeof(long long);
    case RMA_FLOAT:
      return sizeof(float);
    case RMA_DOUBLE:
      return sizeof(double);
    case RMA_COMPLEX_FLOAT:
      return 2 * sizeof(float);
    case RMA_COMPLEX_DOUBLE:
      return 2 * sizeof(double);
  }
  return 0;
}

/// The number of element types, whose values are below it.
inline constexpr std::size_t kTypeCount = RMA_COMPLEX_DOUBLE + 1;
/// Returns of(type) of all types, by their values.
template <typename Value, typename Of>
constexpr std::array<Value, kTypeCount> all_types(const Of& of) {
  return [&]<std::size_t... type>(std::index_sequence<type...> /*all*/) {
    return std::array<Value, kTypeCount>{of(static_cast<rma_type_t>(type))...};
  }
  (std::make_index_sequence<kTypeCount>());
}

/// Returns the alignment of an element's address. For a complex type it is the size of a part.
constexpr std::size_t type_alignment(rma_type_t type) {
  const bool complex = type == RMA_COMPLEX_FLOAT || type == RMA_COMPLEX_DOUBLE;
  return complex ? type_size(type) / 2 : type_size(type);
}

}  // namespace librma
