// Members that make different collective calls, with RMA_CHECK_COLLECTIVES=1: all of them fail, the text
// names both calls, and the communicator or team stays usable. Rank 1 is the one that is wrong.

#include <array>
#include <cstring>
#include <vector>

#include "check.hpp"
#include "forms.hpp"
#include "rma/collectives.h"
#include "rma/rma.h"
#include "two_groups.hpp"

namespace {

using mpi_test::rank_in;
using mpi_test::size_of;

bool wrong() { return rank_in(MPI_COMM_WORLD) == 1; }

/// Checks that the last call has failed with a text in which all of the parts stand.
void fails(const char* what, bool failed, const std::vector<const char*>& parts) {
  const char* const text = rma_last_error();
  for (const char* const part : parts) {
    if (failed && std::strstr(text, part) != nullptr) continue;
    std::fprintf(stderr, "%s: failed %d, the text is: %s\n", what, failed ? 1 : 0, text);
    CHECK(false);
  }
}

void usable(MPI_Comm comm) {
  const int one = 1;
  int sum = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  SUCCEEDS(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
  CHECK(sum == size_of(comm));
  sum = 0;
  SUCCEEDS(MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &request));
  SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK(sum == size_of(comm));
}

void blocking_calls(MPI_Comm comm) {
  std::array<double, 64> out = {};
  std::array<double, 64> in = {};
  const int root = wrong() ? 1 : 0;
  int code = wrong() ? MPI_Bcast(in.data(), 4, MPI_INT, 1, comm)
                     : MPI_Reduce(out.data(), in.data(), 4, MPI_INT, MPI_SUM, 0, comm);
  fails("operation", code == MPI_ERR_ARG,
        {"rank 1 of the team calls MPI_Bcast with root 1", "rank 0 calls MPI_Reduce with root 0"});
  usable(comm);
  code = MPI_Bcast(in.data(), 4, MPI_INT, root, comm);
  fails("root", code == MPI_ERR_ARG,
        {"rank 1 of the team calls MPI_Bcast with root 1, 16 bytes",
         "rank 0 calls MPI_Bcast with root 0, 16 bytes"});
  code = MPI_Bcast(in.data(), wrong() ? 0 : 4, MPI_INT, 0, comm);
  fails("size", code == MPI_ERR_ARG, {"MPI_Bcast with root 0, 0 bytes", "MPI_Bcast with root 0, 16 bytes"});
  code = MPI_Allreduce(out.data(), in.data(), wrong() ? 3 : 2, MPI_INT, MPI_SUM, comm);
  fails("count", code == MPI_ERR_ARG, {"MPI_Allreduce with 3 elements", "MPI_Allreduce with 2 elements"});
  code = MPI_Allreduce(out.data(), in.data(), 2, wrong() ? MPI_DOUBLE : MPI_INT, MPI_SUM, comm);
  fails("element", code == MPI_ERR_ARG, {"8 bytes in an element", "4 bytes in an element"});
  code = MPI_Allreduce(out.data(), in.data(), 2, MPI_INT, wrong() ? MPI_MAX : MPI_SUM, comm);
  fails("reduction", code == MPI_ERR_ARG, {"the operation MPI_MAX", "the operation MPI_SUM"});
  usable(comm);
  const int size = size_of(comm);
  std::vector<int> counts(static_cast<std::size_t>(size), 1);
  std::vector<int> places(counts.size());
  for (int i = 0; i < size; ++i) places[static_cast<std::size_t>(i)] = 2 * i;
  if (wrong()) counts[0] = 2;
  code = MPI_Allgatherv(out.data(), 1, MPI_INT, in.data(), counts.data(), places.data(), MPI_INT, comm);
  fails("list of counts", code == MPI_ERR_ARG, {"rank 1 of the team calls MPI_Allgatherv with block sizes"});
  code = wrong()
             ? MPI_Gather(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, 0, comm)
             : MPI_Gatherv(out.data(), 1, MPI_INT, in.data(), counts.data(), places.data(), MPI_INT, 0, comm);
  fails("list or not", code == MPI_ERR_ARG,
        {"calls MPI_Gather with root 0", "calls MPI_Gatherv with root 0"});
  usable(comm);
}

void later_calls(MPI_Comm comm) {
  std::array<int, 64> out = {};
  std::array<int, 64> in = {};
  MPI_Request request = MPI_REQUEST_NULL;
  SUCCEEDS(MPI_Ibcast(in.data(), 4, MPI_INT, wrong() ? 1 : 0, comm, &request));
  fails("nonblocking", MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_ERR_ARG,
        {"rank 1 of the team calls MPI_Bcast (nonblocking) with root 1",
         "rank 0 calls MPI_Bcast (nonblocking) with root 0"});
  usable(comm);
  // The wrong call is blocking, so the others learn of it in their wait.
  int code = MPI_SUCCESS;
  if (wrong()) {
    code = MPI_Barrier(comm);
  } else {
    SUCCEEDS(MPI_Ibarrier(comm, &request));
    code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  fails("form", code == MPI_ERR_ARG, {"calls MPI_Barrier, rank 0 calls MPI_Barrier (nonblocking)"});
  SUCCEEDS(MPI_Allreduce_init(out.data(), in.data(), 2, MPI_INT, wrong() ? MPI_MAX : MPI_SUM, comm,
                              MPI_INFO_NULL, &request));
  for (int round = 0; round < 2; ++round) {
    SUCCEEDS(MPI_Start(&request));
    fails("persistent", MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_ERR_ARG,
          {"MPI_Allreduce (persistent) with 2 elements, 4 bytes in an element, the operation MPI_MAX"});
  }
  SUCCEEDS(MPI_Request_free(&request));
  usable(comm);
  // Several calls are open, and one of them is wrong.
  std::array<MPI_Request, 3> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  const int one = 1;
  std::array<int, 3> sums = {};
  for (std::size_t i = 0; i < 3; ++i) {
    SUCCEEDS(MPI_Iallreduce(&one, &sums[i], 1, MPI_INT, i == 1 && wrong() ? MPI_MAX : MPI_SUM, comm,
                            &requests[i]));
  }
  SUCCEEDS(MPI_Wait(&requests[2], MPI_STATUS_IGNORE));
  fails("one of three", MPI_Wait(&requests[1], MPI_STATUS_IGNORE) == MPI_ERR_ARG, {"MPI_MAX", "MPI_SUM"});
  SUCCEEDS(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
  CHECK(sums[0] == size_of(comm) && sums[2] == size_of(comm));
}

/// The roots of the two sides of an intercommunicator differ by their words only, unless they are two.
void two_groups() {
  for (const int limit : mpi_test::limits()) {
    MPI_Comm local = MPI_COMM_NULL;
    MPI_Comm inter = mpi_test::connect(limit, local);
    const bool low = rank_in(MPI_COMM_WORLD) < limit;
    int value = 7;
    const int right = low ? (rank_in(local) == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;
    SUCCEEDS(MPI_Bcast(&value, 1, MPI_INT, right, inter));
    std::array<int, 2> two = {};
    const int code = MPI_Bcast(two.data(), low ? 2 : 1, MPI_INT, right, inter);
    fails("size between two groups", code == MPI_ERR_ARG,
          {"8 bytes", "4 bytes", "members in the first group"});
    SUCCEEDS(MPI_Barrier(inter));
    SUCCEEDS(MPI_Comm_free(&inter));
    SUCCEEDS(MPI_Comm_free(&local));
  }
}

void calls_of_rma() {
  const rma_team_t team = rma_team_world();
  std::array<double, 64> out = {};
  std::array<double, 64> in = {};
  const int root = wrong() ? 1 : 0;
  rma_status_t code = wrong() ? rma_barrier(team) : rma_broadcast(team, in.data(), 8, 0);
  fails("rma operation", code == RMA_ERR_ARGUMENT,
        {"rank 1 of the team calls rma_barrier, rank 0 calls rma_broadcast with root 0, 8 bytes"});
  code = rma_broadcast(team, in.data(), 8, root);
  fails("rma root", code == RMA_ERR_ARGUMENT,
        {"rma_broadcast with root 1, 8 bytes", "rma_broadcast with root 0, 8 bytes"});
  code = rma_allgather(team, in.data(), out.data(), wrong() ? 0 : 8);
  fails("rma size", code == RMA_ERR_ARGUMENT, {"rma_allgather with 0 bytes", "rma_allgather with 8 bytes"});
  code = rma_allreduce(team, in.data(), out.data(), 1, RMA_DOUBLE, wrong() ? RMA_MIN : RMA_SUM);
  fails("rma reduction", code == RMA_ERR_ARGUMENT, {"RMA_MIN of RMA_DOUBLE", "RMA_SUM of RMA_DOUBLE"});
  code = rma_reduce(team, in.data(), out.data(), 1, wrong() ? RMA_INT : RMA_DOUBLE, RMA_SUM, 0);
  fails("rma type", code == RMA_ERR_ARGUMENT, {"4 bytes in an element", "8 bytes in an element"});
  code = rma_scan(team, in.data(), out.data(), wrong() ? 2 : 1, RMA_DOUBLE, RMA_SUM);
  fails("rma count", code == RMA_ERR_ARGUMENT, {"rma_scan with 2 elements", "rma_scan with 1 elements"});
  rma_request_t request = RMA_REQUEST_NULL;
  CHECK(rma_gather_nb(team, in.data(), out.data(), 8, root, &request) == RMA_SUCCESS);
  code = rma_wait(&request);
  fails("rma nonblocking", code == RMA_ERR_ARGUMENT, {"rma_gather (nonblocking) with root 1, 8 bytes"});
  CHECK(rma_barrier(team) == RMA_SUCCESS);
  CHECK(rma_broadcast(team, in.data(), 8, 0) == RMA_SUCCESS);
  CHECK(rma_barrier_nb(team, &request) == RMA_SUCCESS);
  CHECK(rma_wait(&request) == RMA_SUCCESS);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm copy = MPI_COMM_NULL;
  SUCCEEDS(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
  blocking_calls(copy);
  later_calls(copy);
  two_groups();
  calls_of_rma();
  SUCCEEDS(MPI_Comm_free(&copy));
  const int code = mpi_test::result();
  MPI_Finalize();
  return code;
}
