/**
 * @file collective.hpp
 * Barrier and allreduce by the number of ranks, and the processor time of a waiting rank.
 */
#pragma once

#include <sys/resource.h>

#include <chrono>
#include <thread>

#include "harness/measure.hpp"
#include "suites/buffers.hpp"

namespace rma::bench {

template <Backend B>
void barrier_suite(Measure<B>& measure) {
  B& backend = measure.backend();
  measure.together({"barrier", "barrier " + ranks_text(backend.size()), "", 0},
                   [&](std::size_t) { backend.barrier(); });
}

template <Backend B>
void allreduce_suite(Measure<B>& measure) {
  B& backend = measure.backend();
  constexpr std::size_t kMost = std::size_t{1} << 20;
  static_assert(Arena::kData + 2 * kMost <= Arena::kBytes);
  std::fill_n(backend.local() + Arena::kData, 2 * kMost, '\0');
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{8192}, kMost}) {
    measure.together(
        {"allreduce", "allreduce " + size_text(bytes) + " " + ranks_text(backend.size()), "", bytes},
        [&](std::size_t) { backend.allreduce(Arena::kData + kMost, Arena::kData, bytes / sizeof(double)); });
  }
}

/** Returns the processor time of this process with all its threads, in nanoseconds. */
inline double cpu_ns() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto ns = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_usec) * 1e3;
  };
  return ns(usage.ru_utime) + ns(usage.ru_stime);
}

/** Rank 0 enters a barrier late. The row is the maximum processor time that another rank used until then. */
template <Backend B>
void idle_suite(Measure<B>& measure) {
  B& backend = measure.backend();
  const std::chrono::nanoseconds wait = measure.options().idle_wait;
  backend.sync();
  const double before = cpu_ns();
  if (backend.rank() == 0) std::this_thread::sleep_for(wait);
  backend.barrier();
  const double used = measure.slowest(backend.rank() == 0 ? 0.0 : cpu_ns() - before);
  const double per_ten_seconds = used / static_cast<double>(wait.count()) * 1e10;
  measure.record({"idle", "CPU time waiting 10 s in a barrier " + ranks_text(backend.size()), "", 0}, "ms",
                 {per_ten_seconds / 1e6});
}

}  // namespace rma::bench
