// Communicators of groups and of resources, nonblocking duplicates, and several threads that make
// communicators.

#include <array>
#include <cstring>
#include <thread>
#include <vector>

#include "check.hpp"

namespace {

using mpi_test::rank_in;
using mpi_test::size_of;

/// Checks that a communicator works: the sum of the members' ranks in MPI_COMM_WORLD.
int sum_of_ranks(MPI_Comm comm, int rank) {
  int sum = -1;
  if (MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm) != MPI_SUCCESS) return -1;
  return sum;
}

/// Only the members of a group call MPI_Comm_create_group. Several threads do so at the same time, with tags
/// of their own. check.hpp does not count from several threads, so they return the number of their failures.
int make_by_group(MPI_Group group, int tag, int rank, int expected) {
  int failures = 0;
  for (int turn = 0; turn < 10; ++turn) {
    MPI_Comm comm = MPI_COMM_NULL;
    failures += MPI_Comm_create_group(MPI_COMM_WORLD, group, tag, &comm) == MPI_SUCCESS ? 0 : 1;
    failures += comm != MPI_COMM_NULL && sum_of_ranks(comm, rank) == expected ? 0 : 1;
    failures += MPI_Comm_free(&comm) == MPI_SUCCESS ? 0 : 1;
  }
  return failures;
}

void by_group() {
  const int size = size_of(MPI_COMM_WORLD);
  const int rank = rank_in(MPI_COMM_WORLD);
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group upper = MPI_GROUP_NULL;
  SUCCEEDS(MPI_Comm_group(MPI_COMM_WORLD, &world));
  int range[1][3] = {{size - 1, size / 2, -1}};
  SUCCEEDS(MPI_Group_range_incl(world, 1, range, &upper));
  int expected = 0;
  for (int i = size / 2; i < size; ++i) expected += i;
  if (rank >= size / 2) {
    MPI_Comm comm = MPI_COMM_NULL;
    SUCCEEDS(MPI_Comm_create_group(MPI_COMM_WORLD, upper, 3, &comm));
    CHECK(rank_in(comm) == size - 1 - rank && sum_of_ranks(comm, rank) == expected);
    SUCCEEDS(MPI_Comm_free(&comm));
    std::array<int, 3> failures = {};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
      threads.emplace_back(
          [&, i] { failures[static_cast<std::size_t>(i)] = make_by_group(upper, 100 + i, rank, expected); });
    for (std::thread& thread : threads) thread.join();
    CHECK((failures == std::array{0, 0, 0}));
    CHECK(MPI_Comm_create_group(MPI_COMM_WORLD, upper, -1, &comm) == MPI_ERR_TAG);
    CHECK(MPI_Comm_create_group(MPI_COMM_WORLD, MPI_GROUP_NULL, 0, &comm) == MPI_ERR_GROUP);
  }
  SUCCEEDS(MPI_Group_free(&upper));
  SUCCEEDS(MPI_Group_free(&world));
}

