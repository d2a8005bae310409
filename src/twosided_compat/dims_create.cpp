// MPI_Dims_create: a grid whose dimensions are as equal as possible.

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/errors.hpp"

namespace rma::mpi {
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

/// Writes `number` as a product of factors that do not increase, none of which is above `limit`. Of all such
/// products it finds the one whose largest factor is smallest, then the second largest, and so on. Returns
/// false if no such product exists. `divisors` lists the divisors of a multiple of `number`.
bool factorize(int number, int limit, std::span<const int> divisors, std::span<int> factors) {
  if (factors.empty()) return number == 1;
  for (const int factor : divisors) {
    if (factor > limit) return false;
    if (number % factor != 0) continue;
    // The largest of the factors is at least the root of their product.
    double product = 1;
    for (std::size_t i = 0; i < factors.size(); ++i) product *= factor;
    if (product < number) continue;
    factors.front() = factor;
    if (factorize(number / factor, factor, divisors, factors.subspan(1))) return true;
  }
  return false;
}

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
  factorize(rest, rest, divisors_of(rest), factors);  // rest * 1 * 1 ... is one product, so it finds one
  auto next = factors.begin();
  for (int& dim : all) {
    if (dim == 0) dim = *next++;
  }
  return MPI_SUCCESS;
}

}  // namespace rma::mpi
