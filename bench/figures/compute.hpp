/**
 * @file compute.hpp
 * Computation for measurements with communication: a known amount beside one transfer, and a target
 * that only computes.
 */
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rma::bench {

/** Does a fixed amount of work without memory accesses, about a microsecond on a real processor. */
void compute_step();

inline void compute(std::size_t steps) {
  for (std::size_t i = 0; i < steps; ++i) compute_step();
}

/** Returns the present duration of one step in nanoseconds: the least of several tries. */
double step_ns();

/** The phases that the initiator tells a computing target, by a word in the target's memory. */
enum class Phase : std::uint64_t { quiet, traffic, end };

/** The steps per second of all threads of a computing target. */
struct ComputeRates {
  double quiet = 0;
  double traffic = 0;
};

/** Computes with as many threads as this process has processors, until `phase` is end. Sets `running` when
 * all of them run. The threads only read `phase` and never call the measured library. */
ComputeRates compute_until_end(const std::uint64_t& phase, std::uint64_t& running);

}  // namespace rma::bench
