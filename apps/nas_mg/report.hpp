/// @file
/// The results of a run, as a text and as JSON.
#ifndef NAS_MG_REPORT_HPP
#define NAS_MG_REPORT_HPP

#include <optional>
#include <string>

#include "decomposition.hpp"
#include "problem.hpp"

namespace nas_mg {

struct Run {
  const Problem& problem;
  RankGrid grid;
  const char* communication;
  int iterations;
  double seconds;             ///< from the common start until every rank was done
  double exchange_seconds;    ///< of these in exchanges of points, waiting included; mean over the ranks
  double norm;                ///< of the residual
  std::optional<bool> right;  ///< none where the number of iterations is not the class's
  /// Millions of operations per second, of all ranks.
  [[nodiscard]] double mops() const;
};

std::string as_text(const Run& run);
std::string as_json(const Run& run);

}  // namespace nas_mg

#endif
