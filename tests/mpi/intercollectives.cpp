// Collective calls on intercommunicators: with a root in each of the two groups, and without a root.

#include <algorithm>
#include <array>
#include <vector>

#include "check.hpp"
#include "two_groups.hpp"

namespace {

using mpi_test::rank_in;
using mpi_test::remote_world;
using mpi_test::Sides;
using mpi_test::size_of;

/// The argument for the root: `root` is a rank in the group that holds the root.
int root_argument(const Sides& side, bool in_low, int root) {
  if (side.low != in_low) return root;
  return side.rank == root ? MPI_ROOT : MPI_PROC_NULL;
}

void rooted(MPI_Comm inter, int limit, bool in_low, int root) {
  const Sides side(inter, limit);
  const int argument = root_argument(side, in_low, root);
  const bool receives = side.low != in_low;
  const bool is_root = argument == MPI_ROOT;
  const int own = rank_in(MPI_COMM_WORLD);
  const int root_world = root + (in_low ? 0 : limit);
  const auto remote = static_cast<std::size_t>(side.remote);

  std::array<int, 3> data = {own, own + 1, own + 2};
  SUCCEEDS(MPI_Bcast(data.data(), 3, MPI_INT, argument, inter));
  const int expected = receives ? root_world : own;
  CHECK((data == std::array{expected, expected + 1, expected + 2}));

  // Gather: the root gets the blocks of the other group.
  data = {own, 2 * own, 3 * own};
  std::vector<int> all(3 * remote + 3 * remote, -1);
  SUCCEEDS(MPI_Gather(data.data(), 3, MPI_INT, all.data(), 3, MPI_INT, argument, inter));
  for (int r = 0; is_root && r < side.remote; ++r) {
    const int there = remote_world(side, limit, r);
    const auto at = static_cast<std::size_t>(3 * r);
    CHECK(all[at] == there && all[at + 1] == 2 * there && all[at + 2] == 3 * there);
  }
  std::vector<int> counts;
  std::vector<int> places;
  for (int r = 0; r < side.remote; ++r) {
    counts.push_back(r % 4);
    places.push_back(5 * r);
  }
  std::fill(all.begin(), all.end(), -1);
  SUCCEEDS(MPI_Gatherv(data.data(), std::min(side.rank % 4, 3), MPI_INT, all.data(), counts.data(),
                       places.data(), MPI_INT, argument, inter));
  for (int r = 0; is_root && r < side.remote; ++r) {
    const int there = remote_world(side, limit, r);
    for (int i = 0; i < 5 && static_cast<std::size_t>(5 * r + i) < all.size(); ++i)
      CHECK(all[static_cast<std::size_t>(5 * r + i)] == (i < r % 4 ? (i + 1) * there : -1));
  }

  // Scatter: the root gives each of the other group a block.
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = 1000 * own + static_cast<int>(i);
  data = {-1, -1, -1};
  SUCCEEDS(MPI_Scatter(all.data(), 2, MPI_INT, data.data(), 2, MPI_INT, argument, inter));
  if (receives) {
    const int begin = 1000 * root_world + 2 * side.rank;
    CHECK((data == std::array{begin, begin + 1, -1}));
  }
  data = {-1, -1, -1};
  SUCCEEDS(MPI_Scatterv(all.data(), counts.data(), places.data(), MPI_INT, data.data(), side.rank % 4,
                        MPI_INT, argument, inter));
  for (int i = 0; receives && i < 3; ++i)
    CHECK(data[static_cast<std::size_t>(i)] ==
          (i < side.rank % 4 ? 1000 * root_world + 5 * side.rank + i : -1));

  // Reduce: the root gets the sum of the other group.
  const std::array<int, 2> addends = {own, 1};
  std::array<int, 2> sums = {-1, -1};
  SUCCEEDS(MPI_Reduce(addends.data(), sums.data(), 2, MPI_INT, MPI_SUM, argument, inter));
  int sum = 0;
  for (int r = 0; r < side.remote; ++r) sum += remote_world(side, limit, r);
  CHECK((sums == (is_root ? std::array{sum, side.remote} : std::array{-1, -1})));
}

void everywhere(MPI_Comm inter, int limit) {
  const Sides side(inter, limit);
  const int own = rank_in(MPI_COMM_WORLD);
  const auto remote = static_cast<std::size_t>(side.remote);
  SUCCEEDS(MPI_Barrier(inter));
  std::vector<int> all(2 * remote, -1);
  const std::array<int, 2> mine = {own, -own};
  SUCCEEDS(MPI_Allgather(mine.data(), 2, MPI_INT, all.data(), 2, MPI_INT, inter));
  for (int r = 0; r < side.remote; ++r) {
    const int there = remote_world(side, limit, r);
    CHECK(all[static_cast<std::size_t>(2 * r)] == there &&
          all[static_cast<std::size_t>(2 * r + 1)] == -there);
  }
  // The blocks of allgatherv and alltoallv have r % 3 elements and lie backwards.
  std::vector<int> counts;
  std::vector<int> places;
  for (int r = 0; r < side.remote; ++r) {
    counts.push_back(r % 3);
    places.push_back(2 * (side.remote - 1 - r));
  }
  const auto expect = [&](auto value) {
    for (int r = 0; r < side.remote; ++r) {
      for (int i = 0; i < 2; ++i) {
        const int expected = i < r % 3 ? value(r, i) : -1;
        CHECK(all[static_cast<std::size_t>(2 * (side.remote - 1 - r) + i)] == expected);
      }
    }
    std::fill(all.begin(), all.end(), -1);
  };
  std::fill(all.begin(), all.end(), -1);
  SUCCEEDS(MPI_Allgatherv(mine.data(), side.rank % 3, MPI_INT, all.data(), counts.data(), places.data(),
                          MPI_INT, inter));
  expect([&](int r, int i) { return (i == 0 ? 1 : -1) * remote_world(side, limit, r); });

  std::vector<int> out;
  for (int r = 0; r < side.remote; ++r) out.insert(out.end(), {100 * own + r, -100 * own - r});
  SUCCEEDS(MPI_Alltoall(out.data(), 2, MPI_INT, all.data(), 2, MPI_INT, inter));
  for (int r = 0; r < side.remote; ++r) {
    const int value = 100 * remote_world(side, limit, r) + side.rank;
    CHECK(all[static_cast<std::size_t>(2 * r)] == value &&
          all[static_cast<std::size_t>(2 * r + 1)] == -value);
  }
  std::fill(all.begin(), all.end(), -1);
  const std::vector<int> out_counts(remote, side.rank % 3);
  std::vector<int> out_places;
  for (int r = 0; r < side.remote; ++r) out_places.push_back(2 * r);
  const auto sent = [&](int r, int i) {
    return (i == 0 ? 1 : -1) * (100 * remote_world(side, limit, r) + side.rank);
  };
  SUCCEEDS(MPI_Alltoallv(out.data(), out_counts.data(), out_places.data(), MPI_INT, all.data(), counts.data(),
                         places.data(), MPI_INT, inter));
  expect(sent);
  const std::vector<MPI_Datatype> types(remote, MPI_INT);
  std::vector<int> in_bytes = places;
  std::vector<int> out_bytes = out_places;
  for (int& place : in_bytes) place *= static_cast<int>(sizeof(int));
  for (int& place : out_bytes) place *= static_cast<int>(sizeof(int));
  SUCCEEDS(MPI_Alltoallw(out.data(), out_counts.data(), out_bytes.data(), types.data(), all.data(),
                         counts.data(), in_bytes.data(), types.data(), inter));
  expect(sent);

  // Each group gets what the other one has combined.
  const std::array<int, 2> addends = {own, 1};
  std::array<int, 2> sums = {-1, -1};
  int sum = 0;
  for (int r = 0; r < side.remote; ++r) sum += remote_world(side, limit, r);
  SUCCEEDS(MPI_Allreduce(addends.data(), sums.data(), 2, MPI_INT, MPI_SUM, inter));
  CHECK((sums == std::array{sum, side.remote}));

  // The two groups divide vectors of one length, and each process gets its part of the other group's sum.
  const int total = side.size * side.remote;
  std::vector<int> vector(static_cast<std::size_t>(total));
  for (int i = 0; i < total; ++i) vector[static_cast<std::size_t>(i)] = 100 * own + i;
  std::vector<int> part(remote, -1);
  const auto expect_part = [&](int begin, int count) {
    for (int i = 0; i < side.remote; ++i) {
      const int value = 100 * sum + side.remote * (begin + i);
      CHECK(part[static_cast<std::size_t>(i)] == (i < count ? value : -1));
    }
    std::fill(part.begin(), part.end(), -1);
  };
  SUCCEEDS(MPI_Reduce_scatter_block(vector.data(), part.data(), side.remote, MPI_INT, MPI_SUM, inter));
  expect_part(side.rank * side.remote, side.remote);
  const std::vector<int> lengths(static_cast<std::size_t>(side.size), side.remote);
  SUCCEEDS(MPI_Reduce_scatter(vector.data(), part.data(), lengths.data(), MPI_INT, MPI_SUM, inter));
  expect_part(side.rank * side.remote, side.remote);
  CHECK(MPI_Scan(addends.data(), sums.data(), 2, MPI_INT, MPI_SUM, inter) == MPI_ERR_COMM);
  CHECK(MPI_Exscan(addends.data(), sums.data(), 2, MPI_INT, MPI_SUM, inter) == MPI_ERR_COMM);
  CHECK(MPI_Bcast(sums.data(), 2, MPI_INT, side.remote, inter) == MPI_ERR_ROOT);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (const int limit : mpi_test::limits()) {
    MPI_Comm local = MPI_COMM_NULL;
    MPI_Comm inter = mpi_test::connect(limit, local);
    for (const bool in_low : {true, false}) {
      rooted(inter, limit, in_low, 0);
      rooted(inter, limit, in_low, (in_low ? limit : size_of(MPI_COMM_WORLD) - limit) - 1);
    }
    everywhere(inter, limit);
    MPI_Comm copy = MPI_COMM_NULL;
    SUCCEEDS(MPI_Comm_dup(inter, &copy));
    everywhere(copy, limit);
    SUCCEEDS(MPI_Comm_free(&copy));
    SUCCEEDS(MPI_Comm_free(&inter));
    SUCCEEDS(MPI_Comm_free(&local));
  }
  const int code = mpi_test::result();
  MPI_Finalize();
  return code;
}
