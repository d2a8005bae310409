#pragma once

#include <cstddef>
#include <cstdint>

#include "core/job/job.hpp"
#include "core/one_sided/device.hpp"
#include "rma/rma.h"
#include "util/status.hpp"

namespace rma {

/// One of the comparisons of rma.h.
constexpr bool valid_compare(rma_compare_t compare) { return compare >= RMA_EQ && compare <= RMA_GE; }

/// `seen` compares so with `value`.
constexpr bool compare_words(std::uint64_t seen, rma_compare_t compare, std::uint64_t value) {
  switch (compare) {
    case RMA_EQ:
      return seen == value;
    case RMA_NE:
      return seen != value;
    case RMA_LT:
      return seen < value;
    case RMA_LE:
      return seen <= value;
    case RMA_GT:
      return seen > value;
    case RMA_GE:
      return seen >= value;
  }
  return false;
}

/// Stores `value` to the aligned flag of `rank` that is mapped at `flag_here`, and wakes whoever waits for
/// it. Whoever sees the value sees what this thread copied to mapped memory before; what went another way is
/// to be fenced first.
void notify(const Job& job, std::byte* flag_here, std::uint64_t value, int rank);

/// Puts [src, src + bytes) to `dst` and then stores `value` to the aligned `flag`, both in the heap of
/// `rank`, which may be on another host; returns when the source may be reused. Whoever sees the value sees
/// the data. RMA_ERR_ADDRESS, RMA_ERR_PEER_LOST and what else the ways there report.
[[nodiscard]] Status put_notify(Job& job, Device& device, void* dst, const void* src, std::size_t bytes,
                                std::uint64_t* flag, std::uint64_t value, int rank);

/// Only the flag: stored after everything that this thread has put to `rank` before.
[[nodiscard]] Status notify(Job& job, Device& device, std::uint64_t* flag, std::uint64_t value, int rank);

/// The value of a local word now; what its writer did before is visible.
[[nodiscard]] std::uint64_t read_word(const std::uint64_t* flag);

/// Waits until the local word compares so with `value`; returns the value that did.
std::uint64_t wait_until_word(const Job& job, const std::uint64_t* flag, rma_compare_t compare,
                              std::uint64_t value);

}  // namespace rma
