/**
 * @file stats.hpp
 * Median and spread of a row's samples.
 */
#pragma once

#include <cstddef>
#include <vector>

namespace rma::bench {

/** The five numbers that describe samples, in the samples' unit. */
struct Spread {
  double median = 0;
  double min = 0;
  double lower_quartile = 0;
  double upper_quartile = 0;
  std::size_t samples = 0;
};

/** Summarises `samples`, which must not be empty. Quartiles are interpolated between neighbours. */
Spread summarize(std::vector<double> samples);

}  // namespace rma::bench
