#pragma once

#include <cstddef>
#include <vector>

#include "coarrays/convert.hpp"
#include "coarrays/outcome.hpp"
#include "coarrays/section.hpp"

namespace librma::coarrays {

/// Returns the type of the elements of a descriptor, which does not say their kind.
inline Type type_of(const Descriptor& array, int kind) {
  return {.type = array.type, .kind = kind, .bytes = array.element_bytes};
}

/// One side of an assignment: elements and their type. The elements lie in this process's memory, or at
/// addresses of another image.
struct Side {
  Section section;
  Type type;
};
/// Elements of a coarray on one image.
struct RemoteSide {
  Section section;
  Type type;
  int rank;
};

/// Assigns local elements to remote ones and the reverse. The shapes agree, or the source is a scalar. If the
/// sides may be the same memory, the source is read as a whole first. Without a change of type the data
/// travel as the two layouts say, without a copy between.
void put(const RemoteSide& dst, const Side& src, bool may_overlap, const Outcome& outcome);
void get(const Side& dst, const RemoteSide& src, bool may_overlap, const Outcome& outcome);
/// Assigns elements of one image to those of another.
void copy(const RemoteSide& dst, const RemoteSide& src, const Outcome& dst_outcome,
          const Outcome& src_outcome);

}  // namespace librma::coarrays
