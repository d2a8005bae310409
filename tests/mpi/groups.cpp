// Groups, and communicators that are made of them.

#include <algorithm>
#include <array>
#include <vector>

#include "check.hpp"

namespace {

/// Returns the ranks in MPI_COMM_WORLD of a group's members.
std::vector<int> world_ranks(MPI_Group group) {
  int size = -1;
  SUCCEEDS(MPI_Group_size(group, &size));
  std::vector<int> own(static_cast<std::size_t>(std::max(size, 0)));
  for (int i = 0; i < size; ++i) own[static_cast<std::size_t>(i)] = i;
  std::vector<int> world(own.size());
  MPI_Group all = MPI_GROUP_NULL;
  SUCCEEDS(MPI_Comm_group(MPI_COMM_WORLD, &all));
  SUCCEEDS(MPI_Group_translate_ranks(group, size, own.data(), all, world.data()));
  SUCCEEDS(MPI_Group_free(&all));
  CHECK(all == MPI_GROUP_NULL);
  return world;
}

/// Checks a group's members, and frees it.
void expect(MPI_Group group, const std::vector<int>& members) {
  CHECK(world_ranks(group) == members);
  int rank = -1;
  SUCCEEDS(MPI_Group_rank(group, &rank));
  const auto place = std::find(members.begin(), members.end(), mpi_test::rank_in(MPI_COMM_WORLD));
  CHECK(rank == (place == members.end() ? MPI_UNDEFINED : static_cast<int>(place - members.begin())));
  SUCCEEDS(MPI_Group_free(&group));
}

std::vector<int> steps(int from, int to, int step) {
  std::vector<int> all;
  for (int i = from; step > 0 ? i <= to : i >= to; i += step) all.push_back(i);
  return all;
}

void sets(int size) {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group made = MPI_GROUP_NULL;
  SUCCEEDS(MPI_Comm_group(MPI_COMM_WORLD, &all));
  const std::vector<int> backwards = steps(size - 1, 0, -1);
  SUCCEEDS(MPI_Group_incl(all, size, backwards.data(), &made));
  int result = -1;
  SUCCEEDS(MPI_Group_compare(all, made, &result));
  CHECK(result == (size == 1 ? MPI_IDENT : MPI_SIMILAR));
  MPI_Group reversed = made;

  const int first = 0;
  MPI_Group without = MPI_GROUP_NULL;
  SUCCEEDS(MPI_Group_excl(all, 1, &first, &without));
  CHECK((without == MPI_GROUP_EMPTY) == (size == 1));
  SUCCEEDS(MPI_Group_compare(all, without, &result));
  CHECK(result == MPI_UNEQUAL);
  SUCCEEDS(MPI_Group_union(without, reversed, &made));  // the members of the first, then the others
  std::vector<int> united = steps(1, size - 1, 1);
  united.push_back(0);
  expect(made, united);
  SUCCEEDS(MPI_Group_intersection(reversed, without, &made));
  expect(made, steps(size - 1, 1, -1));
  SUCCEEDS(MPI_Group_difference(all, without, &made));
  expect(made, {0});

  int even[1][3] = {{0, size - 1, 2}};
  SUCCEEDS(MPI_Group_range_incl(all, 1, even, &made));
  expect(made, steps(0, size - 1, 2));
  SUCCEEDS(MPI_Group_range_excl(all, 1, even, &made));
  expect(made, steps(1, size - 1, 2));
  int down[1][3] = {{size - 1, 0, -1}};
  SUCCEEDS(MPI_Group_range_incl(all, 1, down, &made));
  expect(made, backwards);
  SUCCEEDS(MPI_Group_incl(all, 0, nullptr, &made));
  CHECK(made == MPI_GROUP_EMPTY);
  expect(made, {});
  const int nobody = MPI_PROC_NULL;
  int translated = 0;
  SUCCEEDS(MPI_Group_translate_ranks(all, 1, &nobody, reversed, &translated));
  CHECK(translated == MPI_PROC_NULL);
  expect(without, steps(1, size - 1, 1));
  expect(reversed, backwards);
  expect(all, steps(0, size - 1, 1));
}

void mistakes(int size) {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group made = MPI_GROUP_NULL;
  SUCCEEDS(MPI_Comm_group(MPI_COMM_WORLD, &all));
  const std::array<int, 2> twice = {0, 0};
  CHECK(MPI_Group_incl(all, 2, twice.data(), &made) == MPI_ERR_RANK);
  CHECK(MPI_Group_incl(all, 1, &size, &made) == MPI_ERR_RANK);
  CHECK(MPI_Group_excl(all, -1, twice.data(), &made) == MPI_ERR_ARG);
  int still[1][3] = {{0, 0, 0}};
  CHECK(MPI_Group_range_incl(all, 1, still, &made) == MPI_ERR_ARG);
  int far[1][3] = {{0, size, 1}};
  CHECK(MPI_Group_range_incl(all, 1, far, &made) == MPI_ERR_RANK);
  CHECK(MPI_Group_size(MPI_GROUP_NULL, &size) == MPI_ERR_GROUP);
  SUCCEEDS(MPI_Group_free(&all));
}

void communicators(int size) {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group half = MPI_GROUP_NULL;
  SUCCEEDS(MPI_Comm_group(MPI_COMM_WORLD, &all));
  // Two disjoint groups at once: the upper half backwards, and the rest.
  const int rank = mpi_test::rank_in(MPI_COMM_WORLD);
  const bool upper = rank >= size / 2;
  const std::vector<int> ranks = upper ? steps(size - 1, size / 2, -1) : steps(0, size / 2 - 1, 1);
  SUCCEEDS(MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &half));
  MPI_Comm comm = MPI_COMM_NULL;
  SUCCEEDS(MPI_Comm_create(MPI_COMM_WORLD, half, &comm));
  CHECK(mpi_test::size_of(comm) == static_cast<int>(ranks.size()));
  CHECK(mpi_test::rank_in(comm) == (upper ? size - 1 - rank : rank));
  int sum = 0;
  SUCCEEDS(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
  int expected = 0;
  for (const int one : ranks) expected += one;
  CHECK(sum == expected);
  SUCCEEDS(MPI_Comm_free(&comm));
  SUCCEEDS(MPI_Group_free(&half));

  // Only rank 0 is in the group.
  const int zero = 0;
  SUCCEEDS(MPI_Group_incl(all, 1, &zero, &half));
  SUCCEEDS(MPI_Comm_create(MPI_COMM_WORLD, half, &comm));
  CHECK((comm == MPI_COMM_NULL) == (rank != 0));
  if (comm != MPI_COMM_NULL) SUCCEEDS(MPI_Comm_free(&comm));
  SUCCEEDS(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &comm));
  CHECK(comm == MPI_COMM_NULL);
  if (size > 1) {
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(MPI_Comm_create(MPI_COMM_SELF, all, &comm) == MPI_ERR_GROUP);
  }
  SUCCEEDS(MPI_Group_free(&half));
  SUCCEEDS(MPI_Group_free(&all));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int size = mpi_test::size_of(MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  sets(size);
  mistakes(size);
  communicators(size);
  const int code = mpi_test::result();
  MPI_Finalize();
  return code;
}
