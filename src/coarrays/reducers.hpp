#pragma once

#include <cstddef>

#include "coarrays/abi.hpp"
#include "rma/collectives.h"

namespace librma::coarrays {

// How the collective subroutines combine elements of an array. Each function ends the job for elements that
// its subroutine does not take.

rma_reducer_t sum_of(const Descriptor& data);

enum class Extremum { least, most };
/// `characters` is the length of each element if they are characters.
rma_reducer_t extremum_of(const Descriptor& data, Extremum which, int characters);

/// The operation of co_reduce.
struct UserFunction {
  void (*function)();
  int flags;  ///< OperatorFlags
  std::size_t element_bytes;
  std::size_t characters;
};
/// The result refers to `function`.
rma_reducer_t reducer_of(const Descriptor& data, UserFunction& function);

}  // namespace librma::coarrays
