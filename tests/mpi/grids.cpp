// Grids, beside a model of their coordinates.

#include <algorithm>
#include <array>
#include <climits>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "check.hpp"

namespace {

using mpi_test::rank_in;
using mpi_test::size_of;

int product(const std::vector<int>& factors) {
  return std::accumulate(factors.begin(), factors.end(), 1, std::multiplies<>());
}

/// Returns the smallest difference between the first and the last factor of all products of `count` factors
/// that are `number` and do not increase: by trying all of them. The first factor is `first`, and the next
/// one at most `limit`.
int least_difference(int number, std::size_t count, int first, int limit) {
  if (count == 1) return number <= limit ? (first != 0 ? first - number : 0) : INT_MAX;
  int best = INT_MAX;
  for (int factor = 1; factor <= std::min(number, limit); ++factor) {
    if (number % factor != 0) continue;
    best = std::min(best, least_difference(number / factor, count - 1, first != 0 ? first : factor, factor));
  }
  return best;
}

void dimensions(std::mt19937& random) {
  const auto dims_of = [](int nodes, std::vector<int> dims) {
    SUCCEEDS(MPI_Dims_create(nodes, static_cast<int>(dims.size()), dims.data()));
    return dims;
  };
  CHECK((dims_of(6, {0, 0}) == std::vector{3, 2}));  // the standard's examples
  CHECK((dims_of(7, {0, 0}) == std::vector{7, 1}));
  CHECK((dims_of(6, {0, 3, 0}) == std::vector{2, 3, 1}));
  CHECK((dims_of(1, {0, 0, 0}) == std::vector{1, 1, 1}));
  CHECK((dims_of(12, {0, 0, 0}) == std::vector{3, 2, 2}));
  CHECK((dims_of(64, {0, 0, 0}) == std::vector{4, 4, 4}));
  CHECK((dims_of(2147483647, {0, 0}) == std::vector{2147483647, 1}));
  CHECK((dims_of(1, {}).empty()));
  const auto check_difference = [](int nodes, std::span<const int> dims) {
    CHECK(std::is_sorted(dims.rbegin(), dims.rend()));
    CHECK(dims.front() - dims.back() == least_difference(nodes, dims.size(), 0, nodes));
  };
  CHECK((dims_of(3600, {0, 0, 0, 0}) == std::vector{10, 10, 6, 6}));  // and not 10, 9, 8, 5
  CHECK((dims_of(4620, {0, 0, 0}) == std::vector{22, 15, 14}));
  // Of equal differences: not 20, 18, 14, nor 13, 12, 6, 6.
  CHECK((dims_of(5040, {0, 0, 0}) == std::vector{21, 16, 15}));
  CHECK((dims_of(5616, {0, 0, 0, 0}) == std::vector{13, 9, 8, 6}));
  // Every rank checks its share of all.
  const int size = size_of(MPI_COMM_WORLD);
  for (int nodes = 1 + rank_in(MPI_COMM_WORLD); nodes <= 2000; nodes += size) {
    for (std::size_t count = 1; count <= 6; ++count) {
      const std::vector<int> dims = dims_of(nodes, std::vector<int>(count));
      CHECK(product(dims) == nodes);
      check_difference(nodes, dims);
    }
  }
  for (int turn = 0; turn < 200; ++turn) {
    // Some lengths are given.
    const int rest = std::uniform_int_distribution(1, 9000)(random);
    int nodes = rest;
    std::vector<int> dims(1);
    for (std::size_t more = random() % 4; more > 0; --more) dims.push_back(static_cast<int>(random() % 5));
    std::shuffle(dims.begin(), dims.end(), random);
    for (const int dim : dims) nodes *= std::max(dim, 1);
    const std::vector<int> all = dims_of(nodes, dims);
    std::vector<int> chosen;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] == 0) chosen.push_back(all[i]);
      CHECK(dims[i] == 0 || all[i] == dims[i]);
    }
    CHECK(product(all) == nodes);
    check_difference(rest, chosen);
  }
  CHECK(product(dims_of(2095133040, {0, 0, 0, 0, 0})) == 2095133040);  // it has 1,536 divisors
  CHECK((dims_of(1073741824, std::vector<int>(40))[29] == 2));
  std::array given = {0, 4};
  CHECK(MPI_Dims_create(6, 2, given.data()) == MPI_ERR_DIMS);
  given = {2, 2};
  CHECK(MPI_Dims_create(8, 2, given.data()) == MPI_ERR_DIMS);
  given = {-1, 0};
  CHECK(MPI_Dims_create(8, 2, given.data()) == MPI_ERR_DIMS);
  CHECK(MPI_Dims_create(0, 2, given.data()) == MPI_ERR_ARG);
}

/// The coordinates of a rank, counted up one by one: the last dimension varies fastest.
std::vector<int> counted(const std::vector<int>& dims, int rank) {
  std::vector<int> place(dims.size());
  for (int i = 0; i < rank; ++i) {
    for (std::size_t d = dims.size(); d-- > 0;) {
      if (++place[d] < dims[d]) break;
      place[d] = 0;
    }
  }
  return place;
}

