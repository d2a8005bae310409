#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/elements.hpp"

// The loops by which reductions and accumulates combine arrays, one for each operator and machine type.
// librma and the libraries over it use the same ones. Only librma's accumulates scale what they add; their
// loops are in atomics/kernels.cpp.

namespace librma::kernels {

enum class Operator : std::uint8_t {
  kSum,
  kProduct,
  kMin,
  kMax,
  kBitAnd,
  kBitOr,
  kBitXor,
  kLogicalAnd,
  kLogicalOr,
  kLogicalXor,
  kMinLocation,  ///< of pairs, whose smaller index wins if the values are equal
  kMaxLocation,
};
inline constexpr std::size_t kOperators = static_cast<std::size_t>(Operator::kMaxLocation) + 1;

/// Combines `count` elements: inout[i] = in[i] op inout[i]. The arrays are the same or disjoint, and need no
/// alignment. Integers wrap around. `context` is not used: with it a loop is the `combine` of an rma_reducer.
using Loop = void (*)(const void* in, void* inout, std::size_t count, void* context);

/// All loops, chosen for this processor when the library is loaded.
using LoopTable = std::array<std::array<Loop, kOperators>, kElements>;
extern const LoopTable loops;
extern const LoopTable complex_loops;

/// Returns the loop for arrays of `element`, or of complex numbers whose parts are `element`. Returns null if
/// the operator has no meaning for it, or the compiler does not have the machine type.
[[nodiscard]] inline Loop find(Operator op, Element element, bool is_complex = false) {
  return (is_complex ? complex_loops
                     : loops)[static_cast<std::size_t>(element)][static_cast<std::size_t>(op)];
}

}  // namespace librma::kernels
