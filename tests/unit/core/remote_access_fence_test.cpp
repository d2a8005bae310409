#include <atomic>
#include <thread>

#include "loopback_access.hpp"

namespace librma {
namespace {

using RemoteAccessFence = LoopbackAccess;

TEST_F(RemoteAccessFence, WaitsForOperationsThatWereLeft) {
  endpoint->set_faults({.delay = 20});
  leave_put(40, 1);
  ASSERT_TRUE(remote_access->pending().fence(1).ok());
  // The transport has no completion left: the next one is that of a new operation.
  std::array<transport::Completion, 4> none;
  for (int polls = 0; polls < 30; ++polls) ASSERT_EQ(endpoint->poll(none), 0U);
}

TEST_F(RemoteAccessFence, ReportsTheFirstFailureOnce) {
  endpoint->set_faults({.failing_post = 2, .failing_status = RMA_ERR_ADDRESS});
  for (int i = 0; i < 3; ++i) leave_put(8);
  endpoint->set_faults({.failing_post = 1, .failing_status = RMA_ERR_SYSTEM});
  leave_put(8);
  EXPECT_EQ(remote_access->pending().fence(1).code(), RMA_ERR_ADDRESS);
  EXPECT_TRUE(remote_access->pending().fence(1).ok());
  EXPECT_TRUE(remote_access->pending().fence_all().ok());
}

TEST_F(RemoteAccessFence, AFailureIsTheRanksThatFailed) {
  endpoint->set_faults({.failing_post = 1, .failing_status = RMA_ERR_ADDRESS});
  leave_put(8, 1);
  leave_put(8, 2);
  EXPECT_TRUE(remote_access->pending().fence(2).ok());
  EXPECT_EQ(remote_access->pending().fence(1).code(), RMA_ERR_ADDRESS);
}

TEST_F(RemoteAccessFence, ReportsALostPeerAndAFailingConnect) {
  endpoint->set_faults({.lost = 1});
  leave_put(8, 1);
  EXPECT_EQ(remote_access->pending().fence_all().code(), RMA_ERR_PEER_LOST);
  cards_missing = true;
  leave_put(8, 2);
  EXPECT_EQ(remote_access->pending().fence_all().code(), RMA_ERR_LAUNCH);
  EXPECT_TRUE(remote_access->pending().fence_all().ok());
}

TEST_F(RemoteAccessFence, AllReportsTheFirstAndWaitsForTheRest) {
  endpoint->set_faults({.failing_post = 1, .failing_status = RMA_ERR_ADDRESS, .delay = 3});
  leave_put(8, 3);
  endpoint->set_faults({.delay = 9});
  leave_put(8, 0);
  EXPECT_EQ(remote_access->pending().fence_all().code(), RMA_ERR_ADDRESS);
  std::array<transport::Completion, 4> none;
  for (int polls = 0; polls < 12; ++polls) ASSERT_EQ(endpoint->poll(none), 0U);
  EXPECT_TRUE(remote_access->pending().fence_all().ok());
}

TEST_F(RemoteAccessFence, AllFindsFailuresThatArriveBetweenTwoFences) {
  // The transport has completed the put, and the fence passes, before the thread that issued it leaves it.
  endpoint->set_faults({.failing_post = 1, .failing_status = RMA_ERR_ADDRESS});
  const rma_request_t operation = put(8);
  EXPECT_TRUE(remote_access->pending().fence_all().ok());
  remote_access->pending().leave(operation);
  EXPECT_EQ(remote_access->pending().fence_all().code(), RMA_ERR_ADDRESS);
  EXPECT_TRUE(remote_access->pending().fence_all().ok());
}

TEST_F(RemoteAccessFence, LeftOperationsGiveTheirHandlesBack) {
  std::vector<rma_request_t> left;
  for (int i = 0; i < 10; ++i) {
    left.push_back(put(20));
    remote_access->pending().leave(left.back());
  }
  ASSERT_TRUE(remote_access->pending().fence(1).ok());
  for (const rma_request_t request : left) EXPECT_FALSE(remote_access->pending().known(request));
}

/// A thread's fence_all covers the operations that this thread has left, even if other threads fence
/// meanwhile.
TEST_F(RemoteAccessFence, AllIsEachThreadsOwn) {
  constexpr int kRounds = 3000;
  endpoint->set_faults({.delay = 1});
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([this] {
      std::array<std::byte, 4> from = {};
      std::array<std::byte, 4> there = {};
      for (int round = 0; round < kRounds; ++round) {
        const rma_request_t operation = remote_access->pending().open(1);
        remote_access->transfer(transport::Direction::write, operation, remote(there.data()),
                                {.address = from.data(), .bytes = from.size(), .key = 0});
        remote_access->pending().leave(operation);
        ASSERT_TRUE(remote_access->pending().fence_all().ok());
        ASSERT_FALSE(remote_access->pending().known(operation))
            << "round " << round << ": fenced before it was complete";
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(RemoteAccessFence, AllCostsNothingWhereNothingWasDone) {
  endpoint->set_faults({.refused_posts = 1});
  ASSERT_TRUE(remote_access->pending().fence_all().ok());
  const transport::Local piece = {.address = mine.data(), .bytes = 1, .key = 0};
  ASSERT_TRUE(endpoint->connect(0, endpoint->card()).ok());
  // A poll would have ended the refusals.
  EXPECT_EQ(endpoint->post_write(0, remote(theirs.data()), {&piece, 1}, 0, {}), RMA_ERR_STATE);
}

}  // namespace
}  // namespace librma
