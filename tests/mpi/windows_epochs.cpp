// Active target epochs of some of the ranks, MPI_Win_test, assertions, and epochs of different kinds after
// each other.

#include <sched.h>

#include <numeric>
#include <random>
#include <vector>

#include "window_case.hpp"

namespace {

using namespace mpi_test;

MPI_Group group_of(MPI_Win win, const std::vector<int>& members) {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group some = MPI_GROUP_NULL;
  SUCCEEDS(MPI_Win_get_group(win, &all));
  SUCCEEDS(MPI_Group_incl(all, static_cast<int>(members.size()), members.data(), &some));
  SUCCEEDS(MPI_Group_free(&all));
  return some;
}

/// In each turn every rank draws, as all others do, which ranks access which. Nobody waits for the others.
void random_groups(int flavor, unsigned seed) {
  constexpr int kTurns = 60;
  const int rank = rank_in(MPI_COMM_WORLD);
  const int size = size_of(MPI_COMM_WORLD);
  const TestWindow window(flavor, 16 * static_cast<std::size_t>(size));
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  std::mt19937 random(seed);
  MPI_Win win = window.get();
  SUCCEEDS(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  for (long turn = 1; turn <= kTurns; ++turn) {
    std::vector<int> targets;
    std::vector<int> origins;
    for (int origin = 0; origin < size; ++origin) {
      for (int target = 0; target < size; ++target) {
        if (random() % 2 == 0) continue;
        if (origin == rank) targets.push_back(target);
        if (target == rank) origins.push_back(origin);
      }
    }
    MPI_Group to = group_of(win, targets);
    MPI_Group from = group_of(win, origins);
    SUCCEEDS(MPI_Win_post(from, turn % 2 == 0 ? MPI_MODE_NOSTORE : 0, win));
    CHECK(MPI_Win_post(from, 0, win) == MPI_ERR_RMA_SYNC);
    SUCCEEDS(MPI_Win_start(to, 0, win));
    for (const int target : targets)
      SUCCEEDS(MPI_Put(&turn, 1, MPI_LONG, target, window.at(target, 16 * static_cast<std::size_t>(rank)), 1,
                       MPI_LONG, win));
    SUCCEEDS(MPI_Win_complete(win));
    if (turn % 3 == 0) {
      int flag = 0;
      while (flag == 0) SUCCEEDS(MPI_Win_test(win, &flag));
    } else {
      SUCCEEDS(MPI_Win_wait(win));
    }
    for (const int origin : origins) CHECK(*reinterpret_cast<long*>(window.memory() + 16 * origin) == turn);
    SUCCEEDS(MPI_Group_free(&to));
    SUCCEEDS(MPI_Group_free(&from));
  }
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
}

/// MPI_Win_start waits for the post of a rank that does something else first, and MPI_Win_test does not wait.
void late_post() {
  const int rank = rank_in(MPI_COMM_WORLD);
  const int size = size_of(MPI_COMM_WORLD);
  if (size < 2) return;
  const TestWindow window(MPI_WIN_FLAVOR_ALLOCATE, 64);
  MPI_Win win = window.get();
  if (rank == 0) {
    MPI_Group to = group_of(win, {1});
    int started = 0;
    SUCCEEDS(MPI_Win_start(to, 0, win));
    // The target's text was sent after its post.
    SUCCEEDS(MPI_Recv(&started, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(started == 7);
    const long value = 5;
    SUCCEEDS(MPI_Accumulate(&value, 1, MPI_LONG, 1, window.at(1, 16), 1, MPI_LONG, MPI_SUM, win));
    SUCCEEDS(MPI_Win_complete(win));
    SUCCEEDS(MPI_Group_free(&to));
  } else if (rank == 1) {
    MPI_Group from = group_of(win, {0});
    const int text = 7;
    for (int i = 0; i < 50; ++i) sched_yield();
    SUCCEEDS(MPI_Win_post(from, 0, win));
    int flag = -1;
    SUCCEEDS(MPI_Win_test(win, &flag));
    CHECK(flag == 0);  // rank 0 waits for the text
    SUCCEEDS(MPI_Send(&text, 1, MPI_INT, 0, 3, MPI_COMM_WORLD));
    SUCCEEDS(MPI_Win_wait(win));
    CHECK(*reinterpret_cast<long*>(window.memory() + 16) == 5);
    SUCCEEDS(MPI_Group_free(&from));
  }
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
}

/// With MPI_MODE_NOCHECK the program says that the posts come first.
void unchecked_groups() {
  const int rank = rank_in(MPI_COMM_WORLD);
  const Ring ring(MPI_COMM_WORLD);
  const TestWindow window(MPI_WIN_FLAVOR_ALLOCATE, 64);
  MPI_Win win = window.get();
  MPI_Group to = group_of(win, {ring.next});
  MPI_Group from = group_of(win, {ring.previous});
  for (long turn = 0; turn < 10; ++turn) {
    const int assertion = turn % 2 == 0 ? MPI_MODE_NOCHECK : 0;
    SUCCEEDS(MPI_Win_post(from, assertion, win));
    SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
    SUCCEEDS(MPI_Win_start(to, assertion, win));
    const long value = 100 * turn + rank;
    SUCCEEDS(MPI_Put(&value, 1, MPI_LONG, ring.next, window.at(ring.next, 0), 1, MPI_LONG, win));
    SUCCEEDS(MPI_Win_complete(win));
    SUCCEEDS(MPI_Win_wait(win));
    CHECK(*reinterpret_cast<long*>(window.memory()) == 100 * turn + ring.previous);
  }
  SUCCEEDS(MPI_Group_free(&to));
  SUCCEEDS(MPI_Group_free(&from));
}

/// Fences, locks and groups in turn on one window. The epoch that a fence leaves open does not count while it
/// is unused.
void changing_epochs() {
  const Ring ring(MPI_COMM_WORLD);
  const TestWindow window(MPI_WIN_FLAVOR_CREATE, 64);
  MPI_Win win = window.get();
  SUCCEEDS(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  const auto seen = [&] { return *reinterpret_cast<long*>(window.memory()); };
  const auto put = [&](long value) {
    return MPI_Put(&value, 1, MPI_LONG, ring.next, window.at(ring.next, 0), 1, MPI_LONG, win);
  };
  for (long turn = 1; turn < 30; turn += 4) {
    SUCCEEDS(MPI_Win_fence(0, win));
    SUCCEEDS(put(turn));
    SUCCEEDS(MPI_Win_fence(0, win));
    CHECK(seen() == turn);
    SUCCEEDS(MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSTORE, win));
    SUCCEEDS(put(turn + 1));
    SUCCEEDS(MPI_Win_fence(MPI_MODE_NOSUCCEED | MPI_MODE_NOPUT, win));
    CHECK(seen() == turn + 1);
    CHECK(put(turn) == MPI_ERR_RMA_SYNC);
    SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
    SUCCEEDS(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, ring.next, 0, win));
    SUCCEEDS(put(turn + 2));
    SUCCEEDS(MPI_Win_unlock(ring.next, win));
    SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
    CHECK(seen() == turn + 2);
    {
      const TestEpoch epoch(win, Mode::kGroups);
      SUCCEEDS(put(turn + 3));
    }
    CHECK(seen() == turn + 3);
    SUCCEEDS(MPI_Win_fence(0, win));
    SUCCEEDS(MPI_Win_lock_all(0, win));
    SUCCEEDS(MPI_Win_unlock_all(win));
    CHECK(put(turn) == MPI_ERR_RMA_SYNC);  // the lock has ended the epoch of the fence
    SUCCEEDS(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
  }
}

/// Several windows of the same processes, whose epochs do not belong together.
void several_windows() {
  const Ring ring(MPI_COMM_WORLD);
  const TestWindow first(MPI_WIN_FLAVOR_ALLOCATE, 64);
  const TestWindow second(MPI_WIN_FLAVOR_CREATE, 64);
  const long value = ring.rank;
  SUCCEEDS(MPI_Win_fence(0, first.get()));
  SUCCEEDS(MPI_Win_lock(MPI_LOCK_SHARED, ring.next, 0, second.get()));
  SUCCEEDS(MPI_Put(&value, 1, MPI_LONG, ring.next, first.at(ring.next, 0), 1, MPI_LONG, first.get()));
  SUCCEEDS(MPI_Put(&value, 1, MPI_LONG, ring.next, second.at(ring.next, 0), 1, MPI_LONG, second.get()));
  SUCCEEDS(MPI_Win_unlock(ring.next, second.get()));
  SUCCEEDS(MPI_Win_fence(0, first.get()));
  CHECK(*reinterpret_cast<long*>(first.memory()) == ring.previous);
  CHECK(*reinterpret_cast<long*>(second.memory()) == ring.previous);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const unsigned seed = test_seed();
  for (const int flavor : flavors()) {
    SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
    random_groups(flavor, seed);
  }
  late_post();
  unchecked_groups();
  changing_epochs();
  several_windows();
  const int code = result();
  MPI_Finalize();
  return code;
}
