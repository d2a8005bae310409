/**
 * @file beside_memcpy.hpp
 * The control of a transfer within one host: memcpy on the same pages, which is as fast as the memory allows.
 */
#pragma once

#include <cstring>
#include <utility>

#include "harness/measure.hpp"

namespace rma::bench {

/** Calls memcpy with a size that the compiler does not know, as in the library. */
inline void copy_opaquely(char* dst, const char* src, std::size_t bytes) {
  asm volatile("" : "+r"(bytes));
  std::memcpy(dst, src, bytes);
}

/** Measures op(i) as alone() does. If the backend has mapped its partner's arena, also measures
 * `copy(there)`, which moves the same bytes by memcpy between this rank's memory and the mapped arena. */
template <Backend B, typename Op, typename Copy>
void alone_beside_memcpy(Measure<B>& measure, RowName name, Op&& op, Copy&& copy) {
  if constexpr (HasMapped<B>) {
    if (char* const there = measure.backend().mapped(Arena::kData, Arena::kBytes - Arena::kData, 1);
        there != nullptr) {
      measure.alone_beside(name, op, [&](std::size_t) { copy(there); });
      return;
    }
  }
  measure.alone(std::move(name), op);
}

}  // namespace rma::bench
