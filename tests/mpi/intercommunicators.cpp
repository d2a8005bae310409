// Intercommunicators: making them, messages and collective calls between their groups, and what is made of
// them.

#include <algorithm>
#include <array>
#include <vector>

#include "check.hpp"
#include "two_groups.hpp"

namespace {

using mpi_test::rank_in;
using mpi_test::Sides;
using mpi_test::size_of;

void questions(MPI_Comm inter, int limit) {
  const Sides side(inter, limit);
  const int all = size_of(MPI_COMM_WORLD);
  CHECK(side.size == (side.low ? limit : all - limit) && side.size + side.remote == all);
  CHECK(side.rank == rank_in(MPI_COMM_WORLD) - (side.low ? 0 : limit));
  int flag = -1;
  SUCCEEDS(MPI_Comm_test_inter(inter, &flag));
  CHECK(flag == 1);
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group world = MPI_GROUP_NULL;
  SUCCEEDS(MPI_Comm_remote_group(inter, &group));
  SUCCEEDS(MPI_Comm_group(MPI_COMM_WORLD, &world));
  const int first = 0;
  int translated = -1;
  SUCCEEDS(MPI_Group_translate_ranks(group, 1, &first, world, &translated));
  CHECK(translated == (side.low ? limit : 0));
  SUCCEEDS(MPI_Group_rank(group, &flag));
  CHECK(flag == MPI_UNDEFINED);
  SUCCEEDS(MPI_Group_free(&group));
  SUCCEEDS(MPI_Group_free(&world));
}

/// Every process sends to every one of the other group, and receives from any source.
void messages(MPI_Comm inter, int limit) {
  const Sides side(inter, limit);
  const int own = rank_in(MPI_COMM_WORLD);
  std::vector<MPI_Request> requests(static_cast<std::size_t>(side.remote), MPI_REQUEST_NULL);
  for (int to = 0; to < side.remote; ++to)
    SUCCEEDS(MPI_Isend(&own, 1, MPI_INT, to, 5, inter, &requests[static_cast<std::size_t>(to)]));
  std::vector<bool> seen(static_cast<std::size_t>(side.remote));
  for (int i = 0; i < side.remote; ++i) {
    int value = -1;
    MPI_Status status;
    SUCCEEDS(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 5, inter, &status));
    CHECK(value == status.MPI_SOURCE + (side.low ? limit : 0));
    seen[static_cast<std::size_t>(status.MPI_SOURCE)] = true;
  }
  CHECK(std::find(seen.begin(), seen.end(), false) == seen.end());
  SUCCEEDS(MPI_Waitall(side.remote, requests.data(), MPI_STATUSES_IGNORE));
  if (side.rank < side.remote) {
    // Process r exchanges with process r of the other group, if there is one.
    int value = -1;
    SUCCEEDS(MPI_Sendrecv(&own, 1, MPI_INT, side.rank, 6, &value, 1, MPI_INT, side.rank, 6, inter,
                          MPI_STATUS_IGNORE));
    CHECK(value == side.rank + (side.low ? limit : 0));
  }
  CHECK(MPI_Send(&own, 1, MPI_INT, side.remote, 0, inter) == MPI_ERR_RANK);
}

void merges(MPI_Comm inter, int limit) {
  const Sides side(inter, limit);
  const int own = rank_in(MPI_COMM_WORLD);
  for (const bool low_first : {true, false}) {
    MPI_Comm merged = MPI_COMM_NULL;
    SUCCEEDS(MPI_Intercomm_merge(inter, side.low == low_first ? 0 : 1, &merged));
    const int first = low_first ? limit : size_of(MPI_COMM_WORLD) - limit;
    const bool before = side.low == low_first;
    CHECK(size_of(merged) == size_of(MPI_COMM_WORLD) && rank_in(merged) == side.rank + (before ? 0 : first));
    int sum = -1;
    SUCCEEDS(MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, merged));
    CHECK(sum == size_of(merged) * (size_of(merged) - 1) / 2);
    int flag = -1;
    SUCCEEDS(MPI_Comm_test_inter(merged, &flag));
    CHECK(flag == 0);
    SUCCEEDS(MPI_Comm_free(&merged));
  }
  // Both groups say the same: any order, but one.
  MPI_Comm merged = MPI_COMM_NULL;
  SUCCEEDS(MPI_Intercomm_merge(inter, 1, &merged));
  std::vector<int> ranks(static_cast<std::size_t>(size_of(merged)));
  SUCCEEDS(MPI_Allgather(&own, 1, MPI_INT, ranks.data(), 1, MPI_INT, merged));
  CHECK(ranks[static_cast<std::size_t>(rank_in(merged))] == own);
  CHECK(ranks.front() == 0 || ranks.front() == limit);
  SUCCEEDS(MPI_Comm_free(&merged));
}

