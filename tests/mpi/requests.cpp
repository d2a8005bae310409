// Requests of every kind, at any number of ranks: asked for without being consumed, exchanges, generalized
// ones, and persistent ones in all modes.

#include <array>
#include <numeric>
#include <thread>
#include <vector>

#include "check.hpp"

namespace {

using mpi_test::Ring;

constexpr int kLong = 1 << 15;

std::vector<int> numbers(int length, int first) {
  std::vector<int> all(static_cast<std::size_t>(length));
  std::iota(all.begin(), all.end(), first);
  return all;
}

/// Asks about requests that have not ended, some of which have, and all of which have.
void asked(const Ring& ring) {
  std::array<MPI_Request, 4> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL,
                                         MPI_REQUEST_NULL};
  std::array<int, 3> in = {-1, -1, -1};
  std::array<MPI_Status, 4> statuses;
  std::array<int, 4> indices;
  int flag = -1;
  int index = -1;
  int count = -1;
  SUCCEEDS(MPI_Request_get_status_any(4, requests.data(), &index, &flag, statuses.data()));
  CHECK(flag == 1 && index == MPI_UNDEFINED && statuses[0].MPI_SOURCE == MPI_ANY_SOURCE);
  SUCCEEDS(MPI_Request_get_status_all(4, requests.data(), &flag, statuses.data()));
  CHECK(flag == 1 && statuses[3].MPI_TAG == MPI_ANY_TAG);
  SUCCEEDS(MPI_Request_get_status_some(4, requests.data(), &count, indices.data(), statuses.data()));
  CHECK(count == MPI_UNDEFINED);

  for (int i = 0; i < 3; ++i) {
    SUCCEEDS(MPI_Irecv(&in[static_cast<std::size_t>(i)], 1, MPI_INT, ring.previous, i, ring.comm,
                       &requests[static_cast<std::size_t>(i)]));
  }
  SUCCEEDS(MPI_Request_get_status_any(4, requests.data(), &index, &flag, MPI_STATUS_IGNORE));
  CHECK(flag == 0 && index == MPI_UNDEFINED);
  SUCCEEDS(MPI_Request_get_status_some(4, requests.data(), &count, indices.data(), MPI_STATUSES_IGNORE));
  CHECK(count == 0);
  SUCCEEDS(MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE));
  CHECK(flag == 0);
  SUCCEEDS(MPI_Barrier(ring.comm));

  const int sent = 100 * ring.rank + 1;
  SUCCEEDS(MPI_Send(&sent, 1, MPI_INT, ring.next, 1, ring.comm));
  do {
    SUCCEEDS(MPI_Request_get_status_any(4, requests.data(), &index, &flag, statuses.data()));
  } while (flag == 0);
  CHECK(index == 1 && statuses[0].MPI_TAG == 1 && statuses[0].MPI_SOURCE == ring.previous);
  SUCCEEDS(MPI_Request_get_status_some(4, requests.data(), &count, indices.data(), statuses.data()));
  CHECK(count == 1 && indices[0] == 1 && statuses[0].MPI_TAG == 1 && statuses[0].MPI_ERROR == MPI_SUCCESS);
  SUCCEEDS(MPI_Request_get_status_all(4, requests.data(), &flag, statuses.data()));
  CHECK(flag == 0);
  SUCCEEDS(MPI_Barrier(ring.comm));

  for (const int tag : {2, 0}) {
    const int value = 100 * ring.rank + tag;
    SUCCEEDS(MPI_Send(&value, 1, MPI_INT, ring.next, tag, ring.comm));
  }
  do {
    SUCCEEDS(MPI_Request_get_status_all(4, requests.data(), &flag, statuses.data()));
  } while (flag == 0);
  for (int i = 0; i < 3; ++i) {
    const auto at = static_cast<std::size_t>(i);
    CHECK(statuses[at].MPI_TAG == i && in[at] == 100 * ring.previous + i && requests[at] != MPI_REQUEST_NULL);
  }
  SUCCEEDS(MPI_Request_get_status(requests[0], &flag, statuses.data()));
  CHECK(flag == 1 && statuses[0].MPI_TAG == 0);
  SUCCEEDS(MPI_Waitall(4, requests.data(), statuses.data()));
  CHECK(statuses[2].MPI_TAG == 2 && requests[2] == MPI_REQUEST_NULL);
}

