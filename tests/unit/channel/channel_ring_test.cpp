// Channels whose busy peers have rings.

#include <map>
#include <random>
#include <thread>

#include "../seed.hpp"
#include "ring_world.hpp"

namespace librma {
namespace {

TEST_F(RingWorld, ABusyPeerIsGivenARing) {
  open(2, 8, 8);
  const std::uint64_t before = counted(Counter::message_ring);
  for (std::uint32_t i = 0; i < 100; ++i) {
    send(0, 1, i, i % 100);
    ASSERT_TRUE(settle());
  }
  EXPECT_GE(counted(Counter::message_ring), before + 90);
  expect_in_order(1, 0, 100, [](std::uint32_t i) { return i % 100; });
  EXPECT_TRUE(nobody_is_lost());
}

TEST_F(RingWorld, WhatASlotDoesNotHoldGoesByTheQueue) {
  open(2, 8, 8);
  ASSERT_NO_FATAL_FAILURE(promote(0, 1));
  const std::size_t most = ring.most() - sizeof(MessageHeader);
  const std::uint64_t before = counted(Counter::message_ring);
  send(0, 1, 0, most);
  EXPECT_EQ(counted(Counter::message_ring), before + 1);
  send(0, 1, 1, most + 1);
  EXPECT_EQ(counted(Counter::message_ring), before + 1);
  ASSERT_TRUE(settle());
  expect_in_order(1, 0, 2, [most](std::uint32_t i) { return most + i; });
}

TEST_F(RingWorld, NobodyHasARingWhereThePollingSetIsEmpty) {
  polling.most = 0;
  open(2, 8, 8);
  const std::uint64_t before = counted(Counter::message_ring);
  ASSERT_NO_FATAL_FAILURE(stream(0, 1, 200));
  EXPECT_EQ(counted(Counter::message_ring), before);
}

TEST_F(RingWorld, AFullRingFallsBackToTheQueueAndBothCanBeFull) {
  for (const std::size_t slots : {1U, 2U, 3U, 4U, 7U}) {
    SCOPED_TRACE(slots);
    processes.clear();
    ring.slots = slots;
    open(2, 5, 1);
    ASSERT_NO_FATAL_FAILURE(promote(0, 1));
    // No credits are withheld, except those of messages that no rank has taken in.
    ASSERT_NO_FATAL_FAILURE(stream(0, 1, 100));
    const std::uint64_t before = counted(Counter::message_ring);
    const std::uint32_t sent = burst(0, 1);
    const std::uint64_t by_ring = counted(Counter::message_ring) - before;
    EXPECT_GE(2 * by_ring, slots) << "more than half of the slots are never kept back";
    EXPECT_LE(by_ring, slots);
    EXPECT_GT(sent, by_ring) << "the queue has room when the ring is full";
    EXPECT_EQ(try_send(0, 1, 0), RMA_ERR_STATE);
    for (std::uint32_t i = 0; i < 500; ++i) send(0, 1, i, 8);
    ASSERT_TRUE(settle());
    EXPECT_EQ(got(1, 0).size(), 100 + sent + 500U);
    EXPECT_TRUE(nobody_is_lost());
  }
}

TEST_F(RingWorld, TwoThatAreFullOfEachOthersMessagesGoOn) {
  for (const std::uint32_t own : {3U, 4U, 5U, 16U}) {
    SCOPED_TRACE(own);
    processes.clear();
    open(2, own, 1);
    for (int round = 0; round < 30; ++round) {
      for (std::uint32_t i = 0; i < 40; ++i) {
        send(0, 1, i, i % 3 == 0 ? kLong : 8);
        send(1, 0, i, i % 5 == 0 ? kLong : 8);
      }
      ASSERT_TRUE(settle());
    }
    EXPECT_EQ(got(0, 1).size(), 1200U);
    EXPECT_EQ(got(1, 0).size(), 1200U);
    EXPECT_TRUE(nobody_is_lost());
  }
}

/// Tests all cases of six messages: each goes by the ring or by the queue, each is delivered alone or with
/// the next, and the receiver sees the ring before the queue or after it. The numbers wrap around at the
/// first one.
TEST_F(RingWorld, TheOrderIsKeptWhicheverWayIsSeenFirst) {
  constexpr std::uint32_t kCount = 6;
  open(2, 16, 1);
  ring.slots = 8;
  ASSERT_NO_FATAL_FAILURE(promote(0, 1));
  for (unsigned paths = 0; paths < 1U << kCount; ++paths) {
    for (unsigned pauses = 0; pauses < 1U << kCount; ++pauses) {
      const bool ring_first = (pauses & 1U) != 0;
      at(1).got[0].clear();
      messages(0).set_faults({.held = true});
      for (std::uint32_t i = 0; i < kCount; ++i) send(0, 1, i, (paths >> i & 1U) != 0 ? 8 : kLong);
      for (std::uint32_t i = 0; i < kCount; ++i) {
        messages(0).deliver(1);
        if ((pauses >> i & 1U) == 0) continue;
        if (ring_first) messages(1).set_faults({.empty_polls = 1});
        progress(1);
      }
      messages(0).set_faults({});
      ASSERT_TRUE(settle());
      ASSERT_NO_FATAL_FAILURE(expect_in_order(
          1, 0, kCount, [paths](std::uint32_t i) { return (paths >> i & 1U) != 0 ? 8 : kLong; }))
          << "paths " << paths << ", pauses " << pauses;
    }
  }
  EXPECT_TRUE(nobody_is_lost());
}

TEST_F(RingWorld, WhatTheDeviceRefusedIsWrittenLater) {
  open(2, 8, 8);
  ASSERT_NO_FATAL_FAILURE(promote(0, 1));
  messages(0).set_faults({.refused_messages = 2});
  EXPECT_EQ(try_send(0, 1, 0), RMA_SUCCESS) << "it lies in the image";
  EXPECT_EQ(try_send(0, 1, 1), RMA_ERR_STATE) << "it would overtake";
  send(0, 1, 1, kLong);
  ASSERT_TRUE(settle());
  expect_in_order(1, 0, 2, [](std::uint32_t i) { return i == 0 ? std::size_t{8} : kLong; });
}

TEST_F(RingWorld, ARingIsLeftAndGivenAgain) {
  open(2, 8, 8);
  for (int round = 0; round < 10; ++round) {
    ASSERT_NO_FATAL_FAILURE(promote(0, 1));
    static_cast<void>(at(1).channel->arm());
    ASSERT_TRUE(settle());
    const std::uint64_t before = counted(Counter::message_ring);
    ASSERT_NO_FATAL_FAILURE(stream(0, 1, 3 * kEarned));
    EXPECT_EQ(counted(Counter::message_ring), before) << "who sleeps promotes nobody";
    at(1).channel->disarm();
  }
  EXPECT_TRUE(nobody_is_lost());
}

TEST_F(RingWorld, AMessageOnItsWayWhenItsRingIsLeftIsSeen) {
  open(2, 8, 8);
  ASSERT_NO_FATAL_FAILURE(promote(0, 1));
  messages(0).set_faults({.held = true});
  send(0, 1, 0, 8);
  EXPECT_TRUE(at(1).channel->arm());
  progress(0);  // sends `stopped` behind the message
  send(0, 1, 1, 8);
  EXPECT_TRUE(got(1, 0).empty());
  EXPECT_TRUE(messages(1).arm(transport::MessageEndpoint::Events::all));
  messages(0).deliver(1);
  EXPECT_TRUE(messages(1).arm(transport::MessageEndpoint::Events::all)) << "a message in a ring wakes nobody";
  messages(0).deliver(1);
  EXPECT_FALSE(messages(1).arm(transport::MessageEndpoint::Events::all));
  progress(1);
  EXPECT_EQ(got(1, 0).size(), 1U);
  messages(0).set_faults({});
  messages(0).deliver(100);
  ASSERT_TRUE(settle());
  expect_in_order(1, 0, 2, [](std::uint32_t) { return 8; });
}

TEST_F(RingWorld, APeerThatIsMuchBusierTakesTheRingOfAnother) {
  polling = {.most = 1, .round_messages = 16, .promote_messages = 4, .demote_factor = 2, .demote_rounds = 2};
  open(3, 8, 8);
  ASSERT_NO_FATAL_FAILURE(promote(0, 2));
  const std::uint64_t before = counted(Counter::message_ring);
  ASSERT_NO_FATAL_FAILURE(stream(1, 2, 200));
  EXPECT_GT(counted(Counter::message_ring), before + 40);
  ASSERT_NO_FATAL_FAILURE(stream(0, 2, 200));
  EXPECT_EQ(got(2, 1).size(), 200U);
  EXPECT_EQ(got(2, 0).size(), 200U);
  EXPECT_TRUE(nobody_is_lost());
}

TEST_F(RingWorld, WhoCanRegisterNothingOffersNoRing) {
  open(2, 8, 8);
  at(1).endpoints[0]->set_faults({.registrations = 0});
  const std::uint64_t rings = counted(Counter::ring);
  ASSERT_NO_FATAL_FAILURE(stream(0, 1, 200));
  EXPECT_EQ(counted(Counter::ring), rings);
  EXPECT_EQ(got(1, 0).size(), 200U);
}

TEST_F(RingWorld, WhoHasNoMemoryForAnImageDeclinesOnce) {
  open(2, 8, 8);
  at(0).endpoints[0]->set_faults({.registrations = 0});
  const std::uint64_t rings = counted(Counter::ring);
  const std::uint64_t before = counted(Counter::message_ring);
  ASSERT_NO_FATAL_FAILURE(stream(0, 1, 500));
  EXPECT_EQ(counted(Counter::ring), rings + 1);
  EXPECT_EQ(counted(Counter::message_ring), before);
  EXPECT_EQ(got(1, 0).size(), 500U);
  EXPECT_TRUE(nobody_is_lost());
}

TEST_F(RingWorld, WhoIsLostLeavesItsPlaceToOthers) {
  polling.most = 1;
  open(4, 8, 8);
  for (int from = 0; from < 3; ++from) {
    ASSERT_NO_FATAL_FAILURE(promote(from, 3));
    ASSERT_NO_FATAL_FAILURE(promote(3, from));
    send(from, 3, 0, 8);
    at(3).channel->fail(from);
    send(from, 3, 1, 8);
    at(from).channel->fail(3);
    ASSERT_TRUE(settle());
    EXPECT_TRUE(got(3, from).empty()) << "nothing comes of who is given up";
  }
  EXPECT_EQ(at(3).lost_peers, (std::vector<int>{0, 1, 2}));
}

TEST_F(RingWorld, RingsGoByAnyRail) {
  open(2, 8, 8, 2);
  const std::uint64_t before = counted(Counter::message_ring);
  for (std::uint32_t i = 0; i < 100; ++i) {
    send(0, 1, i, 100, 1);
    send(1, 0, i, 8, 0);
    ASSERT_TRUE(settle());
  }
  EXPECT_GT(counted(Counter::message_ring), before + 150);
  EXPECT_EQ(got(1, 0).size(), 100U);
  EXPECT_EQ(got(0, 1).size(), 100U);
  EXPECT_TRUE(nobody_is_lost());
}

TEST_F(RingWorld, OrderIsKeptWhateverHappens) {
  std::mt19937_64 random(test_seed());
  open(4, 5, 5);
  std::map<std::pair<int, int>, std::vector<Bytes>> sent;
  const std::uint64_t rings = counted(Counter::ring);
  const std::uint64_t before = counted(Counter::message_ring);
  for (std::uint32_t i = 0; i < 30000; ++i) {
    const int from = static_cast<int>(random() % 4);
    const int to = static_cast<int>(random() % 4);
    if (from != to) {
      const std::size_t size = random() % 8 == 0 ? random() % 400 : random() % 100;
      sent[{from, to}].push_back(body(i, size));
      switch (random() % 32) {
        case 0:
          messages(from).set_faults({.refused_messages = 3});
          break;
        case 1:
          messages(to).set_faults({.empty_polls = 3});
          break;
        case 2:
          messages(from).set_faults({.held = true});
          break;
        case 3:
          static_cast<void>(at(to).channel->arm());
          break;
        case 4:
        case 5:
          at(to).channel->disarm();
          break;
        default:
          break;
      }
      send(from, to, i, size);
    }
    if (random() % 2 == 0) messages(from).deliver(random() % 8);
    if (random() % 2 == 0) progress(static_cast<int>(random() % 4));
  }
  for (int round = 0; round < 1000; ++round) {
    for (int rank = 0; rank < 4; ++rank) {
      messages(rank).set_faults({});
      messages(rank).deliver(1000);
    }
    ASSERT_TRUE(settle());
  }
  EXPECT_TRUE(nobody_is_lost());
  EXPECT_GT(counted(Counter::ring), rings + 100);
  EXPECT_GT(counted(Counter::message_ring), before + 3000);
  for (const auto& [direction, messages] : sent) {
    const auto& there = got(direction.second, direction.first);
    ASSERT_EQ(there.size(), messages.size());
    for (std::size_t i = 0; i < messages.size(); ++i)
      ASSERT_EQ(there[i].second, messages[i]) << "message " << i;
  }
  for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(messages(rank).buffers(), 3U * 5U + 5U);
}

TEST_F(RingWorld, ThreadsSendToEachOtherAtOnce) {
  open(3, 6, 4);
  constexpr std::uint32_t kCount = 2000;
  std::vector<std::thread> threads;
  for (int from = 0; from < 3; ++from) {
    threads.emplace_back([this, from] {
      for (std::uint32_t i = 0; i < kCount; ++i) {
        for (int to = 0; to < 3; ++to) {
          if (to != from) send(from, to, i, i % 5 == 0 ? kLong : 60);
        }
        at(from).channel->progress(Channel::Turn::if_free);
      }
    });
    threads.emplace_back([this, from] {
      for (std::uint32_t i = 0; i < kCount; ++i) {
        progress(from);
        if (i % 64 != 0) continue;
        static_cast<void>(at(from).channel->arm());
        progress(from);
        at(from).channel->disarm();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(settle());
  EXPECT_TRUE(nobody_is_lost());
  for (int from = 0; from < 3; ++from) {
    for (int to = 0; to < 3; ++to) {
      if (to == from) continue;
      expect_in_order(to, from, kCount, [](std::uint32_t i) { return i % 5 == 0 ? kLong : std::size_t{60}; });
    }
  }
}

}  // namespace
}  // namespace librma
