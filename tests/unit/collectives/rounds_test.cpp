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

// Random members post data of random sizes, for all members, for one, or for the next one. Sometimes all
// meet.
TEST_P(RoundsTest, OneWayDataArriveHoweverFarTheSenderRunsAhead) {
  constexpr int kRounds = 600;
  const auto seed = static_cast<unsigned>(testing_threads::seed());
  const auto value_of = [](int round, int from) { return static_cast<std::byte>(round * 31 + from * 7 + 1); };
  run_members(members_, [&](int member) {
    Rounds rounds(*block_, member, policy_, roster_);
    std::mt19937 random(seed);  // all members draw alike
    enum class Pattern : std::uint8_t { from_root, to_root, chain };
    auto pattern = Pattern::from_root;
    int root = 0;
    bool long_ones = false;
    for (int round = 0; round < kRounds; ++round) {
      // Some patterns last for more rounds than there are lines, so that members use them again.
      if (random() % 100 == 0) {
        pattern = static_cast<Pattern>(random() % 3);
        root = static_cast<int>(random() % static_cast<unsigned>(members_));
        long_ones = random() % 2 == 0;
      }
      const std::size_t bytes =
          1 + random() % (long_ones && random() % 4 == 0 ? TeamBlock::kSlotBytes : TeamBlock::kInlineBytes);
      if (random() % 100 == 0) {
        ASSERT_TRUE(rounds.meet().ok());
        continue;
      }
      ASSERT_TRUE(rounds.begin_one_way(bytes));
      const auto post = [&](int reader) {
        std::byte* box = nullptr;
        ASSERT_TRUE(rounds.open_post(bytes, reader, box).ok());
        std::memset(box, static_cast<int>(value_of(round, member)), bytes);
        rounds.post();
      };
      const auto expect_from = [&](int from) {
        ASSERT_TRUE(rounds.await(from).ok());
        const std::byte* const come = rounds.posted(from, bytes);
        ASSERT_EQ(come[0], value_of(round, from)) << "seed " << seed << " round " << round;
        ASSERT_EQ(come[bytes - 1], value_of(round, from)) << "seed " << seed << " round " << round;
      };
      switch (pattern) {
        case Pattern::from_root:
          if (member == root) {
            post(Rounds::kAnyReader);
          } else {
            expect_from(root);
          }
          break;
        case Pattern::to_root:
          if (member != root) post(root);
          for (int from = 0; from < members_ && member == root; ++from) {
            if (from != root) expect_from(from);
          }
          break;
        case Pattern::chain:
          if (member > 0) expect_from(member - 1);
          if (member < members_ - 1) post(member + 1);
          break;
      }
      if (HasFatalFailure()) return;
    }
  });
}

TEST_P(RoundsTest, AMemberThatPostsWaitsForNobodyUntilItsLinesAreFull) {
  std::atomic<int> ahead = 0;  // the others begin when member 0 has posted everything
  run_members(members_, [&](int member) {
    Rounds rounds(*block_, member, policy_, roster_);
    while (member != 0 && ahead.load(std::memory_order_acquire) == 0) std::this_thread::yield();
    for (std::uint64_t i = 0; i < TeamBlock::kOneWayLines; ++i) {
      ASSERT_TRUE(rounds.begin_one_way(sizeof i));
      if (member == 0) {
        std::byte* box = nullptr;
        ASSERT_TRUE(rounds.open_post(sizeof i, Rounds::kAnyReader, box).ok());
        std::memcpy(box, &i, sizeof i);
        rounds.post();
        continue;
      }
      ASSERT_TRUE(rounds.await(0).ok());
      std::uint64_t come = 0;
      std::memcpy(&come, rounds.posted(0, sizeof come), sizeof come);
      ASSERT_EQ(come, i);
    }
    ahead.store(1, std::memory_order_release);
    ASSERT_TRUE(rounds.begin_one_way(TeamBlock::kSlotBytes));
    ASSERT_FALSE(rounds.begin_one_way(TeamBlock::kSlotBytes + 1));
  });
}

// The last member reads nothing until the first one has posted twice as much as it has lines. Only the second
// one reads that.
TEST_P(RoundsTest, AMemberWithOneReaderWaitsForThatReaderOnly) {
  if (members_ < 3) GTEST_SKIP() << "nobody else to wait for";
  constexpr std::uint64_t kPosts = 2 * TeamBlock::kOneWayLines;
  std::atomic<int> ahead = 0;
  run_members(members_, [&](int member) {
    Rounds rounds(*block_, member, policy_, roster_);
    while (member == members_ - 1 && ahead.load(std::memory_order_acquire) == 0) std::this_thread::yield();
    for (std::uint64_t i = 0; i < kPosts; ++i) {
      ASSERT_TRUE(rounds.begin_one_way(sizeof i));
      if (member == 0) {
        std::byte* box = nullptr;
        ASSERT_TRUE(rounds.open_post(sizeof i, 1, box).ok());
        std::memcpy(box, &i, sizeof i);
        rounds.post();
      }
      if (member == 1) {
        ASSERT_TRUE(rounds.await(0).ok());
        std::uint64_t come = 0;
        std::memcpy(&come, rounds.posted(0, sizeof come), sizeof come);
        ASSERT_EQ(come, i);
      }
    }
    if (member == 0) ahead.store(1, std::memory_order_release);
    ASSERT_TRUE(rounds.meet().ok());
  });
}

// All others end without reading, so the one that posts finds no reader when its lines are full.
TEST_P(RoundsTest, MembersThatEndBeforeTheyReadAreMissedByTheOneThatPosts) {
  if (members_ == 1) GTEST_SKIP() << "nobody to lose";
  for (const bool one_reader : {false, true}) {
    const OwnBlock block(TeamShape{.members = static_cast<std::uint32_t>(members_), .flat = (*block_).flat});
    ThreadRoster roster(members_);
    run_members(members_, [&](int member) {
      Rounds rounds(*block, member, policy_, roster);
      ASSERT_TRUE(rounds.meet().ok());
      if (member != 0) {
        roster.end(member);
        return;
      }
      for (std::uint64_t i = 0; i <= TeamBlock::kOneWayLines; ++i) {
        ASSERT_TRUE(rounds.begin_one_way(sizeof i));
        std::byte* box = nullptr;
        const Status status = rounds.open_post(sizeof i, one_reader ? 1 : Rounds::kAnyReader, box);
        if (i < TeamBlock::kOneWayLines) {
          ASSERT_TRUE(status.ok());
          rounds.post();
          continue;
        }
        EXPECT_EQ(status.code(), RMA_ERR_PEER_LOST);
      }
      EXPECT_FALSE(rounds.begin_one_way(1));
      EXPECT_EQ(rounds.meet().code(), RMA_ERR_PEER_LOST);
    });
  }
}

TEST_P(RoundsTest, AMemberThatEndsBeforeItPostsIsMissedAndOneThatEndsAfterwardsIsNot) {
  if (members_ == 1) GTEST_SKIP() << "nobody to lose";
  run_members(members_, [&](int member) {
    Rounds rounds(*block_, member, policy_, roster_);
    ASSERT_TRUE(rounds.meet().ok());
    const int victim = members_ - 1;
    ASSERT_TRUE(rounds.begin_one_way(sizeof member));
    if (member == victim) {
      std::byte* box = nullptr;
      ASSERT_TRUE(rounds.open_post(sizeof member, Rounds::kAnyReader, box).ok());
      std::memcpy(box, &member, sizeof member);
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
