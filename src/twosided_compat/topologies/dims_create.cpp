// MPI_Dims_create: a grid whose dimensions are as equal as possible.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/objects/errors.hpp"

namespace librma::mpi {
namespace {

/// Returns the divisors of `number` in ascending order.
std::vector<int> divisors_of(int number) {
  std::vector<int> low;
  std::vector<int> high;
  for (int i = 1; i <= number / i; ++i) {
    if (number % i != 0) continue;
    low.push_back(i);
    if (i != number / i) high.push_back(number / i);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

/// Returns whether the product of `count` factors, none of which is above `factor`, can be as large as
/// `number`.
bool reaches(int factor, std::size_t count, int number) {
  double product = 1;
  for (std::size_t i = 0; i < count; ++i) product *= factor;
  return product >= number;
}

/// Finds the product of a number of factors that do not increase and are as close to each other as possible:
/// the difference of the first and the last is smallest. Of several such products it finds the one whose
/// last factor is largest, then the one before it, and so on, as MPICH does.
class Squarest {
 public:
  /// `factors` gets the result, which exists if it has at least one element.
  Squarest(int number, std::span<int> factors)
      : divisors_(divisors_of(number)), factors_(factors), tried_(factors.size()), best_(number) {
    // The smallest factor is at most the root of the number, which this bounds. So a larger first factor is
    // of no use once it is further from there than the best product's first factor from its last.
    const int root = static_cast<int>(std::pow(number, 1.0 / static_cast<double>(factors.size()))) + 1;
    for (const int first : divisors_) {
      if (!reaches(first, factors.size(), number)) continue;
      if (found_ && first - root > best_) break;
      tried_.front() = first;
      try_others(number / first, 1);
    }
  }

 private:
  /// Returns whether the factors tried are preferred to the best ones, which have the same difference.
  [[nodiscard]] bool is_preferred() const {
    return std::lexicographical_compare(factors_.rbegin(), factors_.rend(), tried_.rbegin(), tried_.rend());
  }

  /// Tries the factors from the one with this number on, whose product is `number`.
  void try_others(int number, std::size_t next) {
    const int first = tried_.front();
    if (next == tried_.size()) {
      const int difference = first - tried_.back();
      if (number != 1 || (found_ && (difference > best_ || (difference == best_ && !is_preferred())))) return;
      best_ = difference;
      found_ = true;
      std::ranges::copy(tried_, factors_.begin());
      return;
    }
    const int limit = tried_[next - 1];
    const int least = found_ ? first - best_ : 1;
    for (auto factor = std::ranges::lower_bound(divisors_, least);
         factor != divisors_.end() && *factor <= limit; ++factor) {
      if (number % *factor != 0 || !reaches(*factor, tried_.size() - next, number)) continue;
      tried_[next] = *factor;
      try_others(number / *factor, next + 1);
    }
  }

  const std::vector<int> divisors_;
  const std::span<int> factors_;
  std::vector<int> tried_;
  int best_;  ///< the difference of the first and the last factor of the best product so far
  bool found_ = false;
};

}  // namespace

int dims_create(int nodes, int count, int dims[]) {
  if (nodes <= 0) return failure(MPI_ERR_ARG, fmt::format("nnodes is {}", nodes));
  if (count < 0) return failure(MPI_ERR_DIMS, fmt::format("ndims is {}", count));
  if (count != 0 && dims == nullptr) return failure(MPI_ERR_ARG, "dims is null");
  const std::span<int> all(dims, static_cast<std::size_t>(count));
  int rest = nodes;
  for (const int dim : all) {
    if (dim < 0) return failure(MPI_ERR_DIMS, fmt::format("a dimension has the length {}", dim));
    if (dim == 0) continue;
    if (rest % dim != 0)
      return failure(MPI_ERR_DIMS,
                     fmt::format("{} processes are no multiple of the given dimensions", nodes));
    rest /= dim;
  }
  const auto free = static_cast<std::size_t>(std::ranges::count(all, 0));
  if (free == 0 && rest != 1)
    return failure(MPI_ERR_DIMS, fmt::format("the given dimensions have fewer than {} processes", nodes));
  std::vector<int> factors(free);
  if (free != 0) Squarest(rest, factors);
  auto next = factors.begin();
  for (int& dim : all) {
    if (dim == 0) dim = *next++;
  }
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
