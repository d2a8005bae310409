// Channels over shared memory: in separate processes, and for ThreadSanitizer as threads of one process.

#include <optional>
#include <thread>

#include "../../sanitized.hpp"
#include "../seed.hpp"
#include "shm_rank.hpp"

namespace librma {
namespace {

constexpr std::uint32_t kMany = kSanitized ? 10'000 : 100'000;

constexpr PollingSet::Policy kRings = {.most = 2, .round_messages = 64, .promote_messages = 4};

/// Runs all ranks, each in a process of its own, which has counters of its own.
void exchange_in_processes(const SharedWithForked<ShmHost>& host, const ShmShape& shape) {
  const std::uint64_t seed = test_seed();
  std::vector<Forked> processes;
  for (int rank = 0; rank < shape.ranks; ++rank) {
    processes.emplace_back([&, rank] {
      const std::uint64_t rings = counted(Counter::ring);
      const std::uint64_t by_ring = counted(Counter::message_ring);
      host->rings -= rings;
      host->by_ring -= by_ring;
      ShmRank shm_rank(*host, shape, rank, seed);
      return shm_rank.connect() && shm_rank.exchange();
    });
  }
  for (Forked& process : processes) EXPECT_TRUE(process.ended_well());
}

/// Repeats this until so many rings were offered, and so many messages went by them. The scheduler decides
/// how many that are in one exchange.
void exchange_by_rings(const ShmShape& shape, std::uint64_t rings, std::uint64_t by_ring) {
  constexpr int kMostExchanges = 500;
  const SharedWithForked<ShmHost> host;
  for (int i = 0; i < kMostExchanges && (host->rings < rings || host->by_ring < by_ring); ++i) {
    host->opened = 0;
    host->finished = 0;
    exchange_in_processes(host, shape);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GE(host->rings, rings);
  EXPECT_GE(host->by_ring, by_ring);
}

TEST(ShmChannel, PollersWithoutRings) {
  const SharedWithForked<ShmHost> host;
  exchange_in_processes(host, {.messages = kMany});
  EXPECT_EQ(host->rings, 0U);
  EXPECT_EQ(host->by_ring, 0U);
}

TEST(ShmChannel, PollersWithRings) {
  exchange_by_rings({.messages = kMany, .polling = kRings}, 2, kMany / 10);
}

TEST(ShmChannel, SleepersWithoutRings) {
  const SharedWithForked<ShmHost> host;
  exchange_in_processes(host, {.messages = kMany / 5, .own = 4, .waiting = Waiting::sleep});
}

TEST(ShmChannel, SleepersGiveRingsBackAndGetThemAgain) {
  // These are more rings than the two that each can offer once, so some were taken back in between.
  exchange_by_rings({.messages = kMany / 5, .own = 4, .waiting = Waiting::sleep, .polling = kRings}, 10, 100);
}

TEST(ShmChannel, ThreeWhoHaveRoomForOneRing) {
  PollingSet::Policy polling = kRings;
  polling.most = 1;
  exchange_by_rings({.ranks = 3, .messages = kMany / 3, .polling = polling}, 3, 1000);
}

TEST(ShmChannel, ThreadsOfOneProcess) {
  for (const Waiting waiting : {Waiting::poll, Waiting::sleep}) {
    const auto host = std::make_unique<ShmHost>();
    const ShmShape shape = {.ranks = 3, .messages = 5000, .waiting = waiting, .polling = kRings};
    const std::uint64_t seed = test_seed();
    std::vector<std::unique_ptr<ShmRank>> ranks;
    for (int rank = 0; rank < 3; ++rank) ranks.push_back(std::make_unique<ShmRank>(*host, shape, rank, seed));
    std::atomic<int> good = 0;
    std::vector<std::thread> threads;
    for (auto& rank : ranks) {
      threads.emplace_back([&good, &rank] { good += rank->connect() && rank->exchange() ? 1 : 0; });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(good, 3);
  }
}

/// This process is rank 0; rank 1 is a process that is killed, or ends.
class ShmChannelLoss : public testing::Test {
 protected:
  void open(const PollingSet::Policy& polling, const std::function<bool(ShmRank&)>& body) {
    const ShmShape shape = {.own = 4, .polling = polling};
    other.emplace([this, shape, body] {
      ShmRank shm_rank(*host, shape, 1, 1);
      return shm_rank.connect() && body(shm_rank);
    });
    rank = std::make_unique<ShmRank>(*host, shape, 0, 1);
    ASSERT_TRUE(rank->connect());
  }
  static bool serve_for_ever(ShmRank& shm_rank) {
    while (true) shm_rank.channel().progress(Channel::Turn::wait);
  }

  const SharedWithForked<ShmHost> host;
  std::optional<Forked> other;
  std::unique_ptr<ShmRank> rank;
};

TEST_F(ShmChannelLoss, WhoPollsForAPeerThatIsKilledIsTold) {
  for (const PollingSet::Policy& polling : {PollingSet::Policy{.most = 0}, kRings}) {
    host->opened = 0;
    open(polling, serve_for_ever);
    const std::array<std::byte, 8> body = {};
    for (int i = 0; i < 1000; ++i) {
      ASSERT_TRUE(comes_true([&] {
        rank->channel().progress(Channel::Turn::wait);
        return rank->channel().try_send(1, 0, ShmRank::kOther, body, {}) == RMA_SUCCESS;
      }));
    }
    other->end();
    // The sender goes on until the credits are used up or the loss is known, and never for ever.
    rma_status_t status = RMA_SUCCESS;
    ASSERT_TRUE(comes_true([&] {
      status = rank->channel().try_send(1, 0, ShmRank::kOther, body, {});
      rank->channel().progress(Channel::Turn::wait);
      return status == RMA_ERR_PEER_LOST;
    }));
    EXPECT_EQ(rank->lost_peers(), std::vector<int>{1});
    other.reset();
  }
}

TEST_F(ShmChannelLoss, WhoSleepsForAPeerThatIsKilledIsWoken) {
  open({.most = 0}, serve_for_ever);
  while (rank->channel().progress(Channel::Turn::wait)) {
  }
  other->end();
  while (rank->lost_peers().empty()) ASSERT_TRUE(rank->sleep());
  EXPECT_EQ(rank->lost_peers(), std::vector<int>{1});
  EXPECT_EQ(rank->channel().try_send(1, 0, ShmRank::kOther, {}, {}), RMA_ERR_PEER_LOST);
}

TEST_F(ShmChannelLoss, TheLastMessagesOfAPeerThatEndsArriveThoughTheyCameByARing) {
  constexpr std::uint64_t kCount = 1000;
  open(kRings, [this](ShmRank& shm_rank) {
    const std::array<std::byte, 8> body = {};
    const std::uint64_t before = counted(Counter::message_ring);
    for (std::uint64_t i = 0; i < kCount; ++i) {
      if (!comes_true([&] {
            shm_rank.channel().progress(Channel::Turn::wait);
            return shm_rank.channel().try_send(0, 0, ShmRank::kOther, body, {}) == RMA_SUCCESS;
          })) {
        return false;
      }
    }
    host->by_ring = counted(Counter::message_ring) - before;
    _exit(0);
  });
  // All messages but the last ones are taken in at once. The last ones lie there unseen when their sender has
  // ended.
  ASSERT_TRUE(comes_true([&] {
    if (rank->received() < kCount - 3) rank->channel().progress(Channel::Turn::wait);
    return rank->received() >= kCount - 3;
  }));
  ASSERT_TRUE(other->ended_well());
  while (rank->lost_peers().empty()) ASSERT_TRUE(rank->sleep());
  EXPECT_GT(host->by_ring, kCount / 2);
  EXPECT_EQ(rank->received(), kCount);
}

}  // namespace
}  // namespace librma
