// Partitioned messages: threads that mark partitions, partitions that differ on the two sides, and several
// operations with one tag.

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "check.hpp"

namespace {

using mpi_test::rank_in;
using mpi_test::size_of;

constexpr int kLength = 3;  // elements of a partition

/// Waits for a partitioned receive by asking for partitions.
void wait_by_partitions(MPI_Request receive, int partitions) {
  for (int partition = 0; partition < partitions; ++partition) {
    int arrived = 0;
    while (arrived == 0) SUCCEEDS(MPI_Parrived(receive, partition, &arrived));
  }
}

/// Marks the partitions in a drawn order, one by one, as ranges and as lists.
void make_ready(MPI_Request send, int partitions, std::mt19937& random) {
  std::vector<int> order(static_cast<std::size_t>(partitions));
  std::iota(order.begin(), order.end(), 0);
  switch (random() % 3) {
    case 0:
      std::shuffle(order.begin(), order.end(), random);
      for (const int partition : order) SUCCEEDS(MPI_Pready(partition, send));
      break;
    case 1: {
      const int middle = std::uniform_int_distribution(0, partitions)(random);
      SUCCEEDS(MPI_Pready_range(middle, partitions - 1, send));
      SUCCEEDS(MPI_Pready_range(0, middle - 1, send));
      break;
    }
    default:
      std::shuffle(order.begin(), order.end(), random);
      SUCCEEDS(MPI_Pready_list(partitions / 2, order.data(), send));
      SUCCEEDS(MPI_Pready_list(partitions - partitions / 2, order.data() + partitions / 2, send));
  }
}

/// A ring of processes. The receiver divides the same elements into another number of partitions.
void ring(std::mt19937& random) {
  const int rank = rank_in(MPI_COMM_WORLD);
  const int size = size_of(MPI_COMM_WORLD);
  const int next = (rank + 1) % size;
  const int previous = (rank + size - 1) % size;
  for (const int partitions : {1, 4, 12, 3000}) {
    const int total = partitions * kLength;
    std::vector<int> out(static_cast<std::size_t>(total));
    std::vector<int> in(out.size());
    std::array<MPI_Request, 2> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    SUCCEEDS(MPI_Precv_init(in.data(), kLength, partitions, MPI_INT, previous, 4, MPI_COMM_WORLD,
                            MPI_INFO_NULL, &requests[0]));
    SUCCEEDS(MPI_Psend_init(out.data(), partitions, kLength, MPI_INT, next, 4, MPI_COMM_WORLD, MPI_INFO_NULL,
                            &requests[1]));
    for (int turn = 0; turn < 4; ++turn) {
      for (int i = 0; i < total; ++i) out[static_cast<std::size_t>(i)] = 100000 * rank + 10 * i + turn;
      std::fill(in.begin(), in.end(), -1);
      SUCCEEDS(MPI_Startall(2, requests.data()));
      int flag = -1;
      SUCCEEDS(MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE));
      CHECK(flag == 0);  // no partition is ready
      make_ready(requests[1], partitions, random);
      std::array<MPI_Status, 2> statuses;
      if (turn % 2 == 0) wait_by_partitions(requests[0], kLength);
      SUCCEEDS(MPI_Waitall(2, requests.data(), statuses.data()));
      for (int i = 0; i < total; ++i)
        CHECK(in[static_cast<std::size_t>(i)] == 100000 * previous + 10 * i + turn);
      int count = -1;
      SUCCEEDS(MPI_Get_count(statuses.data(), MPI_INT, &count));
      CHECK(count == total && statuses[0].MPI_SOURCE == previous && statuses[0].MPI_TAG == 4);
      SUCCEEDS(MPI_Parrived(requests[0], 0, &flag));
      CHECK(flag == 1);  // the request is not active
    }
    for (MPI_Request& request : requests) SUCCEEDS(MPI_Request_free(&request));
  }
}

