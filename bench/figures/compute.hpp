/**
 * @file compute.hpp
 * Computation to measure against communication: a known amount of it beside one transfer, and a target that
 * does nothing else.
 */
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rma::bench {

/** A fixed amount of work that uses no memory, about a microsecond of a real processor. */
void compute_step();

inline void compute(std::size_t steps) {
  for (std::size_t i = 0; i < steps; ++i) compute_step();
}

/** Nanoseconds of one step now, the least of several tries. */
double step_ns();

/** What the initiator tells a computing target, by a word in the target's memory. */
enum class Phase : std::uint64_t { quiet, traffic, end };

/** Steps per second that all threads of a computing target did. */
struct ComputeRates {
  double quiet = 0;
  double traffic = 0;
};

/** Computes with as many threads as this process has processors, until `phase` says end. Sets `running` as
 * soon as all of them do. The threads only read `phase`: nothing here calls the library that is measured. */
ComputeRates compute_until_end(const std::uint64_t& phase, std::uint64_t& running);

}  // namespace rma::bench
