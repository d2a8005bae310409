// A rank ends in the middle of its epochs, and the launcher keeps the others alive. Each call that waits for
// it fails with MPI_ERR_PROC_ABORTED, and none waits for ever. The test forks the ranks of each job.

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <functional>
#include <vector>

#include "lost_job.hpp"
#include "mpi.h"

namespace {

using lost_job::end;
using lost_job::kRanks;
using lost_job::kVictim;

class WindowsLost : public testing::Test {
 protected:
  /// Runs `body(rank, win)` on all ranks of a job, with a window of a word for each rank. The victim ends
  /// inside of it.
  static void run(const std::function<void(int, MPI_Win)>& body) {
    lost_job::run([&](int rank) {
      MPI_Win win = MPI_WIN_NULL;
      void* base = nullptr;
      EXPECT_EQ(MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win), MPI_SUCCESS);
      MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
      body(rank, win);
      EXPECT_EQ(MPI_Win_free(&win), MPI_ERR_PROC_ABORTED);
      EXPECT_EQ(win, MPI_WIN_NULL);
    });
  }

  static void meet() { EXPECT_EQ(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS); }

  /// Makes the group of the victim, or of both others.
  static MPI_Group group(MPI_Win win, const std::vector<int>& members) {
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Group some = MPI_GROUP_NULL;
    EXPECT_EQ(MPI_Win_get_group(win, &all), MPI_SUCCESS);
    EXPECT_EQ(MPI_Group_incl(all, static_cast<int>(members.size()), members.data(), &some), MPI_SUCCESS);
    EXPECT_EQ(MPI_Group_free(&all), MPI_SUCCESS);
    return some;
  }
};

TEST_F(WindowsLost, AFence) {
  run([](int rank, MPI_Win win) {
    EXPECT_EQ(MPI_Win_fence(0, win), MPI_SUCCESS);
    if (rank == kVictim) end();
    EXPECT_EQ(MPI_Win_fence(0, win), MPI_ERR_PROC_ABORTED);
    EXPECT_EQ(MPI_Win_fence(0, win), MPI_ERR_PROC_ABORTED);
  });
}

TEST_F(WindowsLost, TheHolderOfAnExclusiveLock) {
  run([](int rank, MPI_Win win) {
    if (rank == kVictim) {
      EXPECT_EQ(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win), MPI_SUCCESS);
    }
    meet();
    if (rank == kVictim) end();
    EXPECT_EQ(MPI_Win_lock(rank == 0 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, win),
              MPI_ERR_PROC_ABORTED);
    EXPECT_EQ(MPI_Win_lock_all(0, win), MPI_ERR_PROC_ABORTED);
    // Another rank's lock is free, and no epoch is open.
    EXPECT_EQ(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win), MPI_SUCCESS);
    EXPECT_EQ(MPI_Win_unlock(1, win), MPI_SUCCESS);
  });
}

TEST_F(WindowsLost, ASharer) {
  run([](int rank, MPI_Win win) {
    if (rank == kVictim) {
      EXPECT_EQ(MPI_Win_lock_all(0, win), MPI_SUCCESS);
    }
    meet();
    if (rank == kVictim) end();
    EXPECT_EQ(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win), MPI_ERR_PROC_ABORTED);
    long value = 7;
    EXPECT_EQ(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win), MPI_SUCCESS);
    EXPECT_EQ(MPI_Accumulate(&value, 1, MPI_LONG, rank, 0, 1, MPI_LONG, MPI_SUM, win), MPI_SUCCESS);
    EXPECT_EQ(MPI_Win_unlock(rank, win), MPI_SUCCESS);
  });
}

// Elements that are no words are updated under a lock of the target.
TEST_F(WindowsLost, AnAccumulateUnderWay) {
  run([](int rank, MPI_Win win) {
    constexpr std::size_t kPage = 4096;
    EXPECT_EQ(MPI_Win_lock_all(0, win), MPI_SUCCESS);
    double value = 7;
    void* origin = &value;
    if (rank == kVictim) {
      // The victim ends where it reads its own operand.
      origin = mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      EXPECT_NE(signal(SIGSEGV, [](int /*number*/) { end(); }), SIG_ERR);
    }
    meet();
    int code = MPI_SUCCESS;
    while (code == MPI_SUCCESS)
      code = MPI_Accumulate(origin, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_SUM, win);
    EXPECT_EQ(code, MPI_ERR_PROC_ABORTED);
    double result = 0;
    EXPECT_EQ(
        MPI_Get_accumulate(&value, 1, MPI_DOUBLE, &result, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_SUM, win),
        MPI_ERR_PROC_ABORTED);
    // Another rank's lock is free.
    EXPECT_EQ(MPI_Accumulate(&value, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, MPI_SUM, win), MPI_SUCCESS);
    EXPECT_EQ(MPI_Win_unlock_all(win), MPI_SUCCESS);
  });
}

TEST_F(WindowsLost, ATargetThatNeverPosts) {
  run([](int rank, MPI_Win win) {
    MPI_Group victim = group(win, {kVictim});
    meet();
    if (rank == kVictim) end();
    EXPECT_EQ(MPI_Win_start(victim, 0, win), MPI_ERR_PROC_ABORTED);
    EXPECT_EQ(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
    EXPECT_EQ(MPI_Group_free(&victim), MPI_SUCCESS);
  });
}

TEST_F(WindowsLost, AnOriginThatNeverCompletes) {
  run([](int rank, MPI_Win win) {
    MPI_Group victim = group(win, {kVictim});
    MPI_Group others = group(win, {0, 1});
    if (rank == kVictim) {
      EXPECT_EQ(MPI_Win_start(others, 0, win), MPI_SUCCESS);
    } else {
      EXPECT_EQ(MPI_Win_post(victim, 0, win), MPI_SUCCESS);
    }
    meet();
    if (rank == kVictim) end();
    int flag = 0;
    int code = MPI_SUCCESS;
    while (code == MPI_SUCCESS && flag == 0) code = MPI_Win_test(win, &flag);
    EXPECT_EQ(code, MPI_ERR_PROC_ABORTED);
    EXPECT_EQ(MPI_Win_wait(win), MPI_ERR_PROC_ABORTED);
    EXPECT_EQ(MPI_Group_free(&victim), MPI_SUCCESS);
    EXPECT_EQ(MPI_Group_free(&others), MPI_SUCCESS);
  });
}

}  // namespace
