#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "collectives/shared_memory/exchange.hpp"
#include "util/copying/copy_table.hpp"
#include "util/try.hpp"

// The parts that reductions and scans of a team on one host share. All members combine the elements in one
// order, and each element of a result is combined once or in the same way everywhere. So all members get the
// same bits.

namespace librma {

inline constexpr std::size_t kCacheLine = 64;

/// Returns the elements of a block of `bytes` bytes, at least one.
inline std::size_t elements_in(std::size_t bytes, const rma_reducer_t& reducer) {
  return std::max<std::size_t>(bytes / reducer.element_bytes, 1);
}

/// Returns the distance of rows of `bytes` bytes that each begin at a cache line, so that operators find the
/// first element of each aligned.
constexpr std::size_t aligned_row(std::size_t bytes) {
  return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
}

template <typename Source>
void SharedExchange::combine(std::byte* result, std::size_t elements, int last, const rma_reducer_t& reducer,
                             const Source& source) {
  // combine() performs inout = in op inout. So the higher operand is copied first, unless the operation
  // commutes.
  const std::size_t bytes = elements * reducer.element_bytes;
  const bool commutes = reducer.commutes != 0;
  const std::byte* const first = source(commutes ? 0 : last);
  if (first != result) std::memcpy(result, first, bytes);
  for (int step = 1; step <= last; ++step) {
    reducer.combine(source(commutes ? step : last - step), result, elements, reducer.context);
  }
}

template <typename Work, typename Drain>
Status SharedExchange::staged_reduction(const std::byte* src, std::size_t bytes, std::size_t most,
                                        Scratch& scratch, const Work& work, const Drain& drain) {
  // Between two uses of either half all members meet, so each needs only one.
  for (std::size_t begin = 0; begin < bytes; begin += most) {
    const std::size_t piece = std::min(most, bytes - begin);
    if (begin != 0) {
      if (!announced_.source_mapped(member())) copy_mapped(area(member(), 0), src + begin, piece);
      RMA_TRY(rounds_.meet());
    }
    work(begin, piece);
    RMA_TRY(rounds_.meet());
    drain(begin, piece);
  }
  Status finished = announced_.finish(RMA_SUCCESS);
  if (finished.ok()) scratch.release();
  return finished;
}

}  // namespace librma
