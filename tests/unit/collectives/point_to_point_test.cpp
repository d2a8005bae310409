#include "collectives/point_to_point.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <barrier>
#include <cstring>

#include "thread_team_transport.hpp"
#include "threads.hpp"

namespace rma {
namespace {

using testing_threads::Network;
using testing_threads::run_members;
using testing_threads::ThreadTeamTransport;

/// If a message never comes, a member waits for ever. The alarm then ends the program.
class PointToPointTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { alarm(240); }
  void TearDown() override { alarm(0); }

  /// One member, and its way to the others.
  struct Member {
    Member(PointToPointTest& test, int me, const WaitPolicy& policy)
        : transport(test.network_, me, policy),
          p2p(test.network_.block(me), me, test.members_, 100 + me, transport) {}
    ThreadTeamTransport transport;
    PointToPoint p2p;
  };

  const int members_ = GetParam();
  Network network_{members_, PointToPointBlock::bytes_for(members_), testing_threads::seed()};
};

constexpr WaitPolicy kYielding = {.spins = 0, .yields = 8};
constexpr WaitPolicy kSleeping = {.spins = 0, .yields = 0};

TEST_P(PointToPointTest, MessagesOfEveryChannelArriveInOrderAndWhole) {
  constexpr std::size_t kMessages = 40;
  run_members(members_, [&](int me) {
    Member member(*this, me, me % 2 == 0 ? kYielding : kSleeping);
    PointToPoint& p2p = member.p2p;
    std::vector<std::byte> data(PointToPointBlock::kPieceBytes);
    for (std::size_t i = 0; i < kMessages; ++i) {
      const std::size_t bytes = i % 3 == 0 ? data.size() : 1 + i;
      for (int k = 0; k < p2p.distances(); ++k) {
        for (const Direction direction : {Direction::up, Direction::down}) {
          const auto mark = [&](int from) {
            return static_cast<std::byte>(i * 7 + 3 * static_cast<std::size_t>(from));
          };
          std::fill_n(data.begin(), bytes, mark(me));
          ASSERT_TRUE(p2p.send(k, direction, data.data(), bytes).ok());
          std::fill_n(data.begin(), bytes, std::byte{0xee});  // it is ours again
          const std::byte* received = nullptr;
          ASSERT_TRUE(p2p.receive(k, direction, &received).ok());
          const int distance = direction == Direction::up ? members_ - (1 << k) : 1 << k;
          const std::byte expected = mark((me + distance) % members_);
          ASSERT_EQ(std::count(received, received + bytes, expected), static_cast<std::ptrdiff_t>(bytes))
              << "message " << i << " by " << k;
          ASSERT_TRUE(p2p.done(k, direction).ok());
        }
      }
    }
  });
}

TEST_P(PointToPointTest, NobodyLeavesABarrierBeforeAllHaveCome) {
  constexpr int kRounds = 60;
  std::vector<int> arrived(static_cast<std::size_t>(members_) * 16);  // plain: barriers order memory
  run_members(members_, [&](int me) {
    Member member(*this, me, kYielding);
    for (int round = 1; round <= kRounds; ++round) {
      arrived[static_cast<std::size_t>(me) * 16] = round;
      ASSERT_TRUE(member.p2p.meet().ok());
      for (int other = 0; other < members_; ++other) {
        ASSERT_EQ(arrived[static_cast<std::size_t>(other) * 16], round);
      }
      ASSERT_TRUE(member.p2p.meet().ok());
    }
  });
}

TEST_P(PointToPointTest, NothingIsWrittenIntoABlockWhoseOwnerHasParted) {
  run_members(members_, [&](int me) {
    Member member(*this, me, kYielding);
    PointToPoint& p2p = member.p2p;
    // The sender has not yet learned that the last messages were taken when their receiver parts.
    for (int k = 0; k < p2p.distances(); ++k) {
      for (int i = 0; i < 5; ++i) {
        ASSERT_TRUE(p2p.send(k, Direction::down, &i, sizeof i).ok());
        const std::byte* received = nullptr;
        ASSERT_TRUE(p2p.receive(k, Direction::down, &received).ok());
        ASSERT_TRUE(p2p.done(k, Direction::down).ok());
      }
      ASSERT_TRUE(p2p.meet().ok());
    }
    ASSERT_TRUE(p2p.part().ok());
    network_.close(me);
  });
}

TEST_P(PointToPointTest, ALostMemberEndsTheWaitOfAllAndNobodyPartsWell) {
  if (members_ == 1) GTEST_SKIP() << "nobody to lose";
  const int gone = members_ / 2;
  std::barrier all_have_met(members_);
  run_members(members_, [&](int me) {
    Member member(*this, me, me % 2 == 0 ? kYielding : kSleeping);
    EXPECT_TRUE(member.p2p.meet().ok());
    all_have_met.arrive_and_wait();
    if (me == gone) {
      network_.lose(me);
      return;
    }
    const Status status = member.p2p.meet();
    EXPECT_EQ(status.code(), RMA_ERR_PEER_LOST) << "member " << me;
    const std::byte* none = nullptr;
    EXPECT_EQ(member.p2p.send(0, Direction::up, "", 1).code(), RMA_ERR_PEER_LOST);
    EXPECT_EQ(member.p2p.receive(0, Direction::up, &none).code(), RMA_ERR_PEER_LOST);
    EXPECT_EQ(member.p2p.part().code(), RMA_ERR_PEER_LOST) << "member " << me;
  });
}

TEST_P(PointToPointTest, AMemberLostWhileOthersPartKeepsNobodyWaiting) {
  if (members_ == 1) GTEST_SKIP() << "nobody to lose";
  std::atomic<int> well = 0;
  std::barrier all_have_met(members_);
  run_members(members_, [&](int me) {
    Member member(*this, me, kYielding);
    EXPECT_TRUE(member.p2p.meet().ok());
    all_have_met.arrive_and_wait();
    if (me == members_ - 1) {
      network_.lose(me);
      return;
    }
    const Status status = member.p2p.part();
    if (status.ok())
      ++well;
    else
      EXPECT_EQ(status.code(), RMA_ERR_PEER_LOST);
  });
  EXPECT_EQ(well, 0);  // all others missed the member that never came
}

INSTANTIATE_TEST_SUITE_P(Teams, PointToPointTest, testing::Values(1, 2, 3, 4, 5, 8, 13));

}  // namespace
}  // namespace rma
