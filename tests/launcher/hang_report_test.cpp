// The lines of a report, from what the ranks have said.

#include "rmarun/hang_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "../unit/seed.hpp"
#include "rmarun/waits.hpp"
#include "util/waiting/wait_board.hpp"
#include "util/waiting/wait_note.hpp"

namespace rmarun {
namespace {

using ::testing::ElementsAre;
using Process = RankState::Process;

RankState waits(RankWait wait) { return {.process = Process::sleeps, .waits = {std::move(wait)}}; }

RankWait receive(int from, double seconds) {
  return {.call = "MPI_Recv",
          .about = "from rank " + std::to_string(from) + ", tag 7, MPI_COMM_WORLD",
          .seconds = seconds,
          .ranks = {from}};
}

RankWait barrier(std::vector<int> missing, double seconds) {
  return {.call = "MPI_Barrier",
          .about = "MPI_COMM_WORLD",
          .seconds = seconds,
          .meeting = 5,
          .ranks = std::move(missing)};
}

TEST(HangReport, NamesRanksInRuns) {
  EXPECT_EQ(name_ranks({3}), "rank 3");
  EXPECT_EQ(name_ranks({3, 4}), "ranks 3,4");
  EXPECT_EQ(name_ranks({0, 1, 2, 4, 6, 7, 8, 9}), "ranks 0-2,4,6-9");
}

TEST(HangReport, TwoReceives) {
  EXPECT_THAT(explain_hang({waits(receive(1, 12)), waits(receive(0, 12.2))}),
              ElementsAre("rank 0: MPI_Recv from rank 1, tag 7, MPI_COMM_WORLD, 12 s",
                          "rank 1: MPI_Recv from rank 0, tag 7, MPI_COMM_WORLD, 12 s",
                          "cycle: rank 0 waits for rank 1, rank 1 waits for rank 0"));
}

TEST(HangReport, EqualWaitsAreOneLine) {
  EXPECT_THAT(explain_hang({{}, waits(receive(0, 1.26)), waits(receive(0, 300)), waits(receive(0, 30))}),
              ElementsAre("rank 0: not waiting in librma",
                          "ranks 1-3: MPI_Recv from rank 0, tag 7, MPI_COMM_WORLD, 1.3 s to 5 min"));
}

TEST(HangReport, ACollectiveNamesWhoHasNotCome) {
  // A member that has come later was missing when the others said for whom they wait.
  EXPECT_THAT(explain_hang({waits(barrier({1, 2, 3}, 12)), waits(barrier({3}, 12)),
                            waits(barrier({1, 3}, 12)), waits(receive(0, 12))}),
              ElementsAre("ranks 0-2: MPI_Barrier, MPI_COMM_WORLD, 12 s; rank 3 has not come",
                          "rank 3: MPI_Recv from rank 0, tag 7, MPI_COMM_WORLD, 12 s",
                          "cycle: rank 0 waits for rank 3, rank 3 waits for rank 0"));
}

TEST(HangReport, ProcessesThatDoNotWait) {
  EXPECT_THAT(explain_hang({{.process = Process::computes, .waits = {}},
                            {.process = Process::stopped, .waits = {}},
                            {.process = Process::ended, .waits = {receive(0, 1)}},
                            waits(receive(2, 4)),
                            {.process = Process::unknown, .waits = {}},
                            {.process = Process::absent, .waits = {}}}),
              ElementsAre("rank 0: not waiting in librma: it computes", "rank 1: stopped by a signal",
                          "rank 2: has ended", "rank 3: MPI_Recv from rank 2, tag 7, MPI_COMM_WORLD, 4.0 s",
                          "rank 4: its host does not answer", "rank 5: has not started"));
}

TEST(HangReport, ARankThatHasEndedHasNotCome) {
  EXPECT_THAT(
      explain_hang({waits(barrier({1}, 12)), {.process = Process::ended, .waits = {barrier({0}, 12)}}}),
      ElementsAre("rank 0: MPI_Barrier, MPI_COMM_WORLD, 12 s; rank 1 has not come", "rank 1: has ended"));
  EXPECT_THAT(explain_hang({{.process = Process::ended, .waits = {barrier({1}, 12)}}}),
              ElementsAre("rank 0: has ended"));
}

TEST(HangReport, RanksOutsideTheJobAreNoNodes) {
  EXPECT_THAT(explain_hang({waits(receive(9, 4)), waits(receive(-3, 4))}),
              ElementsAre("rank 0: MPI_Recv from rank 9, tag 7, MPI_COMM_WORLD, 4.0 s",
                          "rank 1: MPI_Recv from rank -3, tag 7, MPI_COMM_WORLD, 4.0 s"));
}

TEST(HangReport, ALongCycleIsCutShort) {
  std::vector<RankState> ring;
  for (int rank = 0; rank < 100; ++rank) ring.push_back(waits(receive((rank + 1) % 100, 4)));
  const auto lines = explain_hang(ring);
  EXPECT_THAT(lines.back(), testing::EndsWith("rank 31 waits for rank 32, and so on through 100 ranks"));
}

std::vector<int> decoded(const librma::WaitRecord& record) {
  std::vector<int> ranks;
  for (std::size_t i = 0; i < record.run_count; ++i) {
    for (int k = 0; k < record.runs[i].count; ++k)
      ranks.push_back(record.runs[i].first + k * record.runs[i].stride);
  }
  return ranks;
}

TEST(WaitRecord, HoldsRanksAsRuns) {
  std::mt19937_64 random(test_seed());
  for (int round = 0; round < 500; ++round) {
    std::vector<int> ranks;
    const int step = 1 + static_cast<int>(random() % 4);
    for (int rank = 0; rank < 100; rank += step) {
      if (random() % 8 != 0) ranks.push_back(rank);
    }
    librma::WaitRecord record;
    if (librma::encode_ranks(ranks, record)) {
      ASSERT_EQ(decoded(record), ranks);
    } else {
      ASSERT_EQ(record.run_count, librma::WaitRecord::kMostRuns);
    }
  }
  librma::WaitRecord columns;
  std::vector<int> column;
  for (int rank = 3; rank < 4000; rank += 64) column.push_back(rank);
  ASSERT_TRUE(librma::encode_ranks(column, columns));
  EXPECT_EQ(columns.run_count, 1);
  EXPECT_EQ(decoded(columns), column);
}

}  // namespace
}  // namespace rmarun
