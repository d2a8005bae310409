#include "channel/channel.hpp"

#include <map>
#include <random>
#include <thread>

#include "../../sanitized.hpp"
#include "../counted.hpp"
#include "../seed.hpp"
#include "channel_world.hpp"

namespace librma {
namespace {

TEST_F(ChannelWorld, MessagesOfAnySizeArriveWhole) {
  open(2, 4, 8);
  std::uint32_t number = 0;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{47}, std::size_t{48},
                                 std::size_t{49}, at(0).channel->max_body()}) {
    send(0, 1, ++number, size);
    ASSERT_TRUE(settle());
    ASSERT_EQ(got(1, 0).size(), number);
    EXPECT_EQ(got(1, 0).back().second, body(number, size));
    EXPECT_EQ(got(1, 0).back().first, 1);
  }
  EXPECT_TRUE(nobody_is_lost());
}

TEST_F(ChannelWorld, OrderIsKeptWhateverWaits) {
  std::mt19937_64 random(test_seed());
  open(4, 3, 5);
  std::map<std::pair<int, int>, std::vector<Bytes>> sent;
  for (std::uint32_t i = 0; i < 20000; ++i) {
    const int from = static_cast<int>(random() % 4);
    const int to = static_cast<int>(random() % 4);
    if (from != to) {
      const std::size_t size = random() % 3 == 0 ? random() % 400 : random() % 20;
      sent[{from, to}].push_back(body(i, size));
      if (random() % 16 == 0) at(from).endpoints[0]->messages().set_faults({.refused_messages = 3});
      send(from, to, i, size);
    }
    if (random() % 4 == 0) progress(static_cast<int>(random() % 4));
  }
  ASSERT_TRUE(settle());
  EXPECT_TRUE(nobody_is_lost());
  for (const auto& [direction, messages] : sent) {
    const auto& there = got(direction.second, direction.first);
    ASSERT_EQ(there.size(), messages.size());
    for (std::size_t i = 0; i < messages.size(); ++i)
      ASSERT_EQ(there[i].second, messages[i]) << "message " << i;
  }
}

TEST_F(ChannelWorld, TwoThatAreFullOfEachOthersMessagesGoOn) {
  for (const std::uint32_t own : {3U, 4U, 5U, 16U}) {
    SCOPED_TRACE(own);
    processes.clear();
    open(2, own, 1);
    for (std::uint32_t i = 0; i < 1000; ++i) {
      send(0, 1, i, 8);
      send(1, 0, i, 8);
    }
    ASSERT_TRUE(settle());
    EXPECT_EQ(got(0, 1).size(), 1000U);
    EXPECT_EQ(got(1, 0).size(), 1000U);
    EXPECT_TRUE(nobody_is_lost());
  }
}

TEST_F(ChannelWorld, CreditsComeBackToWhoIsNeverAnswered) {
  for (const std::uint32_t own : {3U, 4U, 5U, 6U, 16U}) {
    SCOPED_TRACE(own);
    processes.clear();
    open(2, own, 1);
    EXPECT_EQ(burst(0, 1), own - 1) << "all credits but the reserved one";
    ASSERT_TRUE(settle()) << "credits are sent for credits, for ever";
    ASSERT_NO_FATAL_FAILURE(stream(0, 1, 1000));
    EXPECT_EQ(got(1, 0).size(), own - 1 + 1000);
    EXPECT_TRUE(nobody_is_lost());
  }
}

TEST_F(ChannelWorld, CreditsComeBackWithManyRails) {
  open(2, 4, 1, 3);
  EXPECT_EQ(burst(0, 1), 3U);
  ASSERT_TRUE(settle());
  ASSERT_NO_FATAL_FAILURE(stream(0, 1, 1000));
  EXPECT_EQ(got(1, 0).size(), 1003U);
  EXPECT_TRUE(nobody_is_lost());
}

