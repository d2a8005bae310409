// Point-to-point communication of MPI at any number of ranks: each rank talks to the one behind it and the
// one before.

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "check.hpp"

namespace {

using mpi_test::rank_in;
using mpi_test::Ring;
using mpi_test::size_of;

/// Lengths around the limits of lines, eager messages and rings.
constexpr std::array kLengths = {0, 1, 47, 48, 49, 64, 4096, 32767, 32768, 32769, 70000, 1 << 20};

std::vector<unsigned char> content(int length, int rank) {
  std::vector<unsigned char> bytes(static_cast<std::size_t>(length));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<unsigned char>(i * 7 + static_cast<std::size_t>(rank) * 31);
  }
  return bytes;
}

void modes(const Ring& ring) {
  for (const int length : kLengths) {
    const std::vector<unsigned char> out = content(length, ring.rank);
    for (int mode = 0; mode < 3; ++mode) {
      std::vector<unsigned char> in(out.size() + 8);
      MPI_Request receive = MPI_REQUEST_NULL;
      MPI_Request send = MPI_REQUEST_NULL;
      MPI_Status status;
      SUCCEEDS(MPI_Irecv(in.data(), length + 8, MPI_BYTE, ring.previous, length, ring.comm, &receive));
      const auto start = mode == 0 ? MPI_Isend : mode == 1 ? MPI_Issend : MPI_Irsend;
      SUCCEEDS(start(out.data(), length, MPI_BYTE, ring.next, length, ring.comm, &send));
      SUCCEEDS(MPI_Wait(&receive, &status));
      SUCCEEDS(MPI_Wait(&send, MPI_STATUS_IGNORE));
      int count = -1;
      SUCCEEDS(MPI_Get_count(&status, MPI_BYTE, &count));
      CHECK(count == length && status.MPI_SOURCE == ring.previous && status.MPI_TAG == length);
      in.resize(out.size());
      CHECK(in == content(length, ring.previous));
      CHECK(receive == MPI_REQUEST_NULL && send == MPI_REQUEST_NULL);
    }
  }
}

void order_and_wildcards(const Ring& ring) {
  constexpr int kMessages = 50;
  std::array<MPI_Request, kMessages> sends;
  std::array<int, kMessages> values;
  std::iota(values.begin(), values.end(), 0);
  for (std::size_t i = 0; i < kMessages; ++i) {
    SUCCEEDS(MPI_Isend(&values[i], 1, MPI_INT, ring.next, static_cast<int>(i % 5), ring.comm, &sends[i]));
  }
  // The messages with tag 3 come first, then the others in the order of sending.
  for (int i = 3; i < kMessages; i += 5) {
    int got = -1;
    SUCCEEDS(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 3, ring.comm, MPI_STATUS_IGNORE));
    CHECK(got == i);
  }
  for (int i = 0; i < kMessages; ++i) {
    if (i % 5 == 3) continue;
    int got = -1;
    MPI_Status status;
    SUCCEEDS(MPI_Recv(&got, 1, MPI_INT, ring.previous, MPI_ANY_TAG, ring.comm, &status));
    CHECK(got == i && status.MPI_TAG == i % 5 && status.MPI_SOURCE == ring.previous);
  }
  SUCCEEDS(MPI_Waitall(kMessages, sends.data(), MPI_STATUSES_IGNORE));
}