/// Several threads mark the partitions that they have filled, while another one waits.
void threads() {
  constexpr int kThreads = 4;
  constexpr int kEach = 25;
  const int rank = rank_in(MPI_COMM_WORLD);
  const int size = size_of(MPI_COMM_WORLD);
  std::vector<long> out(kThreads * kEach);
  std::vector<long> in(out.size());
  std::array<MPI_Request, 2> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  SUCCEEDS(MPI_Psend_init_c(out.data(), kThreads * kEach, 1, MPI_LONG, (rank + 1) % size, 8, MPI_COMM_WORLD,
                            MPI_INFO_NULL, &requests[1]));
  SUCCEEDS(MPI_Precv_init_c(in.data(), kThreads * kEach, 1, MPI_LONG, (rank + size - 1) % size, 8,
                            MPI_COMM_WORLD, MPI_INFO_NULL, requests.data()));
  for (long turn = 1; turn <= 30; ++turn) {
    SUCCEEDS(MPI_Startall(2, requests.data()));
    std::vector<std::thread> all;
    std::array<int, kThreads> failures = {};
    for (int thread = 0; thread < kThreads; ++thread) {
      all.emplace_back([&, thread] {
        for (int i = thread * kEach; i < (thread + 1) * kEach; ++i) {
          out[static_cast<std::size_t>(i)] = turn * 1000 + i;
          if (MPI_Pready(i, requests[1]) != MPI_SUCCESS) ++failures[static_cast<std::size_t>(thread)];
        }
      });
    }
    SUCCEEDS(MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE));
    for (std::thread& thread : all) thread.join();
    CHECK((failures == std::array<int, kThreads>{}));
    for (std::size_t i = 0; i < in.size(); ++i) CHECK(in[i] == turn * 1000 + static_cast<long>(i));
  }
  for (MPI_Request& request : requests) SUCCEEDS(MPI_Request_free(&request));
}

/// Operations with one tag match in the order in which they were made, also if they are started and marked in
/// the opposite order. They match no other receive.
void order() {
  const int rank = rank_in(MPI_COMM_WORLD);
  const int size = size_of(MPI_COMM_WORLD);
  const int next = (rank + 1) % size;
  const int previous = (rank + size - 1) % size;
  constexpr std::size_t kCount = 5;
  std::array<MPI_Request, kCount> sends = {};
  std::array<MPI_Request, kCount> receives = {};
  std::array<int, kCount> out = {};
  std::array<int, kCount> in = {};
  for (std::size_t i = 0; i < kCount; ++i) {
    SUCCEEDS(MPI_Psend_init(&out[i], 1, 1, MPI_INT, next, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &sends[i]));
    SUCCEEDS(MPI_Precv_init(&in[i], 1, 1, MPI_INT, previous, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &receives[i]));
  }
  for (int turn = 0; turn < 3; ++turn) {
    int plain_in = -1;
    const int plain_out = 77;
    MPI_Request plain = MPI_REQUEST_NULL;
    SUCCEEDS(MPI_Irecv(&plain_in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &plain));
    SUCCEEDS(MPI_Startall(kCount, receives.data()));
    for (std::size_t i = kCount; i-- > 0;) {
      out[i] = 100 * rank + static_cast<int>(i) + 10 * turn;
      SUCCEEDS(MPI_Start(&sends[i]));
      SUCCEEDS(MPI_Pready(0, sends[i]));
    }
    SUCCEEDS(MPI_Waitall(kCount, sends.data(), MPI_STATUSES_IGNORE));
    SUCCEEDS(MPI_Waitall(kCount, receives.data(), MPI_STATUSES_IGNORE));
    for (std::size_t i = 0; i < kCount; ++i) CHECK(in[i] == 100 * previous + static_cast<int>(i) + 10 * turn);
    SUCCEEDS(MPI_Send(&plain_out, 1, MPI_INT, next, 3, MPI_COMM_WORLD));
    SUCCEEDS(MPI_Wait(&plain, MPI_STATUS_IGNORE));
    CHECK(plain_in == plain_out);
  }
  for (std::size_t i = 0; i < kCount; ++i) {
    SUCCEEDS(MPI_Request_free(&sends[i]));
    SUCCEEDS(MPI_Request_free(&receives[i]));
  }
  // Tags of every size are apart from each other.
  constexpr std::array kTags = {0, (1 << 20) - 1, 1 << 20, (1 << 30) - 1, 1 << 30, 2147483647};
  std::array<MPI_Request, kTags.size()> to = {};
  std::array<MPI_Request, kTags.size()> from = {};
  std::array<int, kTags.size()> got = {};
  for (std::size_t i = 0; i < kTags.size(); ++i) {
    SUCCEEDS(
        MPI_Precv_init(&got[i], 1, 1, MPI_INT, previous, kTags[i], MPI_COMM_WORLD, MPI_INFO_NULL, &from[i]));
    SUCCEEDS(MPI_Psend_init(&kTags[i], 1, 1, MPI_INT, next, kTags[i], MPI_COMM_WORLD, MPI_INFO_NULL, &to[i]));
  }
  SUCCEEDS(MPI_Startall(static_cast<int>(kTags.size()), from.data()));
  for (std::size_t i = kTags.size(); i-- > 0;) {
    SUCCEEDS(MPI_Start(&to[i]));
    SUCCEEDS(MPI_Pready(0, to[i]));
  }
  for (std::size_t i = 0; i < kTags.size(); ++i) {
    MPI_Status status;
    SUCCEEDS(MPI_Wait(&to[i], MPI_STATUS_IGNORE));
    SUCCEEDS(MPI_Wait(&from[i], &status));
    CHECK(got[i] == kTags[i] && status.MPI_TAG == kTags[i]);
    SUCCEEDS(MPI_Request_free(&to[i]));
    SUCCEEDS(MPI_Request_free(&from[i]));
  }
}

