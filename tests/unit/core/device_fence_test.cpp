#include <atomic>
#include <thread>

#include "loopback_device.hpp"

namespace rma {
namespace {

using DeviceFence = LoopbackDevice;

TEST_F(DeviceFence, WaitsForOperationsThatWereLeft) {
  endpoint->set_faults({.delay = 20});
  leave_put(40, 1);
  ASSERT_TRUE(device->flights().fence(1).ok());
  // Nothing is in the transport any more: the next completion is that of a new operation.
  std::array<transport::Completion, 4> none;
  for (int polls = 0; polls < 30; ++polls) ASSERT_EQ(endpoint->poll(none), 0U);
}

TEST_F(DeviceFence, ReportsTheFirstFailureOnce) {
  endpoint->set_faults({.failing_post = 2, .failing_status = RMA_ERR_ADDRESS});
  for (int i = 0; i < 3; ++i) leave_put(8);
  endpoint->set_faults({.failing_post = 1, .failing_status = RMA_ERR_SYSTEM});
  leave_put(8);
  EXPECT_EQ(device->flights().fence(1).code(), RMA_ERR_ADDRESS);
  EXPECT_TRUE(device->flights().fence(1).ok());
  EXPECT_TRUE(device->flights().fence_all().ok());
}

TEST_F(DeviceFence, AFailureIsTheRanksThatFailed) {
  endpoint->set_faults({.failing_post = 1, .failing_status = RMA_ERR_ADDRESS});
  leave_put(8, 1);
  leave_put(8, 2);
  EXPECT_TRUE(device->flights().fence(2).ok());
  EXPECT_EQ(device->flights().fence(1).code(), RMA_ERR_ADDRESS);
}

TEST_F(DeviceFence, ReportsALostPeerAndAFailingConnect) {
  endpoint->set_faults({.lost = 1});
  leave_put(8, 1);
  EXPECT_EQ(device->flights().fence_all().code(), RMA_ERR_PEER_LOST);
  cards_missing = true;
  leave_put(8, 2);
  EXPECT_EQ(device->flights().fence_all().code(), RMA_ERR_LAUNCH);
  EXPECT_TRUE(device->flights().fence_all().ok());
}

TEST_F(DeviceFence, AllReportsTheFirstAndWaitsForTheRest) {
  endpoint->set_faults({.failing_post = 1, .failing_status = RMA_ERR_ADDRESS, .delay = 3});
  leave_put(8, 3);
  endpoint->set_faults({.delay = 9});
  leave_put(8, 0);
  EXPECT_EQ(device->flights().fence_all().code(), RMA_ERR_ADDRESS);
  std::array<transport::Completion, 4> none;
  for (int polls = 0; polls < 12; ++polls) ASSERT_EQ(endpoint->poll(none), 0U);
  EXPECT_TRUE(device->flights().fence_all().ok());
}

TEST_F(DeviceFence, AllFindsFailuresThatArriveBetweenTwoFences) {
  // The put is complete for the transport, and the fence passes, before its issuer leaves it.
  endpoint->set_faults({.failing_post = 1, .failing_status = RMA_ERR_ADDRESS});
  const rma_request_t operation = put(8);
  EXPECT_TRUE(device->flights().fence_all().ok());
  device->flights().leave(operation);
  EXPECT_EQ(device->flights().fence_all().code(), RMA_ERR_ADDRESS);
  EXPECT_TRUE(device->flights().fence_all().ok());
}

TEST_F(DeviceFence, LeftOperationsGiveTheirHandlesBack) {
  std::vector<rma_request_t> left;
  for (int i = 0; i < 10; ++i) {
    left.push_back(put(20));
    device->flights().leave(left.back());
  }
  ASSERT_TRUE(device->flights().fence(1).ok());
  for (const rma_request_t request : left) EXPECT_FALSE(device->flights().known(request));
}

/// A thread's fence_all covers what that thread has left, whatever other threads fence meanwhile.
TEST_F(DeviceFence, AllIsEachThreadsOwn) {
  constexpr int kRounds = 3000;
  endpoint->set_faults({.delay = 1});
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([this] {
      std::array<std::byte, 4> from = {};
      std::array<std::byte, 4> there = {};
      for (int round = 0; round < kRounds; ++round) {
        const rma_request_t operation = device->flights().open(1);
        device->transfer(transport::Direction::write, operation, remote(there.data()),
                         {.address = from.data(), .bytes = from.size(), .key = 0});
        device->flights().leave(operation);
        ASSERT_TRUE(device->flights().fence_all().ok());
        ASSERT_FALSE(device->flights().known(operation))
            << "round " << round << ": fenced before it was complete";
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(DeviceFence, AllCostsNothingWhereNothingWasDone) {
  endpoint->set_faults({.refused_posts = 1});
  ASSERT_TRUE(device->flights().fence_all().ok());
  const transport::Local piece = {.address = mine.data(), .bytes = 1, .key = 0};
  ASSERT_TRUE(endpoint->connect(0, endpoint->card()).ok());
  // A poll would have ended the refusal.
  EXPECT_EQ(endpoint->post_write(0, remote(theirs.data()), {&piece, 1}, 0, {}), RMA_ERR_STATE);
}

}  // namespace
}  // namespace rma