void probes(const Ring& ring) {
  const std::array<double, 3> out = {1.5, 2.5, static_cast<double>(ring.rank)};
  std::array<double, 3> in = {};
  MPI_Request send = MPI_REQUEST_NULL;
  MPI_Status status;
  int count = 0;
  SUCCEEDS(MPI_Isend(out.data(), 3, MPI_DOUBLE, ring.next, 9, ring.comm, &send));
  SUCCEEDS(MPI_Probe(MPI_ANY_SOURCE, 9, ring.comm, &status));
  SUCCEEDS(MPI_Get_count(&status, MPI_DOUBLE, &count));
  CHECK(count == 3 && status.MPI_SOURCE == ring.previous);
  MPI_Message message = MPI_MESSAGE_NULL;
  SUCCEEDS(MPI_Mprobe(ring.previous, MPI_ANY_TAG, ring.comm, &message, &status));
  CHECK(message != MPI_MESSAGE_NULL && status.MPI_TAG == 9);
  int found = 1;
  SUCCEEDS(MPI_Iprobe(MPI_ANY_SOURCE, 9, ring.comm, &found, MPI_STATUS_IGNORE));
  CHECK(found == 0);  // the matched probe has taken the only message
  SUCCEEDS(MPI_Mrecv(in.data(), 3, MPI_DOUBLE, &message, &status));
  CHECK(message == MPI_MESSAGE_NULL && in[2] == ring.previous);
  SUCCEEDS(MPI_Wait(&send, MPI_STATUS_IGNORE));
  SUCCEEDS(MPI_Improbe(MPI_PROC_NULL, 0, ring.comm, &found, &message, &status));
  CHECK(found == 1 && message == MPI_MESSAGE_NO_PROC);
  MPI_Request request = MPI_REQUEST_NULL;
  SUCCEEDS(MPI_Imrecv(in.data(), 3, MPI_DOUBLE, &message, &request));
  SUCCEEDS(MPI_Wait(&request, &status));
  CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
}

void cancels(const Ring& ring) {
  int value = 0;
  int cancelled = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  SUCCEEDS(MPI_Irecv(&value, 1, MPI_INT, ring.previous, 77, ring.comm, &request));
  SUCCEEDS(MPI_Cancel(&request));
  SUCCEEDS(MPI_Wait(&request, &status));
  SUCCEEDS(MPI_Test_cancelled(&status, &cancelled));
  CHECK(cancelled == 1);
}

void persistents(const Ring& ring) {
  int out = 0;
  int in = 0;
  std::array<MPI_Request, 2> requests;
  SUCCEEDS(MPI_Recv_init(&in, 1, MPI_INT, ring.previous, 5, ring.comm, &requests[0]));
  SUCCEEDS(MPI_Send_init(&out, 1, MPI_INT, ring.next, 5, ring.comm, &requests[1]));
  for (int i = 0; i < 20; ++i) {
    out = 100 * ring.rank + i;
    SUCCEEDS(MPI_Startall(2, requests.data()));
    SUCCEEDS(MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE));
    CHECK(in == 100 * ring.previous + i);
  }
  CHECK(requests[0] != MPI_REQUEST_NULL);
  SUCCEEDS(MPI_Request_free(&requests[0]));
  SUCCEEDS(MPI_Request_free(&requests[1]));
  CHECK(requests[0] == MPI_REQUEST_NULL);
}

/// Receives from all ranks, completed by each of the calls that complete several.
void several(const Ring& ring) {
  const auto n = static_cast<std::size_t>(ring.size);
  for (int way = 0; way < 5; ++way) {
    std::vector<int> in(n, -1);
    std::vector<MPI_Request> requests(n);
    for (int from = 0; from < ring.size; ++from) {
      SUCCEEDS(MPI_Irecv(&in[static_cast<std::size_t>(from)], 1, MPI_INT, from, way, ring.comm,
                         &requests[static_cast<std::size_t>(from)]));
    }
    for (int to = 0; to < ring.size; ++to) SUCCEEDS(MPI_Send(&ring.rank, 1, MPI_INT, to, way, ring.comm));
    std::vector<MPI_Status> statuses(n);
    std::vector<int> indices(n);
    int left = ring.size;
    while (left > 0) {
      int index = MPI_UNDEFINED;
      int flag = 0;
      int count = 0;
      MPI_Status status;
      if (way == 0) {
        SUCCEEDS(MPI_Waitany(ring.size, requests.data(), &index, &status));
        CHECK(index >= 0 && index < ring.size && status.MPI_SOURCE == index);
        --left;
      } else if (way == 1) {
        SUCCEEDS(MPI_Testany(ring.size, requests.data(), &index, &flag, &status));
        left -= flag;
      } else if (way == 2) {
        SUCCEEDS(MPI_Waitsome(ring.size, requests.data(), &count, indices.data(), statuses.data()));
        for (int i = 0; i < count; ++i) {
          CHECK(statuses[static_cast<std::size_t>(i)].MPI_SOURCE == indices[static_cast<std::size_t>(i)]);
        }
        left -= count;
      } else if (way == 3) {
        SUCCEEDS(MPI_Testsome(ring.size, requests.data(), &count, indices.data(), statuses.data()));
        left -= count;
      } else {
        SUCCEEDS(MPI_Testall(ring.size, requests.data(), &flag, statuses.data()));
        if (flag != 0) left = 0;
      }
    }
    for (int from = 0; from < ring.size; ++from) CHECK(in[static_cast<std::size_t>(from)] == from);
    CHECK(std::all_of(requests.begin(), requests.end(), [](MPI_Request r) { return r == MPI_REQUEST_NULL; }));
    int index = 0;
    SUCCEEDS(MPI_Waitany(ring.size, requests.data(), &index, MPI_STATUS_IGNORE));
    CHECK(index == MPI_UNDEFINED);
  }
}