/// Returns the rank whose coordinates are these, found by looking at all ranks, or MPI_PROC_NULL.
int rank_at(const std::vector<int>& dims, const std::vector<int>& periods, std::vector<int> place) {
  for (std::size_t d = 0; d < dims.size(); ++d) {
    while (periods[d] != 0 && place[d] < 0) place[d] += dims[d];
    while (periods[d] != 0 && place[d] >= dims[d]) place[d] -= dims[d];
  }
  for (int rank = 0; rank < product(dims); ++rank) {
    if (counted(dims, rank) == place) return rank;
  }
  return MPI_PROC_NULL;
}

void shifts(MPI_Comm grid, const std::vector<int>& dims, const std::vector<int>& periods) {
  const std::vector<int> own = counted(dims, rank_in(grid));
  for (std::size_t d = 0; d < dims.size(); ++d) {
    for (int displacement = -4; displacement <= 4; ++displacement) {
      int source = -1;
      int destination = -1;
      SUCCEEDS(MPI_Cart_shift(grid, static_cast<int>(d), displacement, &source, &destination));
      std::vector<int> from = own;
      std::vector<int> to = own;
      from[d] -= displacement;
      to[d] += displacement;
      CHECK(source == rank_at(dims, periods, from) && destination == rank_at(dims, periods, to));
    }
  }
}

void parts(MPI_Comm grid, const std::vector<int>& dims, const std::vector<int>& periods,
           std::mt19937& random) {
  std::vector<int> remain(dims.size());
  std::vector<int> kept;
  std::vector<int> kept_periods;
  std::vector<int> kept_place;
  const std::vector<int> own = counted(dims, rank_in(grid));
  for (std::size_t d = 0; d < dims.size(); ++d) {
    remain[d] = static_cast<int>(random() % 2);
    if (remain[d] == 0) continue;
    kept.push_back(dims[d]);
    kept_periods.push_back(periods[d]);
    kept_place.push_back(own[d]);
  }
  MPI_Comm part = MPI_COMM_NULL;
  SUCCEEDS(MPI_Cart_sub(grid, remain.data(), &part));
  CHECK(size_of(part) == product(kept) && rank_in(part) == rank_at(kept, kept_periods, kept_place));
  int count = -1;
  SUCCEEDS(MPI_Cartdim_get(part, &count));
  CHECK(count == static_cast<int>(kept.size()));
  std::vector<int> found(kept.size());
  std::vector<int> found_periods(kept.size());
  std::vector<int> found_place(kept.size());
  SUCCEEDS(MPI_Cart_get(part, count, found.data(), found_periods.data(), found_place.data()));
  CHECK(found == kept && found_periods == kept_periods && found_place == kept_place);
  // All members of a part agree on the dropped coordinates.
  std::vector<int> dropped = own;
  for (std::size_t d = 0; d < dims.size(); ++d) dropped[d] = remain[d] != 0 ? 0 : own[d];
  std::vector<int> first = dropped;
  SUCCEEDS(MPI_Bcast(first.data(), static_cast<int>(first.size()), MPI_INT, 0, part));
  CHECK(first == dropped);
  SUCCEEDS(MPI_Comm_free(&part));
}

