/**
 * @file clock.hpp
 * Time for measurements: the monotonic clock, in nanoseconds.
 */
#pragma once

#include <cstddef>
#include <ctime>
#include <vector>

namespace rma::bench {

/** Returns the time of the monotonic clock in nanoseconds. */
inline double now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

/** Returns the duration of `count` calls of `op(i)` in nanoseconds. */
template <typename Op>
double time_batch(std::size_t count, Op&& op) {
  const double start = now_ns();
  for (std::size_t i = 0; i < count; ++i) op(i);
  return now_ns() - start;
}

/** Pushes everything else out of this core's caches and the shared one by reading and writing memory of its
 * own. */
class CacheScrubber {
 public:
  void scrub() {
    if (memory_.empty()) memory_.resize(kBytes);
    for (std::size_t i = 0; i < kBytes; i += kLine) memory_[i] = static_cast<char>(memory_[i] + 1);
  }

 private:
  // Twice the last-level cache of common servers. A virtual machine's report of cache sizes is not reliable.
  static constexpr std::size_t kBytes = std::size_t{64} << 20;
  static constexpr std::size_t kLine = 64;
  std::vector<char> memory_;
};

}  // namespace rma::bench