void children(MPI_Comm inter, int limit) {
  const Sides side(inter, limit);
  int result = -1;
  MPI_Comm copy = MPI_COMM_NULL;
  SUCCEEDS(MPI_Comm_dup(inter, &copy));
  SUCCEEDS(MPI_Comm_compare(inter, copy, &result));
  CHECK(result == MPI_CONGRUENT);
  messages(copy, limit);
  SUCCEEDS(MPI_Comm_free(&copy));
  SUCCEEDS(MPI_Comm_compare(inter, MPI_COMM_WORLD, &result));
  CHECK(result == MPI_UNEQUAL);
  MPI_Request request = MPI_REQUEST_NULL;
  SUCCEEDS(MPI_Comm_idup(inter, &copy, &request));
  SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
  messages(copy, limit);
  SUCCEEDS(MPI_Comm_free(&copy));

  // The odd ranks of both groups, backwards. A group may have none.
  const bool both_have = side.size > 1 && side.remote > 1;
  MPI_Comm part = MPI_COMM_WORLD;
  SUCCEEDS(MPI_Comm_split(inter, side.rank % 2 == 1 ? 7 : MPI_UNDEFINED, -side.rank, &part));
  CHECK((part != MPI_COMM_NULL) == (side.rank % 2 == 1 && both_have));
  if (part != MPI_COMM_NULL) {
    int remote = -1;
    SUCCEEDS(MPI_Comm_remote_size(part, &remote));
    CHECK(size_of(part) == side.size / 2 && remote == side.remote / 2);
    CHECK(rank_in(part) == size_of(part) - 1 - side.rank / 2);
    int value = -1;
    const int argument = !side.low ? 0 : rank_in(part) == 0 ? MPI_ROOT : MPI_PROC_NULL;
    if (argument == MPI_ROOT) value = side.rank;
    SUCCEEDS(MPI_Bcast(&value, 1, MPI_INT, argument, part));
    if (!side.low) CHECK(value == 2 * (remote - 1) + 1);  // the highest odd rank of the low group
    SUCCEEDS(MPI_Comm_free(&part));
  }
  SUCCEEDS(MPI_Comm_split(inter, side.rank == 0 ? 1 : 2, 0, &part));
  const bool expected = side.rank == 0 || side.remote > 1;
  CHECK((part != MPI_COMM_NULL) == expected);
  if (part != MPI_COMM_NULL) SUCCEEDS(MPI_Comm_free(&part));

  // By groups: the last process of each.
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group last = MPI_GROUP_NULL;
  const int rank = side.size - 1;
  SUCCEEDS(MPI_Comm_group(inter, &group));
  SUCCEEDS(MPI_Group_incl(group, 1, &rank, &last));
  SUCCEEDS(MPI_Comm_create(inter, last, &part));
  CHECK((part != MPI_COMM_NULL) == (side.rank == rank));
  if (part != MPI_COMM_NULL) {
    int remote = -1;
    SUCCEEDS(MPI_Comm_remote_size(part, &remote));
    CHECK(size_of(part) == 1 && remote == 1);
    SUCCEEDS(MPI_Barrier(part));
    SUCCEEDS(MPI_Comm_free(&part));
  }
  SUCCEEDS(MPI_Comm_create(inter, side.low ? last : MPI_GROUP_EMPTY, &part));
  CHECK(part == MPI_COMM_NULL);
  SUCCEEDS(MPI_Group_free(&last));
  SUCCEEDS(MPI_Group_free(&group));
}

void mistakes(MPI_Comm inter, MPI_Comm local) {
  MPI_Comm made = MPI_COMM_NULL;
  int value = -1;
  CHECK(MPI_Intercomm_create(inter, 0, MPI_COMM_WORLD, 0, 0, &made) == MPI_ERR_COMM);
  CHECK(MPI_Intercomm_create(local, size_of(local), MPI_COMM_WORLD, 0, 0, &made) == MPI_ERR_RANK);
  // Only the leader's arguments are wrong, and all members hear of it.
  CHECK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, size_of(MPI_COMM_WORLD), 0, &made) == MPI_ERR_RANK);
  CHECK(MPI_Intercomm_create(local, 0, rank_in(local) == 0 ? MPI_COMM_NULL : MPI_COMM_WORLD, 0, 0, &made) ==
        MPI_ERR_COMM);
  CHECK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 0, -1, &made) != MPI_SUCCESS);
  CHECK(MPI_Intercomm_merge(local, 0, &made) == MPI_ERR_COMM);
  CHECK(MPI_Comm_remote_size(local, &value) == MPI_ERR_COMM);
  MPI_Group group = MPI_GROUP_NULL;
  CHECK(MPI_Comm_remote_group(local, &group) == MPI_ERR_COMM);
  const int one = 1;
  CHECK(MPI_Cart_create(inter, 1, &one, &one, 0, &made) == MPI_ERR_COMM);
  CHECK(made == MPI_COMM_NULL);
  SUCCEEDS(MPI_Comm_get_parent(&made));
  CHECK(made == MPI_COMM_NULL);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (const int limit : mpi_test::limits()) {
    MPI_Comm local = MPI_COMM_NULL;
    MPI_Comm inter = mpi_test::connect(limit, local);
    questions(inter, limit);
    messages(inter, limit);
    merges(inter, limit);
    children(inter, limit);
    mistakes(inter, local);
    SUCCEEDS(MPI_Comm_free(&inter));
    SUCCEEDS(MPI_Comm_free(&local));
  }
  const int code = mpi_test::result();
  MPI_Finalize();
  return code;
}