void mistakes() {
  std::array<int, 2> data = {};
  int flag = -1;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Request plain = MPI_REQUEST_NULL;
  const auto send = [&](int partitions, int count, int dest, int tag) {
    return MPI_Psend_init(data.data(), partitions, count, MPI_INT, dest, tag, MPI_COMM_WORLD, MPI_INFO_NULL,
                          &request);
  };
  CHECK(send(0, 1, 0, 0) == MPI_ERR_ARG);
  CHECK(send(1, -1, 0, 0) == MPI_ERR_COUNT);
  CHECK(send(1, 1, size_of(MPI_COMM_WORLD), 0) == MPI_ERR_RANK);
  CHECK(send(1, 1, 0, -1) == MPI_ERR_TAG);
  CHECK(MPI_Precv_init(data.data(), 1, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &request) == MPI_ERR_RANK);
  CHECK(MPI_Precv_init(data.data(), 1, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &request) ==
        MPI_ERR_TAG);
  CHECK(request == MPI_REQUEST_NULL);
  CHECK(MPI_Pready(0, MPI_REQUEST_NULL) == MPI_ERR_REQUEST);
  SUCCEEDS(MPI_Recv_init(data.data(), 1, MPI_INT, 0, 0, MPI_COMM_SELF, &plain));
  CHECK(MPI_Pready(0, plain) == MPI_ERR_REQUEST && MPI_Parrived(plain, 0, &flag) == MPI_ERR_REQUEST);
  SUCCEEDS(MPI_Request_free(&plain));

  SUCCEEDS(send(2, 1, MPI_PROC_NULL, 0));
  CHECK(MPI_Pready(0, request) == MPI_ERR_REQUEST);  // not started
  CHECK(MPI_Parrived(request, 0, &flag) == MPI_ERR_REQUEST);
  SUCCEEDS(MPI_Start(&request));
  CHECK(MPI_Pready(2, request) == MPI_ERR_ARG && MPI_Pready(-1, request) == MPI_ERR_ARG);
  SUCCEEDS(MPI_Pready(1, request));
  CHECK(MPI_Pready(1, request) == MPI_ERR_ARG);  // twice
  SUCCEEDS(MPI_Pready(0, request));
  SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
  SUCCEEDS(MPI_Request_free(&request));
  MPI_Status status;
  SUCCEEDS(
      MPI_Precv_init(data.data(), 2, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
  SUCCEEDS(MPI_Start(&request));
  SUCCEEDS(MPI_Parrived(request, 1, &flag));
  CHECK(flag == 1 && MPI_Parrived(request, 2, &flag) == MPI_ERR_ARG);
  SUCCEEDS(MPI_Wait(&request, &status));
  CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
  SUCCEEDS(MPI_Request_free(&request));
}

}  // namespace

int main(int argc, char** argv) {
  int level = -1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  std::mt19937 random(mpi_test::test_seed() + static_cast<unsigned>(rank_in(MPI_COMM_WORLD)));
  ring(random);
  threads();
  order();
  mistakes();
  const int code = mpi_test::result();
  MPI_Finalize();
  return code;
}
