// Locks and atomic operations under contention: counters that no other operation protects, and mixtures of
// accumulates that have to be atomic to each other.

#include <sched.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <numeric>
#include <vector>

#include "window_case.hpp"

namespace {

using namespace mpi_test;

/// Counts with a get and a put under an exclusive lock, at every rank, while others share locks and lock all.
void count_under_locks(int flavor) {
  constexpr int kTurns = 10;
  const TestWindow window(flavor, 64);
  const int rank = rank_in(MPI_COMM_WORLD);
  const int size = size_of(MPI_COMM_WORLD);
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  for (int turn = 0; turn < kTurns; ++turn) {
    for (int i = 0; i < size; ++i) {
      const int target = (rank + i + turn) % size;
      long value = -1;
      SUCCEEDS(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window.get()));
      SUCCEEDS(MPI_Get(&value, 1, MPI_LONG, target, window.at(target, 0), 1, MPI_LONG, window.get()));
      SUCCEEDS(MPI_Win_flush_local(target, window.get()));
      ++value;
      // The second word is wrong while the first one changes: nobody may see that, also if others run now.
      SUCCEEDS(MPI_Put(&value, 1, MPI_LONG, target, window.at(target, 0), 1, MPI_LONG, window.get()));
      SUCCEEDS(MPI_Win_flush(target, window.get()));
      sched_yield();
      SUCCEEDS(MPI_Put(&value, 1, MPI_LONG, target, window.at(target, 16), 1, MPI_LONG, window.get()));
      SUCCEEDS(MPI_Win_unlock(target, window.get()));
      const bool all = (turn + i) % 3 == 0;
      std::array<long, 2> seen = {-1, -2};
      if (all) {
        SUCCEEDS(MPI_Win_lock_all(0, window.get()));
      } else {
        SUCCEEDS(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window.get()));
      }
      SUCCEEDS(MPI_Get(seen.data(), 1, MPI_LONG, target, window.at(target, 0), 1, MPI_LONG, window.get()));
      SUCCEEDS(MPI_Win_flush(target, window.get()));
      for (int yields = 0; yields < 6; ++yields)
        sched_yield();  // a writer that does not wait has the time for both words
      SUCCEEDS(
          MPI_Get(seen.data() + 1, 1, MPI_LONG, target, window.at(target, 16), 1, MPI_LONG, window.get()));
      SUCCEEDS(all ? MPI_Win_flush_local_all(window.get()) : MPI_Win_flush_local(target, window.get()));
      CHECK(seen[0] == seen[1] && seen[0] >= value);
      SUCCEEDS(all ? MPI_Win_unlock_all(window.get()) : MPI_Win_unlock(target, window.get()));
    }
  }
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  SUCCEEDS(MPI_Win_lock(MPI_LOCK_SHARED, rank, MPI_MODE_NOCHECK, window.get()));
  CHECK(*reinterpret_cast<long*>(window.memory()) == static_cast<long>(kTurns) * size);
  SUCCEEDS(MPI_Win_unlock(rank, window.get()));
}

/// All ranks take numbers of one counter by every call that can add. Each number is taken once.
template <class Integer>
void take_numbers(const TestWindow& window, MPI_Datatype type) {
  constexpr int kTurns = 45;
  const int size = size_of(MPI_COMM_WORLD);
  std::vector<Integer> taken;
  SUCCEEDS(MPI_Win_lock_all(0, window.get()));
  const Integer one = 1;
  for (int turn = 0; turn < kTurns; ++turn) {
    Integer old = 0;
    switch (turn % 3) {
      case 0:
        SUCCEEDS(MPI_Fetch_and_op(&one, &old, type, 0, window.at(0, 0), MPI_SUM, window.get()));
        break;
      case 1:
        SUCCEEDS(MPI_Get_accumulate(&one, 1, type, &old, 1, type, 0, window.at(0, 0), 1, type, MPI_SUM,
                                    window.get()));
        break;
      default: {
        Integer expected = 0;
        SUCCEEDS(MPI_Fetch_and_op(nullptr, &expected, type, 0, window.at(0, 0), MPI_NO_OP, window.get()));
        SUCCEEDS(MPI_Win_flush(0, window.get()));
        while (true) {
          const auto next = static_cast<Integer>(expected + 1);
          SUCCEEDS(MPI_Compare_and_swap(&next, &expected, &old, type, 0, window.at(0, 0), window.get()));
          SUCCEEDS(MPI_Win_flush(0, window.get()));
          if (old == expected) break;
          expected = old;
        }
      }
    }
    SUCCEEDS(MPI_Win_flush(0, window.get()));
    taken.push_back(old);
  }
  SUCCEEDS(MPI_Win_unlock_all(window.get()));
  std::vector<Integer> all(taken.size() * static_cast<std::size_t>(size));
  SUCCEEDS(MPI_Allgather(taken.data(), kTurns, type, all.data(), kTurns, type, MPI_COMM_WORLD));
  std::ranges::sort(all);
  bool each_once = true;
  for (std::size_t i = 0; i < all.size(); ++i) each_once = each_once && all[i] == static_cast<Integer>(i);
  CHECK(each_once);
}

