/**
 * @file ticks.hpp
 * Times of single operations by the processor's counter, as perftest takes them. If the system's clock does
 * not read that counter, it may cost as much as the operation itself.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/clock.hpp"
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace rma::bench {

inline std::uint64_t ticks() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return static_cast<std::uint64_t>(now_ns());
#endif
}

/** Returns the durations of `count` calls of op(i) in nanoseconds, after `warm_up` calls that
 * are not timed. */
template <typename Op>
std::vector<double> time_each(std::size_t count, std::size_t warm_up, Op&& op) {
  for (std::size_t i = 0; i < warm_up; ++i) op(i);
  std::vector<std::uint64_t> times(count + 1);
  const double begin = now_ns();
  times[0] = ticks();
  for (std::size_t i = 0; i < count; ++i) {
    op(warm_up + i);
    times[i + 1] = ticks();
  }
  const double scale = (now_ns() - begin) / static_cast<double>(times[count] - times[0]);
  std::vector<double> each(count);
  for (std::size_t i = 0; i < count; ++i) each[i] = static_cast<double>(times[i + 1] - times[i]) * scale;
  return each;
}

}  // namespace rma::bench
