#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <vector>

#include "../multi/forked_job.hpp"
#include "mpi.h"
#include "rma/rma.h"

// A job of three ranks, of which one ends while the others go on. The test forks the ranks.

namespace lost_job {

constexpr int kRanks = 3;
constexpr int kVictim = 2;

/// Runs `body(rank)` on all ranks of a job. The victim ends inside of it, and the others end well.
inline void run(const std::function<void(int)>& body) {
  const SharedWithForked<Meeting> meeting;
  std::vector<Forked> processes;
  for (int rank = 0; rank < kRanks; ++rank) {
    processes.emplace_back([&, rank] {
      Member member = {&*meeting, rank, kRanks};
      const rma_bootstrap_t given = {rank, kRanks, allgather, barrier, nullptr, &member};
      EXPECT_EQ(rma_init_with(&given), RMA_SUCCESS) << rma_last_error();
      EXPECT_EQ(MPI_Init(nullptr, nullptr), MPI_SUCCESS);
      body(rank);
      return true;  // and the process ends without MPI_Finalize, which nobody could complete
    });
  }
  for (int rank = 0; rank < kRanks; ++rank)
    EXPECT_EQ(processes[static_cast<std::size_t>(rank)].ended_well(), rank != kVictim) << "rank " << rank;
}

/// Ends as by a signal.
[[noreturn]] inline void end() {
  kill(getpid(), SIGKILL);
  std::abort();
}

}  // namespace lost_job
