#include "collectives/team/agreement.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <numeric>

#include "thread_team_carrier.hpp"
#include "threads.hpp"

namespace librma {
namespace {

using testing_threads::Network;
using testing_threads::run_members;
using testing_threads::ThreadTeamCarrier;

class AgreementTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { alarm(240); }
  void TearDown() override { alarm(0); }

  /// The objects of one process.
  struct Process {
    Process(AgreementTest& test, int rank) : transport(test.network_, rank), agreement(rank, transport) {}
    ThreadTeamCarrier transport;
    Agreement agreement;
  };

  [[nodiscard]] std::vector<int> all() const {
    std::vector<int> result(static_cast<std::size_t>(ranks_));
    std::iota(result.begin(), result.end(), 0);
    return result;
  }

  const int ranks_ = GetParam();
  Network network_{ranks_};
};

/// Meets, and checks the values that this member learned. Ids and contexts are made-up numbers that identify
/// the team.
void meet(Agreement& agreement, const TeamKey& key, const std::vector<int>& ranks, int rank,
          std::uint64_t team) {
  const auto member = static_cast<int>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
  const bool first = member == 0;
  const Agreement::Outcome outcome = agreement.reach(
      key, ranks, member, {.failure = 0, .id = first ? team + 1 : 0, .context = first ? team * 1000 + 7 : 0});
  EXPECT_TRUE(outcome.failure.ok());
  EXPECT_EQ(outcome.id, team + 1);
  EXPECT_EQ(outcome.context, team * 1000 + 7) << "at rank " << rank;
}

TEST_P(AgreementTest, TheSameTeamAgainAndAgain) {
  run_members(ranks_, [&](int rank) {
    Process process(*this, rank);
    const TeamKey key = TeamKey::of(all());
    for (std::uint64_t team = 0; team < 30; ++team) meet(process.agreement, key, all(), rank, team);
  });
}

TEST_P(AgreementTest, ThreadsMakeTheirTeamsInAnyOrder) {
  // Each process makes some teams, each in a thread of its own. Some have the same members in the same order,
  // and differ only in their numbers.
  constexpr int kTeams = 12;
  run_members(ranks_, [&](int rank) {
    Process process(*this, rank);
    run_members(kTeams, [&](int thread) {
      const int team = (rank + thread) % kTeams;
      std::vector<int> ranks = all();
      std::rotate(ranks.begin(), ranks.begin() + team % ranks_, ranks.end());
      const auto number = static_cast<std::uint64_t>(team);
      meet(process.agreement, TeamKey::of(ranks, {.parent = 7, .split = number}), ranks, rank, number);
    });
  });
}

TEST_P(AgreementTest, AMemberWithoutMemoryIsHeardOfByAllAndNextTimeIsANewOne) {
  const std::vector<int> ranks = all();
  const int poor = ranks_ - 1;
  run_members(ranks_, [&](int rank) {
    Process process(*this, rank);
    const FailureWord mine =
        rank == poor ? FailureWord{.code = RMA_ERR_NO_MEMORY, .rank = rank} : FailureWord{};
    const Agreement::Outcome outcome = process.agreement.reach(
        TeamKey::of(ranks), ranks, rank, {.failure = mine.word(), .id = 0, .context = 64});
    EXPECT_EQ(outcome.failure.code, RMA_ERR_NO_MEMORY) << "rank " << rank;
    EXPECT_EQ(outcome.failure.rank, poor);
    meet(process.agreement, TeamKey::of(ranks), ranks, rank, 5);
  });
}

TEST_P(AgreementTest, ALostMemberKeepsNobodyWaiting) {
  if (ranks_ == 1) GTEST_SKIP() << "nobody to lose";
  const std::vector<int> ranks = all();
  run_members(ranks_, [&](int rank) {
    Process process(*this, rank);
    if (rank == 0) {
      network_.lose(rank);
      return;
    }
    const Agreement::Outcome outcome =
        process.agreement.reach(TeamKey::of(ranks), ranks, rank, {.failure = 0, .id = 0, .context = 64});
    EXPECT_EQ(outcome.failure.code, RMA_ERR_PEER_LOST) << "rank " << rank;
  });
}

INSTANTIATE_TEST_SUITE_P(Jobs, AgreementTest, testing::Values(1, 2, 3, 4, 5, 8));

}  // namespace
}  // namespace librma
