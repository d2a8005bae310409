#pragma once

#include <cstddef>

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

/// Returns the alignment of an element's address. For a complex type it is the size of a part.
constexpr std::size_t type_alignment(rma_type_t type) {
  const bool complex = type == RMA_COMPLEX_FLOAT || type == RMA_COMPLEX_DOUBLE;
  return complex ? type_size(type) / 2 : type_size(type);
}

}  // namespace librma
