// Threads under MPI_THREAD_MULTIPLE: each has a communicator of its own, and all share one for messages with
// different tags and for one attached buffer.

#include <array>
#include <thread>
#include <vector>

#include "check.hpp"

namespace {

using mpi_test::rank_in;
using mpi_test::size_of;

constexpr int kThreads = 4;
constexpr int kTurns = 40;
constexpr std::array kLengths = {1, 12, 300, 5000, 40000};

/// What the thread `thread` of `rank` sends in a turn.
std::vector<int> content(int rank, int thread, int turn) {
  const int length = kLengths[static_cast<std::size_t>(turn) % kLengths.size()];
  std::vector<int> all(static_cast<std::size_t>(length));
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = rank * 1000 + thread * 100 + turn + static_cast<int>(i);
  return all;
}

/// The checks of a thread, which check.hpp does not count from several at once.
struct Outcome {
  int failures = 0;
  void expect(bool holds) { failures += holds ? 0 : 1; }
};

void work(MPI_Comm comm, MPI_Comm shared, int thread, Outcome& outcome) {
  const int rank = rank_in(comm);
  const int size = size_of(comm);
  const int next = (rank + 1) % size;
  const int previous = (rank + size - 1) % size;
  for (int turn = 0; turn < kTurns; ++turn) {
    const std::vector<int> out = content(rank, thread, turn);
    const std::vector<int> expected = content(previous, thread, turn);
    const int length = static_cast<int>(out.size());
    std::vector<int> in(out.size());
    MPI_Status status;
    outcome.expect(MPI_Sendrecv(out.data(), length, MPI_INT, next, turn, in.data(), length, MPI_INT,
                                MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status) == MPI_SUCCESS);
    outcome.expect(in == expected && status.MPI_TAG == turn && status.MPI_SOURCE == previous);

    // The tag tells the threads' messages on the common communicator apart.
    std::array<MPI_Request, 2> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    in.assign(in.size(), 0);
    outcome.expect(MPI_Irecv(in.data(), length, MPI_INT, previous, thread, shared, &requests[0]) ==
                   MPI_SUCCESS);
    if (turn % 2 == 0) {
      outcome.expect(MPI_Isend(out.data(), length, MPI_INT, next, thread, shared, &requests[1]) ==
                     MPI_SUCCESS);
    } else {
      outcome.expect(MPI_Bsend(out.data(), length, MPI_INT, next, thread, shared) == MPI_SUCCESS);
    }
    outcome.expect(MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    outcome.expect(in == expected);
    // Another thread's messages may lie in the buffer as well. This one's next message has room after the
    // flush.
    if (turn % 2 != 0) outcome.expect(MPI_Buffer_flush() == MPI_SUCCESS);

    int sum = -1;
    outcome.expect(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
    outcome.expect(sum == size * (size - 1) / 2);
    if (turn % 10 == 0) {
      MPI_Comm copy = MPI_COMM_NULL;
      outcome.expect(MPI_Comm_dup(comm, &copy) == MPI_SUCCESS);
      int root_says = rank == 0 ? thread : -1;
      outcome.expect(MPI_Bcast(&root_says, 1, MPI_INT, 0, copy) == MPI_SUCCESS);
      outcome.expect(root_says == thread);
      outcome.expect(MPI_Comm_free(&copy) == MPI_SUCCESS);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  int is_main = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  CHECK(provided == MPI_THREAD_MULTIPLE);
  SUCCEEDS(MPI_Query_thread(&provided));
  SUCCEEDS(MPI_Is_thread_main(&is_main));
  CHECK(provided == MPI_THREAD_MULTIPLE && is_main == 1);
  std::array<MPI_Comm, kThreads> comms;
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::vector<char> memory(2 * kThreads * (kLengths.back() * sizeof(int) + MPI_BSEND_OVERHEAD));
  SUCCEEDS(MPI_Buffer_attach(memory.data(), static_cast<int>(memory.size())));
  std::array<Outcome, kThreads> outcomes;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      int main_thread = 1;
      MPI_Is_thread_main(&main_thread);
      outcomes[static_cast<std::size_t>(i)].expect(main_thread == 0);
      work(comms[static_cast<std::size_t>(i)], MPI_COMM_WORLD, i, outcomes[static_cast<std::size_t>(i)]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Outcome& outcome : outcomes) CHECK(outcome.failures == 0);
  void* detached = nullptr;
  int bytes = 0;
  SUCCEEDS(MPI_Buffer_detach(static_cast<void*>(&detached), &bytes));
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  const int code = mpi_test::result();
  MPI_Finalize();
  return code;
}
