// A rank ends while collectives are under way. The requests of all others end with RMA_ERR_PEER_LOST and a
// text that names a rank, also those of ranks that exchange no message with the lost one.

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include "forked_job.hpp"
#include "rma/collectives.h"
#include "rma/rma.h"

namespace {

constexpr int kScheduleRanks = 5;
constexpr int kScheduleVictim = 3;
constexpr std::size_t kScheduleElements = 40'000;

/// Starts a collective call in which every member needs every other one's part.
rma_status_t start_collective(int call, rma_team_t team, std::vector<long>& dst, const std::vector<long>& src,
                              rma_request_t* request) {
  const std::size_t each = kScheduleElements / kScheduleRanks;
  switch (call) {
    case 0:
      return rma_barrier_nb(team, request);
    case 1:
      return rma_allreduce_nb(team, dst.data(), src.data(), 1, RMA_LONG, RMA_SUM, request);
    case 2:
      return rma_allreduce_nb(team, dst.data(), src.data(), kScheduleElements, RMA_LONG, RMA_SUM, request);
    case 3:
      return rma_allgather_nb(team, dst.data(), src.data(), each * sizeof(long), request);
    default:
      return rma_alltoall_nb(team, dst.data(), src.data(), each * sizeof(long), request);
  }
}

class ScheduleLost : public testing::TestWithParam<int> {};

TEST_P(ScheduleLost, AllRequestsEnd) {
  const SharedWithForked<Meeting> meeting;
  const SharedWithForked<Meeting> survivors;
  std::vector<Forked> processes;
  for (int rank = 0; rank < kScheduleRanks; ++rank) {
    processes.emplace_back([&, rank] {
      Member member = {&*meeting, rank, kScheduleRanks};
      const rma_bootstrap_t given = {rank, kScheduleRanks, allgather, barrier, nullptr, &member};
      EXPECT_EQ(rma_init_with(&given), RMA_SUCCESS) << rma_last_error();
      if (rma_initialized() == 0) return false;
      const std::vector<long> src(kScheduleElements, rank);
      std::array<std::vector<long>, 2> dst = {src, src};
      std::array<rma_request_t, 2> requests = {};
      // The victim takes part in one call, and not in the next one.
      EXPECT_EQ(start_collective(GetParam(), rma_team_world(), dst[0], src, requests.data()), RMA_SUCCESS);
      EXPECT_EQ(rma_wait(requests.data()), RMA_SUCCESS) << rma_last_error();
      barrier(&member);
      if (rank == kScheduleVictim) {
        kill(getpid(), SIGKILL);
        std::abort();
      }
      for (std::size_t i = 0; i < requests.size(); ++i) {
        rma_status_t status = start_collective(GetParam(), rma_team_world(), dst[i], src, &requests[i]);
        if (status == RMA_SUCCESS) status = rma_wait(&requests[i]);
        const std::string text = rma_last_error();
        EXPECT_EQ(status, RMA_ERR_PEER_LOST) << text;
        EXPECT_NE(text.find("rank 3"), std::string::npos) << text;
      }
      Member survivor = {&*survivors, rank < kScheduleVictim ? rank : rank - 1, kScheduleRanks - 1};
      barrier(&survivor);
      EXPECT_EQ(rma_finalize(), RMA_ERR_PEER_LOST) << rma_last_error();
      return true;
    });
  }
  for (int rank = 0; rank < kScheduleRanks; ++rank) {
    EXPECT_EQ(processes[static_cast<std::size_t>(rank)].ended_well(), rank != kScheduleVictim)
        << "rank " << rank;
  }
}

INSTANTIATE_TEST_SUITE_P(Calls, ScheduleLost, testing::Range(0, 5));

}  // namespace
