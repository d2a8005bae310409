#pragma once

#include <cstddef>

namespace librma::coarrays {

/// The type of elements: an ElementType, its kind, and the bytes of one element.
struct Type {
  int type;
  int kind;
  std::size_t bytes;
  bool operator==(const Type&) const = default;
};

/// Assigns one element to another as an intrinsic assignment does: changes the kind and the type of numbers,
/// and pads or cuts characters. Ends the job if Fortran has no such assignment.
using Assign = void (*)(std::byte* dst, const Type& dst_type, const std::byte* src, const Type& src_type);
Assign assignment(const Type& dst, const Type& src);

}  // namespace librma::coarrays