void exchanges(const Ring& ring) {
  std::array<long, 2> value = {ring.rank, 2L * ring.rank};
  std::array<long, 2> in = {};
  MPI_Status status;
  SUCCEEDS(MPI_Sendrecv(value.data(), 2, MPI_LONG, ring.next, 1, in.data(), 2, MPI_LONG, ring.previous, 1,
                        ring.comm, &status));
  CHECK(in[1] == 2L * ring.previous);
  SUCCEEDS(
      MPI_Sendrecv_replace(value.data(), 2, MPI_LONG, ring.next, 2, ring.previous, 2, ring.comm, &status));
  CHECK(value == in);
  SUCCEEDS(MPI_Send(value.data(), 2, MPI_LONG, MPI_PROC_NULL, 0, ring.comm));
  SUCCEEDS(MPI_Recv(value.data(), 2, MPI_LONG, MPI_PROC_NULL, 0, ring.comm, &status));
  CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
}

/// A message of 0 elements needs no datatype.
void no_elements_without_type(const Ring& ring) {
  MPI_Request receive = MPI_REQUEST_NULL;
  MPI_Status status;
  CHECK(MPI_Irecv(nullptr, 0, MPI_DATATYPE_NULL, ring.previous, 11, ring.comm, &receive) == MPI_SUCCESS);
  CHECK(MPI_Send(nullptr, 0, MPI_DATATYPE_NULL, ring.next, 11, ring.comm) == MPI_SUCCESS);
  CHECK(MPI_Wait(&receive, &status) == MPI_SUCCESS);
  CHECK(status.MPI_SOURCE == ring.previous && status.MPI_TAG == 11);
  CHECK(MPI_Recv(nullptr, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 11, ring.comm, &status) == MPI_SUCCESS);
  CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
}