/// Grids of drawn dimensions, with as many processes as there are or fewer.
void grids(std::mt19937& random) {
  const int size = size_of(MPI_COMM_WORLD);
  for (int turn = 0; turn < 12; ++turn) {
    std::vector<int> dims(random() % 4 + 1);
    std::vector<int> periods(dims.size());
    const int nodes = std::uniform_int_distribution(1, size)(random);
    SUCCEEDS(MPI_Dims_create(nodes, static_cast<int>(dims.size()), dims.data()));
    std::shuffle(dims.begin(), dims.end(), random);
    for (int& period : periods) period = static_cast<int>(random() % 2);
    const auto count = static_cast<int>(dims.size());
    MPI_Comm grid = MPI_COMM_WORLD;
    int mapped = -1;
    SUCCEEDS(MPI_Cart_map(MPI_COMM_WORLD, count, dims.data(), periods.data(), &mapped));
    SUCCEEDS(MPI_Cart_create(MPI_COMM_WORLD, count, dims.data(), periods.data(), turn % 2, &grid));
    const bool takes_part = grid != MPI_COMM_NULL;
    CHECK(takes_part == (mapped != MPI_UNDEFINED));
    int members = -1;
    const int one = takes_part ? 1 : 0;
    SUCCEEDS(MPI_Allreduce(&one, &members, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(members == nodes);
    std::mt19937 drawn_for_parts(random());  // so that all processes go on with the same draws
    if (!takes_part) continue;
    CHECK(size_of(grid) == nodes && rank_in(grid) == mapped);
    int kind = -1;
    SUCCEEDS(MPI_Topo_test(grid, &kind));
    CHECK(kind == MPI_CART);
    for (int rank = 0; rank < nodes; ++rank) {
      std::vector<int> place(dims.size());
      int back = -1;
      SUCCEEDS(MPI_Cart_coords(grid, rank, count, place.data()));
      CHECK(place == counted(dims, rank));
      for (std::size_t d = 0; d < dims.size(); ++d)
        place[d] += periods[d] != 0 ? 3 * dims[d] * (rank % 3 - 1) : 0;
      SUCCEEDS(MPI_Cart_rank(grid, place.data(), &back));
      CHECK(back == rank);
    }
    shifts(grid, dims, periods);
    MPI_Comm copy = MPI_COMM_NULL;
    SUCCEEDS(MPI_Comm_dup(grid, &copy));
    shifts(copy, dims, periods);  // a duplicate has the topology
    SUCCEEDS(MPI_Comm_free(&copy));
    parts(grid, dims, periods, drawn_for_parts);
    SUCCEEDS(MPI_Comm_free(&grid));
  }
}

void grid_without_dimensions() {
  MPI_Comm grid = MPI_COMM_NULL;
  int value = -1;
  SUCCEEDS(MPI_Cart_create(MPI_COMM_WORLD, 0, nullptr, nullptr, 0, &grid));
  CHECK((grid != MPI_COMM_NULL) == (rank_in(MPI_COMM_WORLD) == 0));
  if (grid == MPI_COMM_NULL) return;
  SUCCEEDS(MPI_Cartdim_get(grid, &value));
  CHECK(value == 0 && size_of(grid) == 1);
  SUCCEEDS(MPI_Cart_rank(grid, nullptr, &value));
  CHECK(value == 0);
  SUCCEEDS(MPI_Comm_free(&grid));
}

void mistakes_with_grids() {
  const int size = size_of(MPI_COMM_WORLD);
  MPI_Comm grid = MPI_COMM_NULL;
  int value = -1;
  int other = -1;
  std::array dims = {size, 1};
  std::array periods = {0, 1};
  dims = {size, 2};
  CHECK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims.data(), periods.data(), 0, &grid) == MPI_ERR_ARG);
  dims = {1 << 20, 1 << 20};
  CHECK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims.data(), periods.data(), 0, &grid) == MPI_ERR_ARG);
  dims = {0, 1};
  CHECK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims.data(), periods.data(), 0, &grid) == MPI_ERR_DIMS);
  CHECK(MPI_Cart_create(MPI_COMM_WORLD, -1, dims.data(), periods.data(), 0, &grid) == MPI_ERR_DIMS);
  CHECK(MPI_Cart_create(MPI_COMM_WORLD, 2, nullptr, periods.data(), 0, &grid) == MPI_ERR_ARG);
  CHECK(MPI_Cart_create(MPI_COMM_NULL, 2, dims.data(), periods.data(), 0, &grid) == MPI_ERR_COMM);
  CHECK(MPI_Cartdim_get(MPI_COMM_WORLD, &value) == MPI_ERR_TOPOLOGY);
  CHECK(MPI_Cart_shift(MPI_COMM_WORLD, 0, 1, &value, &other) == MPI_ERR_TOPOLOGY);
  SUCCEEDS(MPI_Topo_test(MPI_COMM_WORLD, &value));
  CHECK(value == MPI_UNDEFINED);
  CHECK(grid == MPI_COMM_NULL);

  dims = {size, 1};
  SUCCEEDS(MPI_Cart_create(MPI_COMM_WORLD, 2, dims.data(), periods.data(), 0, &grid));
  std::array place = {size, 0};
  CHECK(MPI_Cart_rank(grid, place.data(), &value) == MPI_ERR_ARG);
  place = {-1, 0};
  CHECK(MPI_Cart_rank(grid, place.data(), &value) == MPI_ERR_ARG);
  CHECK(MPI_Cart_shift(grid, 2, 1, &value, &other) == MPI_ERR_DIMS);
  CHECK(MPI_Cart_shift(grid, -1, 1, &value, &other) == MPI_ERR_DIMS);
  CHECK(MPI_Cart_coords(grid, size, 2, place.data()) == MPI_ERR_RANK);
  CHECK(MPI_Cart_coords(grid, 0, -1, place.data()) == MPI_ERR_ARG);
  CHECK(MPI_Graphdims_get(grid, &value, &other) == MPI_ERR_TOPOLOGY);
  place = {-7, -7};
  SUCCEEDS(
      MPI_Cart_coords(grid, size - 1, 1, place.data()));  // an array that is too short gets the beginning
  CHECK(place[0] == size - 1 && place[1] == -7);
  SUCCEEDS(MPI_Comm_free(&grid));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  std::mt19937 random(mpi_test::test_seed());
  dimensions(random);
  grids(random);
  grid_without_dimensions();
  mistakes_with_grids();
  const int code = mpi_test::result();
  MPI_Finalize();
  return code;
}