/// Sums of several elements, some of which lie across each other: none is lost.
template <class Number>
void add_overlapping(const TestWindow& window, MPI_Datatype type, const std::vector<MPI_Op>& fetching) {
  constexpr int kCount = 32;
  constexpr int kTurns = 30;
  const int size = size_of(MPI_COMM_WORLD);
  const int rank = rank_in(MPI_COMM_WORLD);
  const std::vector<Number> ones(kCount, Number(1));
  std::vector<Number> old(kCount);
  MPI_Datatype every_second = MPI_DATATYPE_NULL;
  SUCCEEDS(MPI_Type_vector(kCount / 2, 1, 2, type, &every_second));
  SUCCEEDS(MPI_Type_commit(&every_second));
  SUCCEEDS(MPI_Win_lock_all(0, window.get()));
  for (int turn = 0; turn < kTurns; ++turn) {
    for (int target = 0; target < size; ++target) {
      if ((turn + rank) % 2 == 0) {
        SUCCEEDS(MPI_Accumulate(ones.data(), kCount, type, target, window.at(target, 0), kCount, type,
                                MPI_SUM, window.get()));
      } else {
        // The even elements, and all by a fetching call.
        SUCCEEDS(MPI_Accumulate(ones.data(), kCount / 2, type, target, window.at(target, 0), 1, every_second,
                                MPI_SUM, window.get()));
        for (const MPI_Op op : fetching)
          SUCCEEDS(MPI_Get_accumulate(ones.data(), kCount, type, old.data(), kCount, type, target,
                                      window.at(target, 0), kCount, type, op, window.get()));
      }
    }
  }
  SUCCEEDS(MPI_Win_unlock_all(window.get()));
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  // Half of the turns of all ranks, rounded for odd numbers of ranks, which kTurns makes exact.
  const int half = kTurns / 2 * size;
  const auto* const mine = reinterpret_cast<const Number*>(window.memory());
  bool right = true;
  for (int i = 0; i < kCount; ++i) {
    const int sums = half + half + (i % 2 == 0 ? half : 0);
    right = right && mine[i] == Number(static_cast<float>(sums));
  }
  CHECK(right);
  SUCCEEDS(MPI_Type_free(&every_second));
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
}

/// Products, for which there is no atomic operation: 3 as often as all ranks multiply, modulo the integers'
/// range.
template <class Integer>
void multiply(const TestWindow& window, MPI_Datatype type, int turns) {
  const Integer three = 3;
  Integer expected = 1;
  for (int i = 0; i < turns * size_of(MPI_COMM_WORLD); ++i) expected = static_cast<Integer>(expected * three);
  auto* const mine = reinterpret_cast<Integer*>(window.memory());
  *mine = 1;
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  SUCCEEDS(MPI_Win_lock_all(0, window.get()));
  for (int turn = 0; turn < turns; ++turn)
    SUCCEEDS(MPI_Accumulate(&three, 1, type, 0, window.at(0, 0), 1, type, MPI_PROD, window.get()));
  SUCCEEDS(MPI_Win_unlock_all(window.get()));
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  if (rank_in(MPI_COMM_WORLD) == 0) CHECK(*mine == expected);
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
}

