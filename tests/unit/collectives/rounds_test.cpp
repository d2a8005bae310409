#include "collectives/shared_memory/rounds.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <tuple>

#include "threads.hpp"

namespace librma {
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

// Random members post data of random sizes, and random others wait for them. Sometimes all meet.
TEST_P(RoundsTest, OneWayDataArriveHoweverFarTheSenderRunsAhead) {
  constexpr int kRounds = 600;
  const auto seed = static_cast<unsigned>(testing_threads::seed());
  const auto value_of = [](int round, int from) { return static_cast<std::byte>(round * 31 + from * 7 + 1); };
  run_members(members_, [&](int member) {
    Rounds rounds(*block_, member, policy_, roster_);
    std::mt19937 random(seed);  // all members draw alike
    for (int round = 0; round < kRounds; ++round) {
      const int root = static_cast<int>(random() % static_cast<unsigned>(members_));
      const bool to_root = random() % 3 == 0;
      const std::size_t bytes =
          1 + random() % (random() % 4 == 0 ? TeamBlock::kSlotBytes : TeamBlock::kInlineBytes);
      if (random() % 16 == 0 || !rounds.begin_one_way(bytes)) {
        ASSERT_TRUE(rounds.meet().ok());
        continue;
      }
      if ((member == root) != to_root) {
        std::memset(rounds.post_box(bytes), static_cast<int>(value_of(round, member)), bytes);
        rounds.post();
      }
      if ((member == root) != to_root) continue;
      for (int from = 0; from < members_; ++from) {
        if ((from == root) == to_root) continue;
        ASSERT_TRUE(rounds.await(from).ok());
        const std::byte* const come = rounds.posted(from, bytes);
        ASSERT_EQ(come[0], value_of(round, from)) << "seed " << seed << " round " << round;
        ASSERT_EQ(come[bytes - 1], value_of(round, from)) << "seed " << seed << " round " << round;
      }
    }
  });
}

TEST_P(RoundsTest, AMemberThatPostsWaitsForNobody) {
  std::atomic<int> ahead = 0;  // the others begin when member 0 has posted everything
  run_members(members_, [&](int member) {
    Rounds rounds(*block_, member, policy_, roster_);
    while (member != 0 && ahead.load(std::memory_order_acquire) == 0) std::this_thread::yield();
    for (std::uint64_t i = 0; i < TeamBlock::kOneWayLines; ++i) {
      ASSERT_TRUE(rounds.begin_one_way(sizeof i));
      if (member == 0) {
        std::memcpy(rounds.post_box(sizeof i), &i, sizeof i);
        rounds.post();
        continue;
      }
      ASSERT_TRUE(rounds.await(0).ok());
      std::uint64_t come = 0;
      std::memcpy(&come, rounds.posted(0, sizeof come), sizeof come);
      ASSERT_EQ(come, i);
    }
    ASSERT_FALSE(rounds.begin_one_way(sizeof(int)));
    ahead.store(1, std::memory_order_release);
    ASSERT_TRUE(rounds.meet().ok());
    ASSERT_TRUE(rounds.begin_one_way(TeamBlock::kSlotBytes));
    ASSERT_FALSE(rounds.begin_one_way(TeamBlock::kSlotBytes + 1));
  });
}

TEST_P(RoundsTest, AMemberThatEndsBeforeItPostsIsMissedAndOneThatEndsAfterwardsIsNot) {
  if (members_ == 1) GTEST_SKIP() << "nobody to lose";
  run_members(members_, [&](int member) {
    Rounds rounds(*block_, member, policy_, roster_);
    ASSERT_TRUE(rounds.meet().ok());
    const int victim = members_ - 1;
    ASSERT_TRUE(rounds.begin_one_way(sizeof member));
    if (member == victim) {
      std::memcpy(rounds.post_box(sizeof member), &member, sizeof member);
      rounds.post();
      roster_.end(member);
      return;
    }
    ASSERT_TRUE(rounds.await(victim).ok());
    if (member == 0) {
      ASSERT_TRUE(rounds.begin_one_way(sizeof member));
      const Status status = rounds.await(victim);
      EXPECT_EQ(status.code(), RMA_ERR_PEER_LOST);
      EXPECT_EQ(status.text(), std::to_string(victim));
    }
    // The others do not wait for the victim in that round, but in the meeting.
    for (int again = 0; again < 3; ++again) {
      const Status status = rounds.meet();
      EXPECT_EQ(status.code(), RMA_ERR_PEER_LOST);
      EXPECT_EQ(status.text(), std::to_string(victim));
      EXPECT_FALSE(rounds.begin_one_way(1));
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
}  // namespace librma
