// Jobs that hang, each in a way of its own. tests/launcher/hang_cases.py has rmarun explain them.

#include <mpi.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <string>

#include "rma/messages.h"
#include "rma/rma.h"

namespace {

constexpr int kTag = 7;
int me = 0;
int ranks = 0;
int word = 0;

[[noreturn]] void compute() {
  for (volatile unsigned count = 0;;) count = count + 1;
}

void receive(int from, MPI_Comm comm = MPI_COMM_WORLD) {
  MPI_Recv(&word, 1, MPI_INT, from, kTag, comm, MPI_STATUS_IGNORE);
}

/// Rank 0 waits until there is something to read.
void wait_for_input() {
  std::string line;
  std::getline(std::cin, line);
}

void two_receives() { receive(1 - me); }

void two_sends() { MPI_Ssend(&word, 1, MPI_INT, 1 - me, kTag, MPI_COMM_WORLD); }

void long_sends() {
  static std::array<char, std::size_t{1} << 22> data;
  MPI_Send(data.data(), static_cast<int>(data.size()), MPI_CHAR, (me + 1) % ranks, kTag, MPI_COMM_WORLD);
}

void sendrecv() {
  int in = 0;
  MPI_Sendrecv(&word, 1, MPI_INT, me, kTag, &in, 1, MPI_INT, 1 - me, kTag + 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

void ring() { receive((me + 1) % ranks); }

/// Ranks wait for each other in a ring, and the others for one of these.
void ring_and_tail() { receive(me < 3 ? (me + 1) % 3 : me - 1); }

void oneself() {
  if (me == 0) receive(0);
  compute();
}

void probe_any() { MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

void wait_all() {
  std::array<MPI_Request, 2> requests{};
  MPI_Irecv(&word, 1, MPI_INT, me, kTag, MPI_COMM_WORLD, &requests[0]);
  MPI_Send(&word, 1, MPI_INT, me, kTag, MPI_COMM_WORLD);
  MPI_Irecv(&word, 1, MPI_INT, 1 - me, kTag + 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
}

void wait_any() {
  std::array<MPI_Request, 2> requests{};
  for (int i = 0; i < 2; ++i) {
    MPI_Irecv(&word, 1, MPI_INT, (me + 1 + i) % ranks, kTag, MPI_COMM_WORLD,
              &requests[static_cast<std::size_t>(i)]);
  }
  int index = 0;
  MPI_Waitany(2, requests.data(), &index, MPI_STATUS_IGNORE);
}

void missing_computes() {
  if (me == 2) compute();
  MPI_Barrier(MPI_COMM_WORLD);
}

void missing_receives() {
  if (me == 1) receive(0);
  double sum = 0;
  const double mine = me;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

void missing_split() {
  MPI_Comm rows = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, me % 2, 0, &rows);
  MPI_Comm_set_name(rows, me % 2 == 0 ? "even" : "odd");
  int own = 0;
  MPI_Comm_rank(rows, &own);
  if (me % 2 != 0) receive(own == 0 ? 1 : 0, rows);
  if (me == 4) compute();
  MPI_Bcast(&word, 1, MPI_INT, 2, rows);
}

void missing_nonblocking() {
  if (me == 1) compute();
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void generalized() {
  const auto query = [](void* /*state*/, MPI_Status* /*status*/) { return MPI_SUCCESS; };
  const auto free = [](void* /*state*/) { return MPI_SUCCESS; };
  const auto cancel = [](void* /*state*/, int /*complete*/) { return MPI_SUCCESS; };
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Grequest_start(query, free, cancel, nullptr, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void missing_creation() {
  if (me == 1) compute();
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, me, &made);
}

void different_calls() {
  MPI_Barrier(MPI_COMM_WORLD);
  if (me == 0) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
}

void missing_finalize() {
  if (me == 1) receive(0);
  MPI_Finalize();
}

void missing_init() {
  if (std::getenv("PMIX_RANK") == std::string("1")) compute();
  MPI_Init(nullptr, nullptr);
}

MPI_Win window() {
  MPI_Win win = MPI_WIN_NULL;
  int* memory = nullptr;
  MPI_Win_allocate(sizeof word, sizeof word, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_set_name(win, "halo");
  return win;
}

void exclusive_lock() {
  MPI_Win win = window();
  if (me == 0) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (me == 0) receive(2);
  if (me == 1) compute();
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
}

void shared_locks() {
  MPI_Win win = window();
  if (me < 2) MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (me < 2) compute();
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
}

void lock_all() {
  MPI_Win win = window();
  if (me == 0) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (me == 0) compute();
  MPI_Win_lock_all(0, win);
}

void missing_fence() {
  MPI_Win win = window();
  if (me == 0) compute();
  MPI_Win_fence(0, win);
}

void missing_post() {
  MPI_Win win = window();
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group other = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  const int peer = 1 - me;
  MPI_Group_incl(world, 1, &peer, &other);
  if (me == 1) compute();
  MPI_Win_start(other, 0, win);
}

void missing_complete() {
  MPI_Win win = window();
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  if (me == 0) {
    MPI_Win_start(world, 0, win);
  } else {
    MPI_Win_post(world, 0, win);
    MPI_Win_wait(win);
  }
}

/// Rank 0 reads a line, and only then sends.
void late() {
  if (me == 0) {
    std::printf("ready\n");
    std::fflush(stdout);
    wait_for_input();
    for (int to = 1; to < ranks; ++to) MPI_Send(&word, 1, MPI_INT, to, kTag, MPI_COMM_WORLD);
  } else {
    receive(0);
  }
}

void require(rma_status_t status) {
  if (status != RMA_SUCCESS) rma_abort(1, rma_last_error());
}

void rma_receives() { require(rma_recv(&word, sizeof word, 1 - me, kTag, 5, nullptr)); }

void rma_barriers() {
  const std::array<int, 2> members = {0, 2};
  rma_team_t team = nullptr;
  if (me != 1) require(rma_team_create(members.data(), 2, &team));
  if (me != 0) compute();
  require(rma_barrier(team));
}

void rma_locks() {
  rma_mutexes_t mutexes = nullptr;
  require(rma_mutexes_create(rma_team_world(), 2, &mutexes));
  if (me == 0) require(rma_lock(mutexes, 1, 1));
  require(rma_barrier(rma_team_world()));
  if (me == 0) compute();
  require(rma_lock(mutexes, 1, 1));
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<void()>> hangs = {{"two_receives", two_receives},
                                                              {"two_sends", two_sends},
                                                              {"long_sends", long_sends},
                                                              {"sendrecv", sendrecv},
                                                              {"ring", ring},
                                                              {"ring_and_tail", ring_and_tail},
                                                              {"oneself", oneself},
                                                              {"probe_any", probe_any},
                                                              {"wait_all", wait_all},
                                                              {"wait_any", wait_any},
                                                              {"missing_computes", missing_computes},
                                                              {"missing_receives", missing_receives},
                                                              {"missing_split", missing_split},
                                                              {"missing_nonblocking", missing_nonblocking},
                                                              {"generalized", generalized},
                                                              {"missing_creation", missing_creation},
                                                              {"different_calls", different_calls},
                                                              {"missing_finalize", missing_finalize},
                                                              {"missing_init", missing_init},
                                                              {"exclusive_lock", exclusive_lock},
                                                              {"shared_locks", shared_locks},
                                                              {"lock_all", lock_all},
                                                              {"missing_fence", missing_fence},
                                                              {"missing_post", missing_post},
                                                              {"missing_complete", missing_complete},
                                                              {"late", late},
                                                              {"rma_receives", rma_receives},
                                                              {"rma_barriers", rma_barriers},
                                                              {"rma_locks", rma_locks}};
  const auto hang = argc == 2 ? hangs.find(argv[1]) : hangs.end();
  if (hang == hangs.end()) return 2;
  if (std::strcmp(argv[1], "missing_init") != 0) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  }
  hang->second();
  MPI_Finalize();
}