/// A queue of ranks that wait for each other, as the standard's example of a mutex has it: swaps,
/// compare-and-swap and plain replacements of the same words.
void pass_a_queue_lock() {
  constexpr int kTurns = 20;
  const TestWindow window(MPI_WIN_FLAVOR_ALLOCATE, 64);
  const int rank = rank_in(MPI_COMM_WORLD);
  const int size = size_of(MPI_COMM_WORLD);
  // Offset 0: the next rank, and 1 for no rank. 16: whether this rank waits. 32, at rank 0: the last rank.
  // 48: the counter.
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  MPI_Win win = window.get();
  SUCCEEDS(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
  const int none = 0;
  const int mine = rank + 1;
  const int waits = 1;
  for (int turn = 0; turn < kTurns; ++turn) {
    int ignored = 0;
    int last = -1;
    SUCCEEDS(MPI_Fetch_and_op(&none, &ignored, MPI_INT, rank, window.at(rank, 0), MPI_REPLACE, win));
    SUCCEEDS(MPI_Fetch_and_op(&waits, &ignored, MPI_INT, rank, window.at(rank, 16), MPI_REPLACE, win));
    SUCCEEDS(MPI_Win_flush(rank, win));
    SUCCEEDS(MPI_Fetch_and_op(&mine, &last, MPI_INT, 0, window.at(0, 32), MPI_REPLACE, win));
    SUCCEEDS(MPI_Win_flush(0, win));
    if (last != 0) {
      SUCCEEDS(
          MPI_Accumulate(&mine, 1, MPI_INT, last - 1, window.at(last - 1, 0), 1, MPI_INT, MPI_REPLACE, win));
      SUCCEEDS(MPI_Win_flush(last - 1, win));
      int waiting = 1;
      while (waiting == 1) {
        SUCCEEDS(MPI_Fetch_and_op(nullptr, &waiting, MPI_INT, rank, window.at(rank, 16), MPI_NO_OP, win));
        SUCCEEDS(MPI_Win_flush(rank, win));
        int found = 0;
        SUCCEEDS(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE));
        if (waiting == 1) sched_yield();
      }
    }
    int counter = -1;
    SUCCEEDS(MPI_Get(&counter, 1, MPI_INT, 0, window.at(0, 48), 1, MPI_INT, win));
    SUCCEEDS(MPI_Win_flush(0, win));
    ++counter;
    SUCCEEDS(MPI_Put(&counter, 1, MPI_INT, 0, window.at(0, 48), 1, MPI_INT, win));
    SUCCEEDS(MPI_Win_flush(0, win));
    int seen = -1;
    SUCCEEDS(MPI_Compare_and_swap(&none, &mine, &seen, MPI_INT, 0, window.at(0, 32), win));
    SUCCEEDS(MPI_Win_flush(0, win));
    if (seen == mine) continue;
    int next = 0;
    while (next == 0) {
      SUCCEEDS(MPI_Fetch_and_op(nullptr, &next, MPI_INT, rank, window.at(rank, 0), MPI_NO_OP, win));
      SUCCEEDS(MPI_Win_flush(rank, win));
      if (next == 0) sched_yield();
    }
    SUCCEEDS(
        MPI_Accumulate(&none, 1, MPI_INT, next - 1, window.at(next - 1, 16), 1, MPI_INT, MPI_REPLACE, win));
    SUCCEEDS(MPI_Win_flush(next - 1, win));
  }
  SUCCEEDS(MPI_Win_unlock_all(win));
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  if (rank == 0) CHECK(reinterpret_cast<const int*>(window.memory())[12] == kTurns * size);
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (const int flavor : flavors()) {
    count_under_locks(flavor);
    {
      const TestWindow window(flavor, 64);
      take_numbers<std::int64_t>(window, MPI_INT64_T);
    }
    {
      const TestWindow window(flavor, 64);
      take_numbers<std::uint32_t>(window, MPI_UINT32_T);
    }
    {
      const TestWindow window(flavor, 64);
      take_numbers<std::int16_t>(window, MPI_INT16_T);
    }
    {
      const TestWindow window(flavor, 64);
      // So many that the ranks meet, where one takes nanoseconds.
      const int turns = flavor == MPI_WIN_FLAVOR_ALLOCATE && on_one_host() ? 100000 : 100;
      multiply<std::uint64_t>(window, MPI_UINT64_T, turns);
      multiply<std::uint32_t>(window, MPI_UINT32_T, turns);
    }
    {
      const TestWindow window(flavor, 1024);
      add_overlapping<double>(window, MPI_DOUBLE, {MPI_SUM, MPI_NO_OP});
    }
    {
      const TestWindow window(flavor, 1024);
      add_overlapping<std::complex<float>>(window, MPI_C_FLOAT_COMPLEX, {MPI_SUM});
    }
    {
      const TestWindow window(flavor, 1024);
      add_overlapping<std::int32_t>(window, MPI_INT32_T, {MPI_SUM, MPI_NO_OP});
    }
  }
  pass_a_queue_lock();
  const int code = result();
  MPI_Finalize();
  return code;
}
