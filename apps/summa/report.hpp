/// @file
/// The results of a run, as a text and as JSON.
#ifndef SUMMA_REPORT_HPP
#define SUMMA_REPORT_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "grid.hpp"
#include "job.hpp"
#include "multiply.hpp"
#include "options.hpp"
#include "verify.hpp"

namespace summa {

/// One product by all ranks.
struct Run {
  Mode mode;
  double seconds;                ///< from the common start until every rank was done
  double communication_seconds;  ///< mean over the ranks
  double communication_share;    ///< of all ranks' time together
  std::size_t panels;            ///< that all ranks used together
  std::size_t bytes;             ///< of all ranks
  std::optional<Verdict> verdict;
  [[nodiscard]] double gflops(const Options& options) const;
};

/// Sums up what the ranks' shares cost; `seconds` as in Run. Collective.
Run summarise(apps::Job& job, Mode mode, double seconds, const Cost& mine);

std::string as_text(const Options& options, const Grid& grid, const std::vector<Run>& runs);
std::string as_json(const Options& options, const Grid& grid, const std::vector<Run>& runs);

}  // namespace summa

#endif
