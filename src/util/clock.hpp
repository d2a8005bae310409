#pragma once

#include <time.h>  // NOLINT(modernize-deprecated-headers): clock_gettime() is POSIX's

#include <cstdint>

namespace librma {

/// Returns the time since some point in the past in nanoseconds. It never goes back, and all processes of a
/// host have the same.
inline std::int64_t monotonic_nanoseconds() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace librma
