#include "twosided_compat/objects/polled_wait.hpp"

#include <time.h>  // NOLINT(modernize-deprecated-headers): clock_gettime is POSIX's

namespace librma::mpi {

std::int64_t monotonic_nanoseconds() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void PolledWait::look() {
  const std::int64_t now = monotonic_nanoseconds();
  if (since_ == 0) since_ = now;
  if (now - since_ >= kLongWait) shown_ = rma_wait_show(since_, about_, &rank_, rank_ >= 0 ? 1 : 0, 0);
}

}  // namespace librma::mpi