void failures(const Ring& ring) {
  int value = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_set_errhandler(ring.comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK(MPI_Send(&value, 1, MPI_INT, ring.size, 0, ring.comm) == MPI_ERR_RANK);
  CHECK(MPI_Send(&value, 1, MPI_INT, ring.next, -7, ring.comm) == MPI_ERR_TAG);
  CHECK(MPI_Send(&value, -1, MPI_INT, ring.next, 0, ring.comm) == MPI_ERR_COUNT);
  CHECK(MPI_Send(nullptr, 1, MPI_INT, ring.next, 0, ring.comm) == MPI_ERR_BUFFER);
  CHECK(MPI_Send(&value, 1, MPI_DATATYPE_NULL, ring.next, 0, ring.comm) == MPI_ERR_TYPE);
  CHECK(MPI_Recv(&value, 1, MPI_DATATYPE_NULL, MPI_PROC_NULL, 0, ring.comm, MPI_STATUS_IGNORE) ==
        MPI_ERR_TYPE);
  CHECK(MPI_Send(&value, 1, MPI_INT, ring.next, 0, MPI_COMM_NULL) == MPI_ERR_COMM);
  CHECK(MPI_Recv(&value, 1, MPI_INT, -9, 0, ring.comm, MPI_STATUS_IGNORE) == MPI_ERR_RANK);
  CHECK(MPI_Start(&request) == MPI_ERR_REQUEST);

  const std::array<int, 4> out = {1, 2, 3, 4};
  std::array<int, 2> in = {};
  MPI_Status status;
  SUCCEEDS(MPI_Irecv(in.data(), 2, MPI_INT, ring.previous, 3, ring.comm, &request));
  SUCCEEDS(MPI_Send(out.data(), 4, MPI_INT, ring.next, 3, ring.comm));
  CHECK(MPI_Wait(&request, &status) == MPI_ERR_TRUNCATE);
  CHECK(in[0] == 1 && in[1] == 2);
  MPI_Comm_set_errhandler(ring.comm, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

/// Messages of one communicator are never received in another.
int handled = 0;       // how often the handler below was called
int handled_rank = 0;  // the calling process's rank in the communicator that it got

void count_failure(MPI_Comm* comm, int* code, ...) {
  int error_class = 0;
  MPI_Error_class(*code, &error_class);
  if (error_class == MPI_ERR_TRUNCATE) ++handled;
  handled_rank = mpi_test::rank_in(*comm);
}

/// A communicator lives as long as requests on it, and so does its error handler, which the last of them
/// calls.
void failures_after_the_communicator_was_freed(const Ring& ring) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  SUCCEEDS(MPI_Comm_dup(ring.comm, &comm));
  SUCCEEDS(MPI_Comm_create_errhandler(count_failure, &handler));
  SUCCEEDS(MPI_Comm_set_errhandler(comm, handler));
  SUCCEEDS(MPI_Errhandler_free(&handler));
  const int long_one[4] = {1, 2, 3, 4};
  int sink = 0;
  MPI_Request requests[2];
  handled = 0;
  handled_rank = -1;
  SUCCEEDS(MPI_Irecv(&sink, 1, MPI_INT, ring.rank, 1, comm, &requests[0]));
  SUCCEEDS(MPI_Isend(long_one, 4, MPI_INT, ring.rank, 1, comm, &requests[1]));
  SUCCEEDS(MPI_Comm_free(&comm));
  SUCCEEDS(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
  CHECK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE) != MPI_SUCCESS);
  CHECK(handled == 1);
  CHECK(handled_rank == ring.rank);
  CHECK(sink == 1);
}

void communicators(const Ring& ring) {
  MPI_Comm copy = MPI_COMM_NULL;
  SUCCEEDS(MPI_Comm_dup(ring.comm, &copy));
  int result = -1;
  SUCCEEDS(MPI_Comm_compare(ring.comm, copy, &result));
  CHECK(result == MPI_CONGRUENT);
  const int first = 1;
  const int second = 2;
  int in = 0;
  std::array<MPI_Request, 2> sends;  // nonblocking, because a send may wait for its receive
  SUCCEEDS(MPI_Isend(&first, 1, MPI_INT, ring.next, 0, ring.comm, &sends[0]));
  SUCCEEDS(MPI_Isend(&second, 1, MPI_INT, ring.next, 0, copy, &sends[1]));
  SUCCEEDS(MPI_Recv(&in, 1, MPI_INT, ring.previous, 0, copy, MPI_STATUS_IGNORE));
  CHECK(in == second);
  SUCCEEDS(MPI_Recv(&in, 1, MPI_INT, ring.previous, 0, ring.comm, MPI_STATUS_IGNORE));
  CHECK(in == first);
  SUCCEEDS(MPI_Waitall(2, sends.data(), MPI_STATUSES_IGNORE));
  SUCCEEDS(MPI_Comm_free(&copy));

  MPI_Comm half = MPI_COMM_NULL;
  SUCCEEDS(MPI_Comm_split(ring.comm, ring.rank % 2, -ring.rank, &half));
  CHECK(size_of(half) == (ring.size + 1 - ring.rank % 2) / 2);
  // The keys turn the order around.
  CHECK(rank_in(half) == size_of(half) - 1 - ring.rank / 2);
  SUCCEEDS(MPI_Comm_free(&half));
  SUCCEEDS(MPI_Comm_split(ring.comm, ring.rank == 0 ? MPI_UNDEFINED : 1, 0, &half));
  CHECK((half == MPI_COMM_NULL) == (ring.rank == 0));
  if (half != MPI_COMM_NULL) SUCCEEDS(MPI_Comm_free(&half));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Ring ring(MPI_COMM_WORLD);
  modes(ring);
  order_and_wildcards(ring);
  probes(ring);
  cancels(ring);
  persistents(ring);
  several(ring);
  exchanges(ring);
  no_elements_without_type(ring);
  failures(ring);
  failures_after_the_communicator_was_freed(ring);
  communicators(ring);
  modes(Ring(MPI_COMM_SELF));
  const int code = mpi_test::result();
  MPI_Finalize();
  return code;
}
