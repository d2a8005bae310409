// A rank ends while another one gathers by RDMA without the memory to hear of it. The call ends all the same.

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <thread>
#include <vector>

#include "../multi/failing_new.hpp"
#include "../multi/forked_job.hpp"
#include "rma/collectives.h"
#include "rma/rma.h"

namespace {

constexpr int kRanks = 3;
constexpr int kVictim = 2;
constexpr std::size_t kBytes = 1024;

/// The parameter is the number of the allocation that fails in the call, from 0.
class ExhaustedLost : public testing::TestWithParam<int> {};

TEST_P(ExhaustedLost, AnAllgatherEnds) {
  const SharedWithForked<Meeting> meeting;
  std::vector<Forked> processes;
  for (int rank = 0; rank < kRanks; ++rank) {
    processes.emplace_back([&, rank] {
      alarm(60);  // ends a rank that hangs
      // A rank without memory for a message that arrives ends itself. That is an end, too.
      static_cast<void>(std::signal(SIGABRT, [](int) { _exit(0); }));
      Member member = {&*meeting, rank, kRanks};
      const rma_bootstrap_t given = {rank, kRanks, allgather, barrier, nullptr, &member};
      EXPECT_EQ(rma_init_with(&given), RMA_SUCCESS) << rma_last_error();
      if (rma_initialized() == 0) return false;
      const std::vector<char> mine(kBytes, static_cast<char>(rank));
      std::vector<char> all(kBytes * kRanks);
      // The first calls make everything that later ones use.
      for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(rma_allgather(rma_team_world(), all.data(), mine.data(), kBytes), RMA_SUCCESS);
      }
      barrier(&member);
      if (rank == kVictim) {
        // Most likely the others wait in their calls by now. If they do not, the test checks less.
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        kill(getpid(), SIGKILL);
      }
      let_fail(GetParam(), false);
      const rma_status_t status = rma_allgather(rma_team_world(), all.data(), mine.data(), kBytes);
      const bool ran_out = end_failing();
      EXPECT_TRUE(status == RMA_ERR_PEER_LOST || (ran_out && status == RMA_ERR_NO_MEMORY))
          << status << ": " << rma_last_error();
      return true;
    });
  }
  for (int rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(processes[static_cast<std::size_t>(rank)].ended_well(), rank != kVictim) << "rank " << rank;
  }
}

INSTANTIATE_TEST_SUITE_P(Allocations, ExhaustedLost, testing::Range(0, 3));

}  // namespace