void by_resource() {
  const int size = size_of(MPI_COMM_WORLD);
  const int rank = rank_in(MPI_COMM_WORLD);
  MPI_Comm part = MPI_COMM_WORLD;
  MPI_Info info = MPI_INFO_NULL;
  SUCCEEDS(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, MPI_INFO_NULL, &part));
  CHECK(part == MPI_COMM_NULL);
  SUCCEEDS(MPI_Info_create(&info));
  const auto split = [&](int type, const char* key, const char* value) {
    SUCCEEDS(MPI_Info_set(info, key, value));
    SUCCEEDS(MPI_Comm_split_type(MPI_COMM_WORLD, type, -rank, info, &part));
    SUCCEEDS(MPI_Info_delete(info, key));
  };
  // All ranks of these tests run on one host.
  for (const int type : {MPI_COMM_TYPE_HW_GUIDED, MPI_COMM_TYPE_RESOURCE_GUIDED}) {
    split(type, "mpi_hw_resource_type", "mpi_shared_memory");
    CHECK(size_of(part) == size && rank_in(part) == size - 1 - rank);
    SUCCEEDS(MPI_Comm_free(&part));
    split(type, "mpi_hw_resource_type", "a machine that nobody has");
    CHECK(part == MPI_COMM_NULL);
  }
  split(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://WORLD");
  CHECK(size_of(part) == size);
  SUCCEEDS(MPI_Comm_free(&part));
  split(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://SELF");
  CHECK(size_of(part) == 1);
  SUCCEEDS(MPI_Comm_free(&part));
  SUCCEEDS(MPI_Info_free(&info));
}

int copied = 0;
int copy_attribute(MPI_Comm /*comm*/, int /*keyval*/, void* /*extra*/, void* value, void* copy, int* flag) {
  ++copied;
  std::memcpy(copy, static_cast<void*>(&value), sizeof value);
  *flag = 1;
  return MPI_SUCCESS;
}

/// No rank waits before all have started: a rank that ran the agreement to its end inside the start would
/// wait for a message that others send only after the call.
void nonblocking_duplicates() {
  const int rank = rank_in(MPI_COMM_WORLD);
  const int size = size_of(MPI_COMM_WORLD);
  int key = MPI_KEYVAL_INVALID;
  int value = 7;
  MPI_Comm parent = MPI_COMM_NULL;
  SUCCEEDS(MPI_Comm_dup(MPI_COMM_WORLD, &parent));
  SUCCEEDS(MPI_Comm_create_keyval(copy_attribute, MPI_COMM_NULL_DELETE_FN, &key, nullptr));
  SUCCEEDS(MPI_Comm_set_attr(parent, key, &value));
  copied = 0;
  constexpr int kCopies = 5;
  std::array<MPI_Comm, kCopies> copies = {};
  std::array<MPI_Request, kCopies> requests = {};
  // Rank 0, which draws the contexts, begins only when all others have begun.
  std::vector<int> begun(static_cast<std::size_t>(size));
  if (rank == 0) {
    for (int other = 1; other < size; ++other)
      SUCCEEDS(MPI_Recv(begun.data(), 1, MPI_INT, other, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  }
  for (std::size_t i = 0; i < kCopies; ++i) {
    if (i % 2 == 0) {
      SUCCEEDS(MPI_Comm_idup(parent, &copies[i], &requests[i]));
    } else {
      SUCCEEDS(MPI_Comm_idup_with_info(parent, MPI_INFO_NULL, &copies[i], &requests[i]));
    }
  }
  int flag = -1;
  if (rank != 0) {
    SUCCEEDS(MPI_Test(&requests[kCopies - 1], &flag, MPI_STATUS_IGNORE));
    CHECK(flag == 0);
    SUCCEEDS(MPI_Send(&rank, 1, MPI_INT, 0, 9, MPI_COMM_WORLD));
  }
  // Other collective calls on the parent may go on meanwhile.
  CHECK(sum_of_ranks(parent, rank) == size * (size - 1) / 2);
  SUCCEEDS(MPI_Waitall(kCopies, requests.data(), MPI_STATUSES_IGNORE));
  CHECK(copied == kCopies);
  for (MPI_Comm& copy : copies) {
    void* found = nullptr;
    int result = -1;
    SUCCEEDS(MPI_Comm_compare(parent, copy, &result));
    CHECK(result == MPI_CONGRUENT);
    SUCCEEDS(MPI_Comm_get_attr(copy, key, static_cast<void*>(&found), &flag));
    CHECK(flag == 1 && found == &value);
  }
  // Each copy has contexts of its own: messages with one tag do not meet.
  const int next = (rank + 1) % size;
  const std::array<int, kCopies> words = {};
  std::array<MPI_Request, kCopies> sends = {};
  for (std::size_t i = 0; i < kCopies; ++i) {
    SUCCEEDS(MPI_Isend(words.data(), static_cast<int>(i), MPI_INT, next, 1, copies[i], &sends[i]));
  }
  for (std::size_t i = kCopies; i-- > 0;) {
    MPI_Status status;
    std::array<int, kCopies> got = {};
    int count = -1;
    SUCCEEDS(MPI_Recv(got.data(), kCopies, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, copies[i], &status));
    SUCCEEDS(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(count == static_cast<int>(i));
  }
  SUCCEEDS(MPI_Waitall(kCopies, sends.data(), MPI_STATUSES_IGNORE));
  for (MPI_Comm& copy : copies) SUCCEEDS(MPI_Comm_free(&copy));
  SUCCEEDS(MPI_Comm_free_keyval(&key));
  SUCCEEDS(MPI_Comm_free(&parent));
}

/// Threads make communicators of all kinds, each from one of its own.
int work(MPI_Comm comm, int thread) {
  int failures = 0;
  const int rank = rank_in(comm);
  const int size = size_of(comm);
  for (int turn = 0; turn < 12; ++turn) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    const int kind = (turn + thread) % 3;
    if (kind == 0) {
      failures += MPI_Comm_dup(comm, &made) == MPI_SUCCESS ? 0 : 1;
    } else if (kind == 1) {
      failures += MPI_Comm_split(comm, 0, -rank, &made) == MPI_SUCCESS ? 0 : 1;
    } else {
      failures += MPI_Comm_idup(comm, &made, &request) == MPI_SUCCESS ? 0 : 1;
      failures += MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS ? 0 : 1;
    }
    failures += sum_of_ranks(made, rank) == size * (size - 1) / 2 ? 0 : 1;
    failures += MPI_Comm_free(&made) == MPI_SUCCESS ? 0 : 1;
  }
  return failures;
}

void threads() {
  constexpr std::size_t kThreads = 3;
  std::array<MPI_Comm, kThreads> comms = {};
  std::array<int, kThreads> failures = {};
  for (MPI_Comm& comm : comms) SUCCEEDS(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  std::vector<std::thread> all;
  for (std::size_t i = 0; i < kThreads; ++i)
    all.emplace_back([&, i] { failures[i] = work(comms[i], static_cast<int>(i)); });
  for (std::thread& thread : all) thread.join();
  CHECK((failures == std::array<int, kThreads>{}));
  for (MPI_Comm& comm : comms) SUCCEEDS(MPI_Comm_free(&comm));
}

}  // namespace

int main(int argc, char** argv) {
  int level = -1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  by_group();
  by_resource();
  nonblocking_duplicates();
  threads();
  const int code = mpi_test::result();
  MPI_Finalize();
  return code;
}