TEST_F(ChannelWorld, EachSideMayChooseAnotherRail) {
  open(2, 4, 1, 2);
  for (std::uint32_t i = 0; i < 200; ++i) {
    send(0, 1, i, 8, 0);
    send(1, 0, i, 8, 1);
  }
  ASSERT_TRUE(settle());
  EXPECT_EQ(got(0, 1).size(), 200U);
  EXPECT_EQ(got(1, 0).size(), 200U);
  EXPECT_TRUE(nobody_is_lost());
}

TEST_F(ChannelWorld, AnAnswerTakesTheRailOfTheQuestion) {
  open(2, 4, 1, 2);
  at(1).on_message = [this](const Message& message) {
    EXPECT_EQ(message.rail, 1U);
    send(1, 0, 5, 8, message.rail);
  };
  at(0).on_message = [](const Message& message) { EXPECT_EQ(message.rail, 1U); };
  send(0, 1, 4, 8, 1);
  ASSERT_TRUE(settle());
  EXPECT_EQ(got(0, 1).size(), 1U);
}

TEST_F(ChannelWorld, WithTooFewBuffersNothingIsPromised) {
  open(2, 2, 1);
  EXPECT_EQ(try_send(0, 1, 1), RMA_ERR_UNSUPPORTED);
}

TEST_F(ChannelWorld, ALongMessageThatIsRefusedKeepsItsOrder) {
  open(2, 16, 1);
  at(0).endpoints[0]->messages().set_faults({.refused_messages = 2});
  EXPECT_EQ(try_send(0, 1, 0), RMA_ERR_STATE);
  send(0, 1, 1, 300);
  EXPECT_EQ(try_send(0, 1, 0), RMA_ERR_STATE) << "it would overtake";
  send(0, 1, 2, 8);
  ASSERT_TRUE(settle());
  ASSERT_EQ(got(1, 0).size(), 2U);
  EXPECT_EQ(got(1, 0)[0].second, body(1, 300));
  EXPECT_EQ(got(1, 0)[1].second, body(2, 8));
}

TEST_F(ChannelWorld, WhatTheDeviceRefusedGoesThoughCreditsWentInBetween) {
  open(2, 16, 1);
  send(0, 1, 0, 8);
  ASSERT_TRUE(settle());
  for (std::uint32_t i = 0; i < 10; ++i) send(1, 0, i, 8);
  // Rank 0 owes so many credits now that it will return them. The device refuses its message twice.
  at(0).endpoints[0]->messages().set_faults({.refused_messages = 2});
  send(0, 1, 1, 8);
  ASSERT_TRUE(settle());
  EXPECT_EQ(got(1, 0).size(), 2U);
}

TEST_F(ChannelWorld, RefusedMessagesTakeNoMemoryOfTheSender) {
  open(2, 16, 1);
  for (int i = 0; i < 1000; ++i) {
    at(0).endpoints[0]->messages().set_faults({.refused_messages = 1});
    ASSERT_EQ(at(0).channel->try_send(1, 0, 1, body(0, 300), {}), RMA_ERR_STATE);
  }
  ASSERT_EQ(at(0).channel->try_send(1, 0, 1, body(0, 300), {}), RMA_SUCCESS);
}

TEST_F(ChannelWorld, WhoHasMoreWaitingIsLentBuffers) {
  open(2, 4, 8);
  for (std::uint32_t i = 0; i < 200; ++i) send(0, 1, i, 8);
  ASSERT_TRUE(settle());
  EXPECT_EQ(got(1, 0).size(), 200U);
  EXPECT_GT(burst(0, 1), 3U) << "more than its own";
  EXPECT_TRUE(nobody_is_lost());
}

TEST_F(ChannelWorld, WhoIsRefusedAndTriesAgainIsLentBuffersToo) {
  open(2, 4, 8);
  for (int i = 0; i < 200; ++i) {
    while (try_send(0, 1, 0) == RMA_ERR_STATE) ASSERT_TRUE(settle());
  }
  ASSERT_TRUE(settle());
  EXPECT_EQ(got(1, 0).size(), 200U);
  EXPECT_GT(burst(0, 1), 3U) << "more than its own";
  EXPECT_TRUE(nobody_is_lost());
}