/// Waits for an exchange by one of the calls.
void complete(MPI_Request* request, MPI_Status* status, int way) {
  int flag = 0;
  int index = -1;
  if (way == 0) SUCCEEDS(MPI_Wait(request, status));
  while (way == 1 && flag == 0) SUCCEEDS(MPI_Test(request, &flag, status));
  if (way == 2) SUCCEEDS(MPI_Waitany(1, request, &index, status));
  if (way == 3) SUCCEEDS(MPI_Waitall(1, request, status));
  CHECK(*request == MPI_REQUEST_NULL);
}

void exchanges(const Ring& ring) {
  for (const int length : {0, 1, 3000, kLong}) {
    for (int way = 0; way < 4; ++way) {
      const std::vector<int> out = numbers(length, ring.rank);
      std::vector<int> in(out.size() + 1, -1);
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Status status;
      int count = -1;
      SUCCEEDS(MPI_Isendrecv(out.data(), length, MPI_INT, ring.next, way, in.data(), length + 1, MPI_INT,
                             ring.previous, way, ring.comm, &request));
      complete(&request, &status, way);
      SUCCEEDS(MPI_Get_count(&status, MPI_INT, &count));
      CHECK(count == length && status.MPI_SOURCE == ring.previous && status.MPI_TAG == way);
      in.pop_back();
      CHECK(in == numbers(length, ring.previous));

      std::vector<int> both = out;
      SUCCEEDS(MPI_Isendrecv_replace(both.data(), length, MPI_INT, ring.next, way, ring.previous, MPI_ANY_TAG,
                                     ring.comm, &request));
      complete(&request, &status, way);
      CHECK(both == numbers(length, ring.previous) && status.MPI_TAG == way);
    }
  }
  // One half or both with no process. The exchange ends after its send has, whichever ends first.
  MPI_Status status;
  MPI_Request request = MPI_REQUEST_NULL;
  std::vector<int> out = numbers(kLong, ring.rank);
  std::vector<int> in(kLong);
  int flag = -1;
  SUCCEEDS(MPI_Isendrecv(out.data(), 1, MPI_INT, MPI_PROC_NULL, 0, in.data(), 1, MPI_INT, MPI_PROC_NULL, 0,
                         ring.comm, &request));
  SUCCEEDS(MPI_Wait(&request, &status));
  CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
  SUCCEEDS(MPI_Isendrecv(out.data(), kLong, MPI_INT, ring.next, 1, in.data(), 1, MPI_INT, MPI_PROC_NULL, 0,
                         ring.comm, &request));
  SUCCEEDS(MPI_Test(&request, &flag, &status));
  CHECK(flag == 0);  // the receive is posted after the barrier
  SUCCEEDS(MPI_Cancel(&request));
  SUCCEEDS(MPI_Barrier(ring.comm));
  MPI_Request receive = MPI_REQUEST_NULL;
  SUCCEEDS(MPI_Isendrecv(out.data(), 1, MPI_INT, MPI_PROC_NULL, 0, in.data(), kLong, MPI_INT, ring.previous,
                         1, ring.comm, &receive));
  SUCCEEDS(MPI_Wait(&request, &status));
  CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
  SUCCEEDS(MPI_Wait(&receive, &status));
  CHECK(status.MPI_SOURCE == ring.previous && in == numbers(kLong, ring.previous));

  MPI_Comm_set_errhandler(ring.comm, MPI_ERRORS_RETURN);
  SUCCEEDS(MPI_Isendrecv(out.data(), 2, MPI_INT, ring.next, 2, in.data(), 1, MPI_INT, ring.previous, 2,
                         ring.comm, &request));
  CHECK(MPI_Wait(&request, &status) == MPI_ERR_TRUNCATE && request == MPI_REQUEST_NULL);
  CHECK(MPI_Isendrecv(out.data(), 1, MPI_INT, ring.size, 2, in.data(), 1, MPI_INT, 0, 2, ring.comm,
                      &request) == MPI_ERR_RANK);
  CHECK(MPI_Isendrecv(out.data(), 1, MPI_INT, 0, 2, in.data(), 1, MPI_INT, 0, -7, ring.comm, &request) ==
        MPI_ERR_TAG);
  MPI_Comm_set_errhandler(ring.comm, MPI_ERRORS_ARE_FATAL);
}

