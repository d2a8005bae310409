/// @file
/// Verifies that C is the product of A and B.
#ifndef SUMMA_VERIFY_HPP
#define SUMMA_VERIFY_HPP

#include <cstddef>
#include <cstdint>

#include "grid.hpp"
#include "job.hpp"
#include "options.hpp"

namespace summa {

/// The result of the verification, which is the same on every rank.
struct Verdict {
  bool right = false;
  bool exact = false;              ///< whether every element was compared with a serial product
  std::size_t wrong_elements = 0;  ///< of the exact comparison
  int rounds = 0;                  ///< of Freivalds' check
  std::size_t wrong_rows = 0;      ///< rows of C with an error beyond the bound, in any round
  double worst = 0;                ///< the largest error of a row, as a fraction of its bound
};

/// Products of at most this many multiplications are compared exactly as well; their matrices hold integers.
constexpr double kExactLimit = 1 << 24;
bool compared_exactly(const Options& options);

/// Checks C = A x B by Freivalds' method: for random vectors x of -1 and 1, C x must be A (B x), row by row
/// within the bound that rounding errors have (see verify.cpp). Each round finds any wrong row with a
/// probability of at least a half, and a single wrong element always. Where compared_exactly(), the ranks
/// also gather C, and rank 0 compares it with a serial product of what the two contents say. Collective.
///
/// R. Freivalds, "Probabilistic machines can use less running time", IFIP Congress 1977.
Verdict verify(apps::Job& job, const Options& options, const Content& a_content, const Content& b_content,
               const Grid& grid, const Matrix& a, const Matrix& b, const Matrix& c);

}  // namespace summa

#endif