TEST_F(ChannelWorld, LoansComeBackWhenAnotherNeedsThem) {
  open(3, 4, 8);
  const auto hungry = [this](int from) {
    for (std::uint32_t i = 0; i < 200; ++i) send(from, 2, i, 8);
    ASSERT_TRUE(settle());
  };
  hungry(0);
  const std::uint32_t rich = burst(0, 2);
  ASSERT_TRUE(settle());
  EXPECT_GT(rich, 3U);
  hungry(1);
  // No buffer is left for rank 1, but those lent to rank 0 come back as they are used.
  ASSERT_NO_FATAL_FAILURE(stream(0, 2, 100));
  hungry(1);
  EXPECT_GT(burst(1, 2), 3U);
  ASSERT_TRUE(settle());
  EXPECT_TRUE(nobody_is_lost());
  const std::size_t all = at(2).endpoints[0]->messages().buffers();
  EXPECT_EQ(all, 4U + 4U + 8U) << "every buffer is posted again";
}

TEST_F(ChannelWorld, OnceMemoryIsUsedUpLoansLeaveWhatLaterPeersNeed) {
  connects = false;
  open(5, 4, 16);
  at(0).endpoints[0]->set_faults({.registrations = 0});
  for (int peer = 1; peer < 5; ++peer) {
    connect(0, peer);
    for (std::uint32_t i = 0; i < 200; ++i) send(peer, 0, i, 8);
    ASSERT_TRUE(settle());
    EXPECT_EQ(got(0, peer).size(), 200U) << "of peer " << peer;
  }
  EXPECT_TRUE(nobody_is_lost());
  EXPECT_EQ(at(0).endpoints[0]->messages().buffers(), 16U);
}

TEST_F(ChannelWorld, OnceMemoryIsUsedUpRanksOfTheHostTakeNoBuffersOfTheNetwork) {
  connects = false;
  ranks_per_host = 3;
  open(6, 4, 16);
  at(0).endpoints[0]->set_faults({.registrations = 0});
  for (int peer = 1; peer < 6; ++peer) {
    connect(0, peer);
    std::size_t rail = 0;
    ASSERT_EQ(at(peer).channel->open(0, &rail), RMA_SUCCESS) << "of peer " << peer;
    EXPECT_EQ(rail == kLocalRail, peer < ranks_per_host);
    for (std::uint32_t i = 0; i < 200; ++i) send(peer, 0, i, 8, rail);
    ASSERT_TRUE(settle());
    EXPECT_EQ(got(0, peer).size(), 200U) << "of peer " << peer;
  }
  EXPECT_TRUE(nobody_is_lost());
  EXPECT_EQ(at(0).endpoints[0]->messages().buffers(), 16U);
}

TEST_F(ChannelWorld, ScarceBuffersAreNeverLentTwice) {
  std::mt19937_64 random(test_seed());
  open(6, 3, 4);
  for (int i = 0; i < fewer_if_sanitized(30000); ++i) {
    const int from = 1 + static_cast<int>(random() % 5);
    for (std::uint64_t k = random() % 12; k > 0; --k) send(from, 0, 0, 8);
    if (random() % 2 == 0) send(0, from, 0, 8);
    progress(static_cast<int>(random() % 6));
  }
  ASSERT_TRUE(settle());
  EXPECT_TRUE(nobody_is_lost());
  EXPECT_EQ(at(0).endpoints[0]->messages().buffers(), 5U * 3U + 4U);
}

