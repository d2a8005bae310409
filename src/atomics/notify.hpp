#pragma once

#include <cstddef>
#include <cstdint>

#include "core/job/job.hpp"
#include "core/one_sided/remote_access.hpp"
#include "rma/rma.h"
#include "util/status.hpp"
#include "util/waiting/wait.hpp"

namespace librma {

/// Returns whether `compare` is a comparison of rma.h.
constexpr bool valid_compare(rma_compare_t compare) { return compare >= RMA_EQ && compare <= RMA_GE; }

/// Returns whether the comparison of `seen` with `value` is true.
template <typename Word>
constexpr bool compare_words(Word seen, rma_compare_t compare, Word value) {
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

/// Stores `value` into the aligned flag of `rank` that is mapped at `flag_here`, and wakes threads that wait
/// for it. A thread that sees the value also sees the data that this thread copied to mapped memory before.
/// The caller first fences data that took another path.
void notify(const Job& job, std::byte* flag_here, std::uint64_t value, int rank);

/// Puts [src, src + bytes) to `dst` and then stores `value` into the aligned `flag`, both in the memory of
/// `rank`, which may be on another host. Returns when the source may be reused. A thread that sees the value
/// also sees the data. RMA_ERR_ADDRESS, RMA_ERR_PEER_LOST and the other errors of transfers.
[[nodiscard]] Status put_notify(Job& job, RemoteAccess& remote_access, void* dst, const void* src,
                                std::size_t bytes, std::uint64_t* flag, std::uint64_t value, int rank);

/// Stores only the flag, after everything that this thread has put to `rank` before.
[[nodiscard]] Status notify(Job& job, RemoteAccess& remote_access, std::uint64_t* flag, std::uint64_t value,
                            int rank);

/// Returns the present value of a local word. The writer's earlier effects are visible.
[[nodiscard]] std::uint64_t read_word(const std::uint64_t* flag);

/// Waits until the comparison of the local word with `value` is true. Returns the word's value that
/// made it true.
std::uint64_t wait_until_word(const Job& job, const std::uint64_t* flag, rma_compare_t compare,
                              std::uint64_t value);

/// Waits until `met()` returns true, which loads local words that other ranks write.
template <typename Condition>
void wait_for_words(const Job& job, const Condition& met) {
  wait_until(job.doorbell(job.rank()), job.wait_policy(), met, Waker::stores,
             [](WaitNote& note) { note.call = "a word that other ranks write"; });
}

}  // namespace librma
