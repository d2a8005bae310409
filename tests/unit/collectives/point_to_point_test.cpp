#include "collectives/messages/point_to_point.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <barrier>
#include <vector>

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
    Member(PointToPointTest& test, int me)
        : transport(test.network_, me), p2p(me, test.members_, 100 + me, transport) {}
    ThreadTeamTransport transport;
    PointToPoint p2p;
  };

  const int members_ = GetParam();
  Network network_{members_};
};

TEST_P(PointToPointTest, MessagesOfEveryPartnerArriveInOrderAndWhole) {
  constexpr std::size_t kMessages = 40;
  run_members(members_, [&](int me) {
    Member member(*this, me);
    PointToPoint& p2p = member.p2p;
    for (std::size_t i = 0; i < kMessages; ++i) {
      const std::size_t bytes = i % 3 == 0 ? 5000 : 1 + i;
      for (int k = 0; k < p2p.distances(); ++k) {
        for (const bool up : {true, false}) {
          const auto mark = [&](int from) {
            return static_cast<std::byte>(i * 7 + 3 * static_cast<std::size_t>(from));
          };
          std::vector<std::byte> mine(bytes, mark(me));
          std::vector<std::byte> theirs(bytes);
          const int to = up ? p2p.above(k) : p2p.below(k);
          const int from = up ? p2p.below(k) : p2p.above(k);
          const PointToPoint::Bytes out(mine);
          const PointToPoint::Bytes in(theirs);
          ASSERT_TRUE(p2p.exchange({&to, 1}, {&out, 1}, from, {&in, 1}).ok());
          ASSERT_EQ(std::count(theirs.begin(), theirs.end(), mark(from)), static_cast<std::ptrdiff_t>(bytes))
              << "message " << i << " by " << k;
        }
      }
    }
    EXPECT_TRUE(p2p.part().ok());
    EXPECT_EQ(network_.left(me), 0);
  });
}

TEST_P(PointToPointTest, NobodyLeavesABarrierBeforeAllHaveCome) {
  constexpr int kRounds = 60;
  std::vector<int> arrived(static_cast<std::size_t>(members_) * 16);  // plain: barriers order memory
  run_members(members_, [&](int me) {
    Member member(*this, me);
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

TEST_P(PointToPointTest, ALostMemberEndsTheWaitOfAllAndNobodyPartsWell) {
  if (members_ == 1) GTEST_SKIP() << "nobody to lose";
  const int gone = members_ / 2;
  std::barrier all_have_met(members_);
  run_members(members_, [&](int me) {
    Member member(*this, me);
    EXPECT_TRUE(member.p2p.meet().ok());
    all_have_met.arrive_and_wait();
    if (me == gone) {
      network_.lose(me);
      return;
    }
    EXPECT_EQ(member.p2p.meet().code(), RMA_ERR_PEER_LOST) << "member " << me;
    std::array<std::byte, 1> byte = {};
    EXPECT_EQ(member.p2p.send(member.p2p.above(0), byte).code(), RMA_ERR_PEER_LOST);
    EXPECT_EQ(member.p2p.receive(member.p2p.below(0), byte).code(), RMA_ERR_PEER_LOST);
    EXPECT_EQ(member.p2p.part().code(), RMA_ERR_PEER_LOST) << "member " << me;
  });
}

TEST_P(PointToPointTest, ALongMessageToAMemberThatHasGivenUpIsNotWaitedFor) {
  // Member 0 sends to member 1, which never receives: it waits for member 2, which ends.
  if (members_ < 3) GTEST_SKIP() << "nobody to lose";
  std::vector<std::byte> data(10 * Network::kEager);
  run_members(members_, [&](int me) {
    Member member(*this, me);
    Status status;
    if (me == 2) network_.lose(me);
    if (me == 0) status = member.p2p.send(1, data);
    if (me == 1) {
      std::array<std::byte, 1> byte = {};
      status = member.p2p.receive(2, byte);
    }
    EXPECT_EQ(status.code(), me < 2 ? RMA_ERR_PEER_LOST : RMA_SUCCESS) << "member " << me;
  });
}

TEST_P(PointToPointTest, AMemberLostWhileOthersPartKeepsNobodyWaiting) {
  if (members_ == 1) GTEST_SKIP() << "nobody to lose";
  std::atomic<int> well = 0;
  std::barrier all_have_met(members_);
  run_members(members_, [&](int me) {
    Member member(*this, me);
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
    EXPECT_EQ(member.transport.revoker(), TeamTransport::kNobody)
        << "a member that has parted well may be told";
  });
  EXPECT_EQ(well, 0);  // all others missed the member that never came
}

INSTANTIATE_TEST_SUITE_P(Teams, PointToPointTest, testing::Values(1, 2, 3, 4, 5, 8, 13));

}  // namespace
}  // namespace rma
