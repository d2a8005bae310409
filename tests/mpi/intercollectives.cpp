// Collective calls on intercommunicators in their three forms: with a root in each of the two groups, and
// without a root.

#include <algorithm>
#include <array>
#include <vector>

#include "check.hpp"
#include "forms.hpp"
#include "two_groups.hpp"

namespace {

using mpi_test::Call;
using mpi_test::Form;
using mpi_test::rank_in;
using mpi_test::remote_world;
using mpi_test::Sides;
using mpi_test::size_of;

/// The argument for the root: `root` is a rank in the group that holds the root.
int root_argument(const Sides& side, bool in_low, int root) {
  if (side.low != in_low) return root;
  return side.rank == root ? MPI_ROOT : MPI_PROC_NULL;
}

void rooted(MPI_Comm inter, int limit, bool in_low, int root, Form form) {
  const Sides side(inter, limit);
  const int argument = root_argument(side, in_low, root);
  const bool receives = side.low != in_low;
  const bool is_root = argument == MPI_ROOT;
  const int own = rank_in(MPI_COMM_WORLD);
  const int root_world = root + (in_low ? 0 : limit);
  const auto remote = static_cast<std::size_t>(side.remote);

  std::array<int, 3> data = {own, own + 1, own + 2};
  SUCCEEDS((Call(MPI_Bcast, MPI_Ibcast, MPI_Bcast_init)(form, data.data(), 3, MPI_INT, argument, inter)));
  const int expected = receives ? root_world : own;
  CHECK((data == std::array{expected, expected + 1, expected + 2}));

  // Gather: the root gets the blocks of the other group.
  data = {own, 2 * own, 3 * own};
  std::vector<int> all(3 * remote + 3 * remote, -1);
  SUCCEEDS((Call(MPI_Gather, MPI_Igather, MPI_Gather_init)(form, data.data(), 3, MPI_INT, all.data(), 3,
                                                           MPI_INT, argument, inter)));
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
  SUCCEEDS((Call(MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init)(form, data.data(), std::min(side.rank % 4, 3),
                                                              MPI_INT, all.data(), counts.data(),
                                                              places.data(), MPI_INT, argument, inter)));
  for (int r = 0; is_root && r < side.remote; ++r) {
    const int there = remote_world(side, limit, r);
    for (int i = 0; i < 5 && static_cast<std::size_t>(5 * r + i) < all.size(); ++i)
      CHECK(all[static_cast<std::size_t>(5 * r + i)] == (i < r % 4 ? (i + 1) * there : -1));
  }

  // Scatter: the root gives each of the other group a block.
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = 1000 * own + static_cast<int>(i);
  data = {-1, -1, -1};
  SUCCEEDS((Call(MPI_Scatter, MPI_Iscatter, MPI_Scatter_init)(form, all.data(), 2, MPI_INT, data.data(), 2,
                                                              MPI_INT, argument, inter)));
  if (receives) {
    const int begin = 1000 * root_world + 2 * side.rank;
    CHECK((data == std::array{begin, begin + 1, -1}));
  }
  data = {-1, -1, -1};
  SUCCEEDS((Call(MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init)(form, all.data(), counts.data(),
                                                                 places.data(), MPI_INT, data.data(),
                                                                 side.rank % 4, MPI_INT, argument, inter)));
  for (int i = 0; receives && i < 3; ++i)
    CHECK(data[static_cast<std::size_t>(i)] ==
          (i < side.rank % 4 ? 1000 * root_world + 5 * side.rank + i : -1));

  // Reduce: the root gets the sum of the other group.
  const std::array<int, 2> addends = {own, 1};
  std::array<int, 2> sums = {-1, -1};
  SUCCEEDS((Call(MPI_Reduce, MPI_Ireduce, MPI_Reduce_init)(form, addends.data(), sums.data(), 2, MPI_INT,
                                                           MPI_SUM, argument, inter)));
  int sum = 0;
  for (int r = 0; r < side.remote; ++r) sum += remote_world(side, limit, r);
  CHECK((sums == (is_root ? std::array{sum, side.remote} : std::array{-1, -1})));
}

void everywhere(MPI_Comm inter, int limit, Form form) {
  const Sides side(inter, limit);
  const int own = rank_in(MPI_COMM_WORLD);
  const auto remote = static_cast<std::size_t>(side.remote);
  SUCCEEDS((Call(MPI_Barrier, MPI_Ibarrier, MPI_Barrier_init)(form, inter)));
  std::vector<int> all(2 * remote, -1);
  const std::array<int, 2> mine = {own, -own};
  SUCCEEDS((Call(MPI_Allgather, MPI_Iallgather, MPI_Allgather_init)(form, mine.data(), 2, MPI_INT, all.data(),
                                                                    2, MPI_INT, inter)));
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
  SUCCEEDS((Call(MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init)(
      form, mine.data(), side.rank % 3, MPI_INT, all.data(), counts.data(), places.data(), MPI_INT, inter)));
  expect([&](int r, int i) { return (i == 0 ? 1 : -1) * remote_world(side, limit, r); });

  std::vector<int> out;
  for (int r = 0; r < side.remote; ++r) out.insert(out.end(), {100 * own + r, -100 * own - r});
  SUCCEEDS((Call(MPI_Alltoall, MPI_Ialltoall, MPI_Alltoall_init)(form, out.data(), 2, MPI_INT, all.data(), 2,
                                                                 MPI_INT, inter)));
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
  SUCCEEDS((Call(MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init)(
      form, out.data(), out_counts.data(), out_places.data(), MPI_INT, all.data(), counts.data(),
      places.data(), MPI_INT, inter)));
  expect(sent);
  const std::vector<MPI_Datatype> types(remote, MPI_INT);
  std::vector<int> in_bytes = places;
  std::vector<int> out_bytes = out_places;
  for (int& place : in_bytes) place *= static_cast<int>(sizeof(int));
  for (int& place : out_bytes) place *= static_cast<int>(sizeof(int));
  SUCCEEDS((Call(MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init)(
      form, out.data(), out_counts.data(), out_bytes.data(), types.data(), all.data(), counts.data(),
      in_bytes.data(), types.data(), inter)));
  expect(sent);

  // Each group gets what the other one has combined.
  const std::array<int, 2> addends = {own, 1};
  std::array<int, 2> sums = {-1, -1};
  int sum = 0;
  for (int r = 0; r < side.remote; ++r) sum += remote_world(side, limit, r);
  SUCCEEDS((Call(MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init)(form, addends.data(), sums.data(), 2,
                                                                    MPI_INT, MPI_SUM, inter)));
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
  SUCCEEDS((Call(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init)(
      form, vector.data(), part.data(), side.remote, MPI_INT, MPI_SUM, inter)));
  expect_part(side.rank * side.remote, side.remote);
  const std::vector<int> lengths(static_cast<std::size_t>(side.size), side.remote);
  SUCCEEDS((Call(MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter_init)(
      form, vector.data(), part.data(), lengths.data(), MPI_INT, MPI_SUM, inter)));
  expect_part(side.rank * side.remote, side.remote);
  CHECK(MPI_Scan(addends.data(), sums.data(), 2, MPI_INT, MPI_SUM, inter) == MPI_ERR_COMM);
  CHECK(MPI_Exscan(addends.data(), sums.data(), 2, MPI_INT, MPI_SUM, inter) == MPI_ERR_COMM);
  CHECK((Call(MPI_Bcast, MPI_Ibcast, MPI_Bcast_init)(form, sums.data(), 2, MPI_INT, side.remote, inter) ==
         MPI_ERR_ROOT));
  CHECK((Call(MPI_Allgather, MPI_Iallgather, MPI_Allgather_init)(
             form, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all.data(), 2, MPI_INT, inter) == MPI_ERR_BUFFER));
  CHECK((Call(MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init)(form, MPI_IN_PLACE, sums.data(), 2, MPI_INT,
                                                                 MPI_SUM, inter) == MPI_ERR_BUFFER));
}

/// Columns of a matrix, which are not contiguous, and long enough for a message that is announced.
void columns(MPI_Comm inter, int limit, Form form) {
  const Sides side(inter, limit);
  constexpr int kRows = 3000;
  const int own = rank_in(MPI_COMM_WORLD);
  MPI_Datatype column = MPI_DATATYPE_NULL;
  MPI_Datatype next_column = MPI_DATATYPE_NULL;
  SUCCEEDS(MPI_Type_vector(kRows, 1, side.remote + 1, MPI_INT, &column));
  SUCCEEDS(MPI_Type_create_resized(column, 0, sizeof(int), &next_column));
  SUCCEEDS(MPI_Type_commit(&next_column));
  std::vector<int> matrix(static_cast<std::size_t>(kRows * (side.remote + 1)), -1);
  std::vector<int> out(kRows);
  for (int row = 0; row < kRows; ++row) out[static_cast<std::size_t>(row)] = own * kRows + row;
  SUCCEEDS((Call(MPI_Allgather, MPI_Iallgather, MPI_Allgather_init)(form, out.data(), kRows, MPI_INT,
                                                                    matrix.data(), 1, next_column, inter)));
  for (int row = 0; row < kRows; ++row) {
    for (int r = 0; r <= side.remote; ++r) {
      const int expected = r < side.remote ? remote_world(side, limit, r) * kRows + row : -1;
      CHECK(matrix[static_cast<std::size_t>(row * (side.remote + 1) + r)] == expected);
    }
  }
  SUCCEEDS(MPI_Type_free(&column));
  SUCCEEDS(MPI_Type_free(&next_column));
}

/// Composes digits: the operation does not commute, and the result shows the order of the operands.
void append_digits(void* in, void* inout, int* length, MPI_Datatype* /*type*/) {
  const auto* const first = static_cast<const long*>(in);
  auto* const second = static_cast<long*>(inout);
  for (int i = 0; i < *length; ++i) {
    long scale = 1;
    while (scale <= second[i]) scale *= 10;
    second[i] += first[i] * scale;
  }
}

void order_of_ranks(MPI_Comm inter, int limit, Form form) {
  const Sides side(inter, limit);
  MPI_Op op = MPI_OP_NULL;
  SUCCEEDS(MPI_Op_create(append_digits, 0, &op));
  const long own = rank_in(MPI_COMM_WORLD) + 1;
  long expected = 0;
  for (int r = 0; r < side.remote; ++r) expected = 10 * expected + remote_world(side, limit, r) + 1;
  long result = -1;
  SUCCEEDS(
      (Call(MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init)(form, &own, &result, 1, MPI_LONG, op, inter)));
  CHECK(result == expected);
  result = -1;
  const int argument = root_argument(side, false, 0);
  SUCCEEDS((
      Call(MPI_Reduce, MPI_Ireduce, MPI_Reduce_init)(form, &own, &result, 1, MPI_LONG, op, argument, inter)));
  CHECK(result == (argument == MPI_ROOT ? expected : -1));
  SUCCEEDS(MPI_Op_free(&op));
}

/// The calls go on by themselves: none waits in its start, and every wait drives all of them.
void in_the_background(MPI_Comm inter, int limit, Form form) {
  const Sides side(inter, limit);
  const int own = rank_in(MPI_COMM_WORLD);
  const auto remote = static_cast<std::size_t>(side.remote);
  const Call barrier(MPI_Barrier, MPI_Ibarrier, MPI_Barrier_init);
  const Call allgather(MPI_Allgather, MPI_Iallgather, MPI_Allgather_init);
  const Call allreduce(MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init);
  const Call bcast(MPI_Bcast, MPI_Ibcast, MPI_Bcast_init);
  std::vector<int> all(remote, -1);
  std::array<int, 3> values = {-1, -1, -1};
  int sum = 0;
  for (int r = 0; r < side.remote; ++r) sum += remote_world(side, limit, r);
  mpi_test::nothing_waits_inside([&](MPI_Request* request) { return barrier.begin(form, request, inter); });
  mpi_test::nothing_waits_inside([&](MPI_Request* request) {
    return allgather.begin(form, request, &own, 1, MPI_INT, all.data(), 1, MPI_INT, inter);
  });
  for (int r = 0; r < side.remote; ++r)
    CHECK(all[static_cast<std::size_t>(r)] == remote_world(side, limit, r));
  mpi_test::nothing_waits_inside([&](MPI_Request* request) {
    return allreduce.begin(form, request, &own, values.data(), 1, MPI_INT, MPI_SUM, inter);
  });
  CHECK(values[0] == sum);
  // A root that is the last process of the second group.
  const int root = size_of(MPI_COMM_WORLD) - limit - 1;
  const int argument = root_argument(side, false, root);
  int data = own;
  mpi_test::nothing_waits_inside(
      [&](MPI_Request* request) { return bcast.begin(form, request, &data, 1, MPI_INT, argument, inter); });
  CHECK(data == (side.low ? root + limit : own));
  std::array<int, 3> sent = {own, 2 * own, 3 * own};
  mpi_test::waits_drive_all_calls([&](int i, MPI_Request* request) {
    const auto at = static_cast<std::size_t>(i);
    return allreduce.begin(form, request, &sent[at], &values[at], 1, MPI_INT, MPI_SUM, inter);
  });
  CHECK((values == std::array{sum, 2 * sum, 3 * sum}));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (const int limit : mpi_test::limits()) {
    MPI_Comm local = MPI_COMM_NULL;
    MPI_Comm inter = mpi_test::connect(limit, local);
    MPI_Comm copy = MPI_COMM_NULL;
    SUCCEEDS(MPI_Comm_dup(inter, &copy));
    for (const Form form : mpi_test::kForms) {
      for (const bool in_low : {true, false}) {
        rooted(inter, limit, in_low, 0, form);
        rooted(inter, limit, in_low, (in_low ? limit : size_of(MPI_COMM_WORLD) - limit) - 1, form);
      }
      everywhere(inter, limit, form);
      everywhere(copy, limit, form);
      columns(inter, limit, form);
      order_of_ranks(inter, limit, form);
      if (form != Form::blocking) in_the_background(inter, limit, form);
    }
    SUCCEEDS(MPI_Comm_free(&copy));
    SUCCEEDS(MPI_Comm_free(&inter));
    SUCCEEDS(MPI_Comm_free(&local));
  }
  const int code = mpi_test::result();
  MPI_Finalize();
  return code;
}
