#include "collectives/rounds.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <tuple>

#include "threads.hpp"

namespace rma {
namespace {

using testing_threads::OwnBlock;
using testing_threads::run_members;
using testing_threads::ThreadRoster;

class RoundsTest : public testing::TestWithParam<std::tuple<int, bool, WaitPolicy>> {
 protected:
  const int members_ = std::get<0>(GetParam());
  const OwnBlock block_{
      TeamShape{.members = static_cast<std::uint32_t>(members_), .flat = std::get<1>(GetParam())}};
  const WaitPolicy policy_ = std::get<2>(GetParam());
  ThreadRoster roster_{members_};
};

TEST_P(RoundsTest, NobodyLeavesBeforeAllHaveArrived) {
  constexpr int kRounds = 200;
  // This is plain memory, because the test checks that all may read the data that others wrote before the
  // round.
  std::vector<int> arrived(static_cast<std::size_t>(members_) * 8);
  run_members(members_, [&](int member) {
    Rounds rounds(*block_, member, policy_, roster_);
    for (int round = 1; round <= kRounds; ++round) {
      arrived[static_cast<std::size_t>(member) * 8] = round;
      ASSERT_TRUE(rounds.meet().ok());
      for (int other = 0; other < members_; ++other) {
        ASSERT_EQ(arrived[static_cast<std::size_t>(other) * 8], round);
      }
      ASSERT_TRUE(rounds.meet().ok());
    }
  });
}

TEST_P(RoundsTest, OutboxesOfBothSizesArriveAndStayUntilTheNextMeeting) {
  constexpr int kRounds = 200;
  run_members(members_, [&](int member) {
    Rounds rounds(*block_, member, policy_, roster_);
    for (int round = 0; round < kRounds; ++round) {
      const std::size_t bytes = round % 3 == 0 ? TeamBlock::kPieceBytes : TeamBlock::kInlineBytes;
      const int sent = round * 100 + member;
      std::memcpy(rounds.outbox(bytes) + bytes - sizeof sent, &sent, sizeof sent);
      ASSERT_TRUE(rounds.meet().ok());
      // The next outbox is filled while others read this one.
      std::memset(rounds.outbox(bytes), 0xee, bytes);
      for (int other = 0; other < members_; ++other) {
        int received = -1;
        std::memcpy(&received, rounds.inbox(other, bytes) + bytes - sizeof sent, sizeof received);
        ASSERT_EQ(received, round * 100 + other);
      }
    }
  });
}

TEST_P(RoundsTest, ARoundThatOneEndedBeforeFailsForAllAndEveryRoundBeforeForNone) {
  if (members_ == 1) GTEST_SKIP() << "nobody to lose";
  constexpr int kRounds = 30;
  const int victim = members_ / 2;
  run_members(members_, [&](int member) {
    Rounds rounds(*block_, member, policy_, roster_);
    for (int round = 1; round <= kRounds; ++round) {
      std::memcpy(rounds.outbox(sizeof round), &round, sizeof round);
      ASSERT_TRUE(rounds.meet().ok());
      for (int other = 0; other < members_; ++other) {
        int received = -1;
        std::memcpy(&received, rounds.inbox(other, sizeof round), sizeof received);
        ASSERT_EQ(received, round);
      }
    }
    if (member == victim) {
      roster_.end(member);
      return;
    }
    for (int again = 0; again < 3; ++again) {
      // Slower members still read those of the last round.
      std::memset(rounds.outbox(sizeof kRounds), 0xee, sizeof kRounds);
      const Status status = rounds.meet();
      EXPECT_EQ(status.code(), RMA_ERR_PEER_LOST);
      EXPECT_EQ(status.text(), std::to_string(victim));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Teams, RoundsTest,
                         testing::Combine(testing::Values(1, 2, 3, 5, 8, 16), testing::Bool(),
                                          testing::Values(WaitPolicy{.spins = 0, .yields = 0},
                                                          WaitPolicy{.spins = 0, .yields = 4},
                                                          WaitPolicy{.spins = 50, .yields = 1})),
                         [](const auto& each) {
                           return std::to_string(std::get<0>(each.param)) + "Members" +
                                  (std::get<1>(each.param) ? "Flat" : "Counting") + "Spins" +
                                  std::to_string(std::get<2>(each.param).spins) + "Yields" +
                                  std::to_string(std::get<2>(each.param).yields);
                         });

}  // namespace
}  // namespace rma
