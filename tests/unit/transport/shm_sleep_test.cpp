// Sleeping and waking, with several threads and several processes.

#include "../forked.hpp"
#include "shm_endpoints.hpp"

namespace librma::transport {
namespace {

using Numbers = std::vector<std::uint32_t>;

TEST_F(ShmEndpoints, ASleeperIsRungOnceByEachThatHasSomethingForIt) {
  open_connected();
  ShmEnd& sleeper = at(5);
  while (sleeper.poll() != 0) {
  }
  ASSERT_EQ(at(3).send(5, 1), RMA_SUCCESS);
  EXPECT_FALSE(sleeper.messages().arm(transport::MessageEndpoint::Events::all)) << "there is a message";
  sleeper.poll();
  static_cast<void>(sleeper.messages().arm(
      transport::MessageEndpoint::Events::all));  // takes off the signals of connecting
  ASSERT_TRUE(sleeper.messages().arm(transport::MessageEndpoint::Events::all));
  EXPECT_FALSE(sleeper.has_event());
  ASSERT_EQ(at(3).send(5, 2), RMA_SUCCESS);
  EXPECT_TRUE(sleeper.has_event());
  EXPECT_FALSE(sleeper.messages().arm(transport::MessageEndpoint::Events::all));
  EXPECT_FALSE(sleeper.has_event()) << "arm() takes the signals off";
  sleeper.poll();
  ASSERT_TRUE(sleeper.messages().arm(transport::MessageEndpoint::Events::all));
  ASSERT_EQ(at(9).send(5, 3), RMA_SUCCESS);
  ASSERT_EQ(at(9).send(5, 4), RMA_SUCCESS);
  EXPECT_TRUE(sleeper.has_event());
  sleeper.poll();
  EXPECT_EQ(sleeper.numbers(), (Numbers{1, 2, 3, 4}));
}

/// A sender wakes the receiver once for each sleep. So a thread that polls while another one sleeps must not
/// remove the wake-up: it may stop polling, and no thread would take in the next message.
TEST_F(ShmEndpoints, AThreadThatPollsLeavesTheRingToTheOneThatSleeps) {
  open_connected();
  ShmEnd& sleeper = at(5);
  while (sleeper.poll() != 0) {
  }
  static_cast<void>(sleeper.messages().arm(
      transport::MessageEndpoint::Events::all));  // takes off the signals of connecting
  ASSERT_TRUE(sleeper.messages().arm(transport::MessageEndpoint::Events::all));
  ASSERT_EQ(at(3).send(5, 1), RMA_SUCCESS);
  ASSERT_TRUE(sleeper.has_event());
  for (int i = 0; i < 3000; ++i) sleeper.poll();  // often enough to look for the ends of peers as well
  EXPECT_TRUE(sleeper.has_event());
  EXPECT_EQ(sleeper.numbers(), (Numbers{1}));
}

TEST_F(ShmEndpoints, EndsOfWhatWasPostedKeepFromSleeping) {
  open_connected();
  while (at(3).poll() != 0) {
  }
  static_cast<void>(
      at(3).messages().arm(transport::MessageEndpoint::Events::all));  // takes off the signals of connecting
  ASSERT_TRUE(at(3).messages().arm(transport::MessageEndpoint::Events::all));
  std::byte byte{};
  const Local piece = {&byte, 1, 0};
  EXPECT_FALSE(at(3).has_event());
  ASSERT_EQ(at(3).messages().post_message(5, {&piece, 1}, 4000, {}), RMA_SUCCESS);
  EXPECT_TRUE(at(3).has_event()) << "another thread may sleep, and is to take it in";
  EXPECT_FALSE(at(3).messages().arm(transport::MessageEndpoint::Events::all));
  at(3).poll();
  EXPECT_TRUE(at(3).messages().arm(transport::MessageEndpoint::Events::all));
}

TEST_F(ShmEndpoints, ASleepingThreadMissesNothing) {
  open_connected();
  constexpr std::uint32_t kCount = 20000;
  std::thread sender([this] {
    for (std::uint32_t i = 0; i < kCount; ++i) {
      while (at(3).send(5, i) == RMA_ERR_STATE) sched_yield();
    }
  });
  ShmEnd& sleeper = at(5);
  std::uint32_t next = 0;
  bool in_order = true;
  while (next < kCount) {
    if (sleeper.poll() == 0 && sleeper.messages().arm(transport::MessageEndpoint::Events::all) &&
        sleeper.poll() == 0) {
      pollfd fd = {.fd = sleeper.messages().event_fd(), .events = POLLIN, .revents = 0};
      ASSERT_EQ(::poll(&fd, 1, 60'000), 1) << "asleep, and message " << next << " is there";
    }
    for (const std::uint32_t number : sleeper.numbers()) in_order = in_order && number == next++;
  }
  sender.join();
  EXPECT_TRUE(in_order);
}

TEST_F(ShmEndpoints, ThreadsSendAndPollAtOnce) {
  open_connected(8, 4);
  constexpr std::uint32_t kCount = 5000;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    for (const int from : {3, 9}) {
      threads.emplace_back([this, from] {
        for (std::uint32_t k = 0; k < kCount; ++k) {
          while (at(from).send(5, k) == RMA_ERR_STATE) sched_yield();
        }
      });
    }
  }
  std::atomic<std::uint32_t> found = 0;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([this, &found] {
      std::array<Completion, 4> completions;
      while (found < 4 * kCount) {
        const std::size_t count = at(5).messages().poll(completions);
        for (std::size_t k = 0; k < count; ++k) {
          auto& buffer = at(5).buffers[completions[k].cookie - 1];
          static_cast<void>(
              at(5).messages().post_buffer({buffer.data(), ShmEnd::kMessage, 0}, completions[k].cookie));
          ++found;
        }
        if (count == 0) {
          static_cast<void>(at(5).messages().arm(transport::MessageEndpoint::Events::all));
          sched_yield();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(found, 4 * kCount);
}

struct Host {
  std::array<ShmCard, 4> cards;
  std::array<HostCard, 4> hosts;
  std::atomic<int> opened;
  std::atomic<int> connected;
};

TEST(ShmProcesses, AllConnectToAllAtOnceAndNobodyPolls) {
  const SharedWithForked<Host> host;
  const std::vector<int> ranks = {0, 1, 2, 3};
  std::vector<Forked> processes;
  for (const int rank : ranks) {
    processes.emplace_back([&, rank] {
      ShmEnd end(rank, ranks);
      host->cards[static_cast<std::size_t>(rank)] = end.card();
      host->hosts[static_cast<std::size_t>(rank)] = end.host.card();
      ++host->opened;
      if (!comes_true([&] { return host->opened == 4; })) return false;
      std::vector<HostPeers::Partner> partners;
      for (const int peer : ranks) {
        if (peer != rank)
          partners.push_back({.rank = peer, .card = host->hosts[static_cast<std::size_t>(peer)]});
      }
      if (!end.meet(partners)) return false;
      for (int step = 1; step <= 4; ++step) {
        const int peer = (rank + step) % 4;
        const auto& card = host->cards[static_cast<std::size_t>(peer)];
        const Status status = end.transport->connect(peer, bytes_of(card));
        EXPECT_TRUE(status.ok()) << status.text();
        EXPECT_EQ(end.send(peer, static_cast<std::uint32_t>(rank)), RMA_SUCCESS);
      }
      if (!comes_true([&] { return end.poll(), end.arrived.size() == 4; })) return false;
      Numbers numbers = end.numbers();
      std::ranges::sort(numbers);
      EXPECT_EQ(numbers, (Numbers{0, 1, 2, 3}));
      ++host->connected;
      return comes_true([&] { return host->connected == 4; });
    });
  }
  for (Forked& process : processes) EXPECT_TRUE(process.ended_well());
}

}  // namespace
}  // namespace librma::transport