TEST_F(ChannelWorld, ThreadsSendToEachOtherAtOnce) {
  open(3, 4, 4);
  constexpr std::uint32_t kCount = 2000;
  std::vector<std::thread> threads;
  for (int from = 0; from < 3; ++from) {
    threads.emplace_back([this, from] {
      for (std::uint32_t i = 0; i < kCount; ++i) {
        for (int to = 0; to < 3; ++to) {
          if (to != from) send(from, to, i, i % 5 == 0 ? 200 : 8);
        }
        at(from).channel->progress(Channel::Turn::if_free);
      }
    });
    threads.emplace_back([this, from] {
      for (std::uint32_t i = 0; i < kCount; ++i) progress(from);
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(settle());
  EXPECT_TRUE(nobody_is_lost());
  for (int from = 0; from < 3; ++from) {
    for (int to = 0; to < 3; ++to) {
      if (to == from) continue;
      ASSERT_EQ(got(to, from).size(), kCount);
      for (std::uint32_t i = 0; i < kCount; ++i) {
        ASSERT_EQ(got(to, from)[i].second, body(i, i % 5 == 0 ? 200 : 8));
      }
    }
  }
}

TEST_F(ChannelWorld, AReceiverMaySend) {
  open(2, 3, 1);
  at(1).on_message = [this](const Message& message) { at(1).channel->send(0, 0, 2, message.body, {}); };
  for (std::uint32_t i = 0; i < 300; ++i) send(0, 1, i, 20);
  ASSERT_TRUE(settle());
  ASSERT_EQ(got(0, 1).size(), 300U);
  for (std::uint32_t i = 0; i < 300; ++i) {
    EXPECT_EQ(got(0, 1)[i].first, 2);
    EXPECT_EQ(got(0, 1)[i].second, body(i, 20));
  }
}

TEST_F(ChannelWorld, WhoIsGivenUpIsLostOnceAndOthersAreNot) {
  open(3, 4, 4);
  for (std::uint32_t i = 0; i < 10; ++i) send(0, 1, i, 8);
  at(0).channel->fail(1);
  at(0).channel->fail(1);
  EXPECT_EQ(try_send(0, 1, 0), RMA_ERR_PEER_LOST);
  send(0, 1, 11, 8);
  for (std::uint32_t i = 0; i < 100; ++i) send(0, 2, i, 8);
  ASSERT_TRUE(settle());
  EXPECT_EQ(at(0).lost_peers, std::vector<int>{1});
  EXPECT_EQ(got(2, 0).size(), 100U);
  EXPECT_LE(got(1, 0).size(), 3U);
}

TEST_F(ChannelWorld, WhoHasGoneIsLostWhenSomethingIsSent) {
  open(3, 4, 4);
  at(1).channel.reset();
  at(1).rails.reset();
  EXPECT_EQ(try_send(0, 1, 0), RMA_ERR_PEER_LOST);
  send(2, 1, 0, 8);
  for (int round = 0; round < 10; ++round) {
    progress(0);
    progress(2);
  }
  EXPECT_EQ(at(0).lost_peers, std::vector<int>{1});
  EXPECT_EQ(at(2).lost_peers, std::vector<int>{1});
  send(0, 2, 5, 8);
  progress(2);
  EXPECT_EQ(got(2, 0).size(), 1U);
  processes.erase(processes.begin() + 1);
}

TEST_F(ChannelWorld, MessagesAreCounted) {
  open(2, 4, 4);
  const std::uint64_t before = counted(Counter::message);
  send(0, 1, 0, 8);
  EXPECT_EQ(counted(Counter::message), before + 1);
}

TEST_F(ChannelWorld, MessagesToAPeerTakeTheRailOfTheFirst) {
  open(2, 8, 8, 2);
  std::size_t rail = 1;
  ASSERT_EQ(at(0).channel->open(1, &rail), RMA_SUCCESS);
  EXPECT_EQ(rail, 1U);
  rail = 0;
  ASSERT_EQ(at(0).channel->open(1, &rail), RMA_SUCCESS);
  EXPECT_EQ(rail, 1U) << "whatever is asked for later";
  at(0).channel->send(1, rail, 1, {}, {});
  while (at(1).channel->progress(Channel::Turn::wait)) {
  }
  rail = 0;
  ASSERT_EQ(at(1).channel->open(0, &rail), RMA_SUCCESS);
  EXPECT_EQ(rail, 1U) << "answers go where the question came from";
}

TEST_F(ChannelWorld, MessagesToAPeerWithoutBuffersAreRefusedAtOnce) {
  open(2, 0, 1);
  std::size_t rail = 0;
  EXPECT_EQ(at(0).channel->open(1, &rail), RMA_ERR_UNSUPPORTED);
}

}  // namespace
}  // namespace librma
