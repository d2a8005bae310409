#include "verify.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace summa {

namespace {

// Twenty rounds miss a wrong product with a probability below one in a million.
constexpr std::size_t kRounds = 20;

// Some vectors side by side: element i of vector r is at [i * kWidth + r]. The last one is for the norms.
constexpr std::size_t kWidth = kRounds + 1;
using Vectors = std::vector<double>;

// Random vectors of -1 and 1; the last is all 1.
Vectors random_signs(std::size_t length, std::uint64_t seed) {
  const Content bits{seed, false};
  Vectors x(length * kWidth);
  for (std::size_t i = 0; i < length; ++i) {
    for (std::size_t r = 0; r < kRounds; ++r) x[i * kWidth + r] = bits.at(i, r) < 0 ? -1.0 : 1.0;
    x[i * kWidth + kRounds] = 1.0;
  }
  return x;
}

// matrix x vectors, everywhere; the last of the vectors is multiplied by the absolute values of the matrix.
Vectors multiply_vectors(apps::Job& job, const Matrix& matrix, const Vectors& x) {
  Vectors y(matrix.rows() * kWidth, 0.0);
  const Band rows = matrix.row_band();
  const Band columns = matrix.column_band();
  const double* element = matrix.local().data();
  for (std::size_t row = rows.first; row < rows.end(); ++row) {
    double* const sums = &y[row * kWidth];
    for (std::size_t column = columns.first; column < columns.end(); ++column, ++element) {
      const double* const factors = &x[column * kWidth];
      for (std::size_t r = 0; r < kRounds; ++r) sums[r] += *element * factors[r];
      sums[kRounds] += std::abs(*element) * factors[kRounds];
    }
  }
  job.sum(y);
  return y;
}

// A rounding error of one operation is at most u = eps / 2 of its result. An element of C, summed up in any
// order of k products, is thus within g(k) (|A||B|)_ij of the true one, where g(k) = k u / (1 - k u) (Higham,
// "Accuracy and Stability of Numerical Algorithms", section 3.5). Here x is of -1 and 1, so the error of C x
// that comes from C is within g(k) (|A||B|e)_i, with e all ones; its own sums over n columns add g(n) of
// |C|e, and A (B x) has g(k) + g(n). All together at most 2 g(k + n) (|A||B|e)_i to first order; the factor
// of 2 more below covers the higher orders and the rounding of the bound itself. Nothing else is tolerated.
double relative_bound(std::size_t k, std::size_t n) {
  return 2.0 * static_cast<double>(k + n) * std::numeric_limits<double>::epsilon();
}

void check_freivalds(apps::Job& job, const Options& options, const Matrix& a, const Matrix& b,
                     const Matrix& c, Verdict& verdict) {
  const Vectors x = random_signs(options.n, options.seed + 1);
  const Vectors expected = multiply_vectors(job, a, multiply_vectors(job, b, x));
  const Vectors got = multiply_vectors(job, c, x);
  const double relative = relative_bound(options.k, options.n);
  for (std::size_t row = 0; row < options.m; ++row) {
    const double bound = relative * expected[row * kWidth + kRounds];
    bool wrong = false;
    for (std::size_t r = 0; r < kRounds; ++r) {
      const double error = std::abs(expected[row * kWidth + r] - got[row * kWidth + r]);
      // This is not "error > bound", because a NaN must count as wrong.
      if (!(error <= bound)) wrong = true;
      if (bound > 0) verdict.worst = std::max(verdict.worst, error / bound);
    }
    if (wrong) ++verdict.wrong_rows;
  }
  verdict.rounds = static_cast<int>(kRounds);
}

// Row `index` of the block of every rank, in the order of ranks; `width` elements of each.
std::vector<double> gather_rows(apps::Job& job, const Matrix& c, std::size_t index, std::size_t width) {
  std::vector<double> mine(width, 0.0);
  const std::size_t columns = c.column_band().count;
  if (index < c.row_band().count) std::copy_n(&c.local()[index * columns], columns, mine.data());
  std::vector<double> all(width * static_cast<std::size_t>(job.size()));
  job.gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)));
  return all;
}

// The number of elements of C that differ from the serial product, on rank 0. Collective.
std::size_t compare_exactly(apps::Job& job, const Content& a_content, const Content& b_content,
                            const Options& options, const Grid& grid, const Matrix& c) {
  std::vector<double> b_elements(options.k * options.n);
  for (std::size_t l = 0; l < options.k; ++l) {
    for (std::size_t j = 0; j < options.n; ++j) b_elements[l * options.n + j] = b_content.at(l, j);
  }
  // The first bands are the largest.
  const std::size_t width = c.column_band(0).count;
  std::size_t wrong = 0;
  std::vector<double> expected(options.n);
  for (std::size_t index = 0; index < c.row_band(0).count; ++index) {
    const std::vector<double> rows = gather_rows(job, c, index, width);
    for (int grid_row = 0; grid_row < grid.rows && job.rank() == 0; ++grid_row) {
      if (index >= c.row_band(grid_row).count) continue;
      std::ranges::fill(expected, 0.0);
      for (std::size_t l = 0; l < options.k; ++l) {
        const double factor = a_content.at(c.row_band(grid_row).first + index, l);
        for (std::size_t j = 0; j < options.n; ++j) expected[j] += factor * b_elements[l * options.n + j];
      }
      for (std::size_t j = 0; j < options.n; ++j) {
        const int column = c.owner_of_column(j);
        const auto rank = static_cast<std::size_t>(grid.rank_at(grid_row, column));
        const double got = rows[rank * width + (j - c.column_band(column).first)];
        if (!std::equal_to<>{}(expected[j], got)) ++wrong;
      }
    }
  }
  return wrong;
}

}  // namespace

bool compared_exactly(const Options& options) {
  return static_cast<double>(options.m) * static_cast<double>(options.n) * static_cast<double>(options.k) <=
         kExactLimit;
}

Verdict verify(apps::Job& job, const Options& options, const Content& a_content, const Content& b_content,
               const Grid& grid, const Matrix& a, const Matrix& b, const Matrix& c) {
  job.barrier();  // every block of C is complete
  Verdict verdict;
  check_freivalds(job, options, a, b, c, verdict);
  verdict.exact = compared_exactly(options);
  if (verdict.exact) {
    const std::size_t wrong = compare_exactly(job, a_content, b_content, options, grid, c);
    verdict.wrong_elements = static_cast<std::size_t>(job.sum(static_cast<double>(wrong)));
  }
  verdict.right = verdict.wrong_rows == 0 && verdict.wrong_elements == 0;
  return verdict;
}

}  // namespace summa