void persistent_modes(const Ring& ring) {
  std::array<MPI_Request, 4> requests;
  std::array<int, 2> out = {};
  std::array<int, 2> in = {};
  SUCCEEDS(MPI_Recv_init(&in[0], 1, MPI_INT, ring.previous, 1, ring.comm, &requests[0]));
  SUCCEEDS(MPI_Recv_init(&in[1], 1, MPI_INT, ring.previous, 2, ring.comm, &requests[1]));
  SUCCEEDS(MPI_Ssend_init(&out[0], 1, MPI_INT, ring.next, 1, ring.comm, &requests[2]));
  SUCCEEDS(MPI_Rsend_init(&out[1], 1, MPI_INT, ring.next, 2, ring.comm, &requests[3]));
  for (int turn = 0; turn < 10; ++turn) {
    out = {ring.rank + turn, ring.rank - turn};
    SUCCEEDS(MPI_Startall(2, requests.data()));
    SUCCEEDS(MPI_Barrier(ring.comm));
    SUCCEEDS(MPI_Startall(2, &requests[2]));
    SUCCEEDS(MPI_Waitall(4, requests.data(), MPI_STATUSES_IGNORE));
    CHECK(in[0] == ring.previous + turn && in[1] == ring.previous - turn);
  }
  MPI_Status status;
  int flag = 0;
  SUCCEEDS(MPI_Test(&requests[0], &flag, &status));  // it is not active
  CHECK(flag == 1 && status.MPI_SOURCE == MPI_ANY_SOURCE && requests[0] != MPI_REQUEST_NULL);
  for (MPI_Request& request : requests) SUCCEEDS(MPI_Request_free(&request));

  SUCCEEDS(MPI_Recv(&in[0], 0, MPI_INT, MPI_PROC_NULL, 0, ring.comm, MPI_STATUS_IGNORE));
  SUCCEEDS(MPI_Irecv(&in[0], 1, MPI_INT, ring.previous, 3, ring.comm, &requests[0]));
  SUCCEEDS(MPI_Barrier(ring.comm));
  SUCCEEDS(MPI_Rsend(&out[0], 1, MPI_INT, ring.next, 3, ring.comm));
  SUCCEEDS(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
  CHECK(in[0] == ring.previous + 9);
  SUCCEEDS(MPI_Irecv(&in[0], 1, MPI_INT, ring.previous, 4, ring.comm, &requests[0]));
  SUCCEEDS(MPI_Ssend(&out[1], 1, MPI_INT, ring.next, 4, ring.comm));
  SUCCEEDS(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
  CHECK(in[0] == ring.previous - 9);
}

struct Own {
  int queried = 0;
  int freed = 0;
  int cancelled = 0;
};
int query(void* extra, MPI_Status* status) {
  ++static_cast<Own*>(extra)->queried;
  MPI_Status_set_elements(status, MPI_INT, 5);
  MPI_Status_set_cancelled(status, static_cast<Own*>(extra)->cancelled);
  MPI_Status_set_source(status, 3);
  MPI_Status_set_tag(status, 7);
  return MPI_SUCCESS;
}
int free_own(void* extra) {
  ++static_cast<Own*>(extra)->freed;
  return MPI_SUCCESS;
}
int fail_to_free(void* /*extra*/) { return MPI_ERR_BUFFER; }
int cancel_own(void* extra, int complete) {
  if (complete == 0) ++static_cast<Own*>(extra)->cancelled;
  return MPI_SUCCESS;
}

void generalized(const Ring& ring) {
  Own own;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  int flag = -1;
  SUCCEEDS(MPI_Grequest_start(query, free_own, cancel_own, &own, &request));
  SUCCEEDS(MPI_Test(&request, &flag, &status));
  CHECK(flag == 0 && own.queried == 0);
  SUCCEEDS(MPI_Cancel(&request));
  CHECK(own.cancelled == 1);
  std::thread completing([request] { SUCCEEDS(MPI_Grequest_complete(request)); });
  // Beside a receive that ends at some time as well.
  std::array<MPI_Request, 2> both = {request, MPI_REQUEST_NULL};
  int in = -1;
  SUCCEEDS(MPI_Irecv(&in, 1, MPI_INT, ring.previous, 5, ring.comm, &both[1]));
  SUCCEEDS(MPI_Send(&ring.rank, 1, MPI_INT, ring.next, 5, ring.comm));
  std::array<MPI_Status, 2> statuses;
  SUCCEEDS(MPI_Waitall(2, both.data(), statuses.data()));
  completing.join();
  int count = -1;
  SUCCEEDS(MPI_Get_count(&statuses[0], MPI_INT, &count));
  SUCCEEDS(MPI_Test_cancelled(&statuses[0], &flag));
  CHECK(count == 5 && flag == 1 && statuses[0].MPI_SOURCE == 3 && statuses[0].MPI_TAG == 7);
  CHECK(own.queried == 1 && own.freed == 1 && in == ring.previous && both[0] == MPI_REQUEST_NULL);

  // The error of the function is that of the call that frees the request.
  SUCCEEDS(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  for (const bool waits : {true, false}) {
    SUCCEEDS(MPI_Grequest_start(query, fail_to_free, cancel_own, &own, &request));
    SUCCEEDS(MPI_Grequest_complete(request));
    CHECK((waits ? MPI_Wait(&request, &status) : MPI_Request_free(&request)) == MPI_ERR_BUFFER);
    CHECK(request == MPI_REQUEST_NULL);
  }
}

/// The program may free a datatype while a receive with it is under way.
void types_that_were_freed(const Ring& ring) {
  MPI_Datatype copy = MPI_DATATYPE_NULL;
  SUCCEEDS(MPI_Type_dup(MPI_DOUBLE_INT, &copy));
  struct Pair {
    double value;
    int index;
  };
  std::array<Pair, 2> in = {};
  const std::array<Pair, 2> out = {Pair{1.5, ring.rank}, Pair{2.5, -ring.rank}};
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  int count = -1;
  SUCCEEDS(MPI_Irecv(in.data(), 2, copy, ring.previous, 6, ring.comm, &request));
  SUCCEEDS(MPI_Type_free(&copy));
  CHECK(copy == MPI_DATATYPE_NULL);
  SUCCEEDS(MPI_Send(out.data(), 2, MPI_DOUBLE_INT, ring.next, 6, ring.comm));
  SUCCEEDS(MPI_Wait(&request, &status));
  SUCCEEDS(MPI_Get_count(&status, MPI_DOUBLE_INT, &count));
  CHECK(count == 2 && in[1].value == 2.5 && in[1].index == -ring.previous);
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
    const Ring ring(comm);
    asked(ring);
    exchanges(ring);
    persistent_modes(ring);
    generalized(ring);
    types_that_were_freed(ring);
  }
  const int code = mpi_test::result();
  MPI_Finalize();
  return code;
}
