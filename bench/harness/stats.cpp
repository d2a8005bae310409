#include "harness/stats.hpp"

#include <algorithm>
#include <cmath>

namespace rma::bench {
namespace {

/** The value below which `share` of the sorted samples lie. */
double quantile(const std::vector<double>& sorted, double share) {
  const double position = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(position));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - std::floor(position));
}

}  // namespace

Spread summarize(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return Spread{.median = quantile(samples, 0.5),
                .min = samples.front(),
                .lower_quartile = quantile(samples, 0.25),
                .upper_quartile = quantile(samples, 0.75),
                .samples = samples.size()};
}

}  // namespace rma::bench
