#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "loopback_access.hpp"

namespace librma {
namespace {

using RemoteAccessTransfer = LoopbackAccess;

TEST_F(RemoteAccessTransfer, IsCutAtWhatTheDeviceCarries) {
  std::uint64_t posts = 0;
  for (const std::size_t bytes : {0U, 1U, 15U, 16U, 17U, 32U, 200U}) {
    SCOPED_TRACE(bytes);
    theirs.fill(std::byte{0});
    ASSERT_TRUE(remote_access->pending().finish(put(bytes)).ok());
    posts += (bytes + kMaxMessage - 1) / kMaxMessage;
    EXPECT_EQ(endpoint->posts(), posts);
    EXPECT_EQ(std::memcmp(theirs.data(), mine.data(), bytes), 0);
    EXPECT_EQ(std::count(theirs.begin() + static_cast<std::ptrdiff_t>(bytes), theirs.end(), std::byte{0}),
              static_cast<std::ptrdiff_t>(theirs.size() - bytes));
  }
  for (std::size_t i = 0; i < theirs.size(); ++i) theirs[i] = static_cast<std::byte>(i ^ 0x55U);
  ASSERT_TRUE(remote_access->pending().finish(get(199)).ok());
  EXPECT_EQ(std::memcmp(mine.data(), theirs.data(), 199), 0);
  EXPECT_NE(mine[199], theirs[199]);
}

TEST_F(RemoteAccessTransfer, WaitsForRoomInAFullQueueAndGoesOn) {
  endpoint->set_faults({.delay = 5});  // 3 fit: the 4th of 13 pieces waits for the first
  ASSERT_TRUE(remote_access->pending().finish(put(200)).ok());
  EXPECT_EQ(endpoint->posts(), 13U);
  EXPECT_EQ(theirs, mine);
  endpoint->set_faults({.refused_posts = 100});
  ASSERT_TRUE(remote_access->pending().finish(put(40)).ok());
}

TEST_F(RemoteAccessTransfer, AWaitEndsWithTheLastPiece) {
  endpoint->set_faults({.delay = 4});
  const rma_request_t request = put(32);
  remote_access->pending().detach(request);
  EXPECT_TRUE(remote_access->pending().known(request));
  EXPECT_FALSE(remote_access->pending().test(request));
  int tests = 1;
  while (!remote_access->pending().test(request)) ++tests;
  EXPECT_EQ(tests, 4);
  EXPECT_TRUE(remote_access->pending().known(request)) << "a test closes nothing";
  EXPECT_TRUE(remote_access->pending().wait(request).ok());
  EXPECT_FALSE(remote_access->pending().known(request));
}

TEST_F(RemoteAccessTransfer, AFailingPieceIsTheOperationsAndNoOthers) {
  for (std::uint64_t k = 1; k <= 3; ++k) {
    endpoint->set_faults({.failing_post = k, .failing_status = RMA_ERR_ADDRESS});
    const Status status = remote_access->pending().finish(put(48));
    EXPECT_EQ(status.code(), RMA_ERR_ADDRESS) << k;
    EXPECT_THAT(std::string(status.text()), testing::HasSubstr("rank 1"));
    EXPECT_TRUE(remote_access->pending().finish(put(48)).ok());
    EXPECT_TRUE(remote_access->pending().fence(1).ok()) << "it was reported by its own wait";
  }
}

TEST_F(RemoteAccessTransfer, EveryFailureSaysWhichRankAndDevice) {
  for (const rma_status_t code : {RMA_ERR_PEER_LOST, RMA_ERR_ADDRESS, RMA_ERR_UNSUPPORTED, RMA_ERR_SYSTEM}) {
    endpoint->set_faults({.failing_post = 1, .failing_status = code});
    const Status status = remote_access->pending().finish(get(8, 2));
    EXPECT_EQ(status.code(), code);
    EXPECT_THAT(std::string(status.text()), testing::HasSubstr("rank 2"));
    EXPECT_THAT(std::string(status.text()), testing::HasSubstr("loopback"));
  }
}

TEST_F(RemoteAccessTransfer, ALostPeerFailsItsOperationsAndNoOthers) {
  endpoint->set_faults({.lost = 1});
  EXPECT_EQ(remote_access->pending().finish(put(100, 1)).code(), RMA_ERR_PEER_LOST);
  EXPECT_EQ(remote_access->pending().finish(get(100, 1)).code(), RMA_ERR_PEER_LOST);
  EXPECT_TRUE(remote_access->pending().finish(put(100, 2)).ok());
  EXPECT_TRUE(remote_access->pending().fence_all().ok());
}

TEST_F(RemoteAccessTransfer, ConnectsAtTheFirstOperationAndOnce) {
  EXPECT_EQ(cards_asked, (std::array<int, kRanks>{0, 0, 0, 0}));
  ASSERT_TRUE(remote_access->pending().finish(put(8, 2)).ok());
  ASSERT_TRUE(remote_access->pending().finish(get(8, 2)).ok());
  EXPECT_EQ(cards_asked, (std::array<int, kRanks>{0, 0, 1, 0}));
}

TEST_F(RemoteAccessTransfer, AFailingConnectFailsTheOperationAndIsTriedAgainByTheNext) {
  cards_missing = true;
  EXPECT_EQ(remote_access->pending().finish(put(8)).code(), RMA_ERR_LAUNCH);
  const rma_request_t request = put(8);
  remote_access->pending().detach(request);
  EXPECT_TRUE(remote_access->pending().test(request));
  EXPECT_EQ(remote_access->pending().wait(request).code(), RMA_ERR_LAUNCH);
  EXPECT_EQ(endpoint->posts(), 0U);
  cards_missing = false;
  EXPECT_TRUE(remote_access->pending().finish(put(8)).ok());
  EXPECT_EQ(cards_asked[1], 3);
}

TEST_F(RemoteAccessTransfer, ThreadsShareTheDevice) {
  constexpr std::size_t kThreads = 4;
  constexpr int kRounds = 300;
  endpoint->set_faults({.delay = 2});
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([this, t] {
      const int rank = static_cast<int>(t % 2);  // two threads to each: they contend for queue and connect
      std::array<std::byte, 50> from = {};
      std::array<std::byte, 50> there = {};
      std::array<std::byte, 50> back = {};
      for (int round = 0; round < kRounds; ++round) {
        from.fill(static_cast<std::byte>(round + 1));
        const rma_request_t out = remote_access->pending().open(rank);
        remote_access->transfer(transport::Direction::write, out, remote(there.data()),
                                {.address = from.data(), .bytes = from.size(), .key = 0});
        if (round % 3 == 0) {
          remote_access->pending().leave(out);
          ASSERT_TRUE(
              (round % 2 == 0 ? remote_access->pending().fence(rank) : remote_access->pending().fence_all())
                  .ok());
        } else {
          ASSERT_TRUE(remote_access->pending().finish(out).ok());
        }
        const rma_request_t in = remote_access->pending().open(rank);
        remote_access->transfer(transport::Direction::read, in, remote(there.data()),
                                {.address = back.data(), .bytes = back.size(), .key = 0});
        remote_access->pending().detach(in);
        while (!remote_access->pending().test(in)) std::this_thread::yield();
        ASSERT_TRUE(remote_access->pending().wait(in).ok());
        ASSERT_EQ(back, from);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cards_asked, (std::array<int, kRanks>{1, 1, 0, 0}));
  EXPECT_EQ(endpoint->posts(), kThreads * kRounds * 2 * 4);
}

}  // namespace
}  // namespace librma
