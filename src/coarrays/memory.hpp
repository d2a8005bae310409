#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "coarrays/abi.hpp"
#include "coarrays/images.hpp"
#include "rma/direct.h"

namespace librma::coarrays {

/// The memory of a coarray on one image.
struct Place {
  std::byte* there = nullptr;  ///< the image's own address; null if it has no part of the coarray
  std::byte* here = nullptr;   ///< where this process has mapped it, or null
};

/// The object that a token of gfortran points to: a coarray, or the memory of an allocatable component of
/// one.
struct Coarray {
  std::byte* mine = nullptr;
  std::size_t bytes = 0;
  /// Has the bounds of the array, which are the same on all images. Null if it has none that are needed.
  Descriptor* shape = nullptr;
  rma_team_t team = nullptr;  ///< which allocated it; null if this image alone did
  Coarray** token = nullptr;  ///< the variable's token; null for a static coarray
  std::uint64_t number = 0;   ///< how many coarrays teams of this image have allocated before
  std::vector<Place> places;  ///< by world rank; empty for a component, and for a static coarray before main
};

/// Tells all images where the static coarrays lie, and waits until all have their initial values. Collective.
void share_static_coarrays();

/// Deallocates the coarrays that the current team has allocated. Collective over the team.
void deallocate_coarrays_of_team();

/// Returns the bytes at `offset` of the coarray on `rank` where this process has mapped them, or null.
inline std::byte* mapped(const Coarray& coarray, std::size_t offset, int rank) {
  std::byte* const here = coarray.places[static_cast<std::size_t>(rank)].here;
  return here != nullptr ? here + offset : nullptr;
}
/// Returns the address by which `rank` knows them.
inline std::byte* owners_address(const Coarray& coarray, std::size_t offset, int rank) {
  return coarray.places[static_cast<std::size_t>(rank)].there + offset;
}

}  // namespace librma::coarrays
