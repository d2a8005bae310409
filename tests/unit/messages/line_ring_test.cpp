// The ring between honest processes: every message arrives once, in order and whole.

#include "rings/line_ring.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <random>
#include <thread>

#include "../../sanitized.hpp"
#include "../seed.hpp"
#include "line_ring_world.hpp"

namespace librma {
namespace {

constexpr LineRingSizes kLineRings[] = {{.lines = 1, .bytes = 1024},
                                        {.lines = 2, .bytes = 256},
                                        {.lines = 16, .bytes = 4096},
                                        {.lines = 256, .bytes = 4096},
                                        {.lines = 4, .bytes = std::uint64_t{64} << 10U}};

/// Mostly sizes around those at which something changes.
std::size_t draw_size(std::mt19937_64& random, const LineRingSizes& sizes) {
  const std::size_t most = sizes.most_body();
  constexpr std::size_t kEdges[] = {0, 1, 47, 48, 49, 63, 64, 65, 127, 128, 129};
  switch (random() % 4) {
    case 0:
      return std::min(most, kEdges[random() % std::size(kEdges)]);
    case 1:
      return most - random() % std::min<std::size_t>(most, 3);
    default:
      return random() % (most + 1);
  }
}

/// Fills a ring with messages of random sizes. Returns their number.
std::uint64_t fill(LineRingWorld& world, std::mt19937_64& random, const LineRingSizes& sizes) {
  std::uint64_t sent = 0;
  while (send(world.sender, sent, draw_size(random, sizes))) ++sent;
  return sent;
}

TEST(LineRing, ASenderThatWaitsIsAskedForBeforeTheRingIsEmpty) {
  std::mt19937_64 random(test_seed());
  for (const LineRingSizes& sizes : kLineRings) {
    for (int round = 0; round < 200; ++round) {
      LineRingWorld world(sizes);
      std::uint64_t left = fill(world, random, sizes);
      std::size_t bytes = draw_size(random, sizes);
      while (send(world.sender, left, bytes)) {  // the message that waits is one that found no room
        ++left;
        bytes = draw_size(random, sizes);
      }
      bool sent = false;
      for (; left > 0 && !sent; --left) {
        LineReceiver::Head head;
        ASSERT_EQ(world.receiver.peek(head), LineReceiver::Found::message);
        world.receiver.pop(head, 0);
        sent = world.receiver.may_be_wished_for(head) && send(world.sender, 0, bytes);
      }
      EXPECT_TRUE(sent) << sizes.lines << " lines, " << sizes.bytes << " bytes of slots, " << bytes;
    }
  }
}

TEST(LineRing, ABatchGivesAllPlacesBackAsItEnds) {
  std::mt19937_64 random(test_seed());
  for (const LineRingSizes& sizes : kLineRings) {
    LineRingWorld world(sizes);
    const std::uint64_t sent = fill(world, random, sizes);
    LineReceiver::Head head;
    {
      LineReceiver::Batch batch(world.receiver);
      for (std::uint64_t number = 0; number < sent; ++number) {
        ASSERT_EQ(batch.peek(head), LineReceiver::Found::message);
        ASSERT_TRUE(is(head, number));
        batch.pop(head, 10);
      }
      EXPECT_EQ(batch.peek(head), LineReceiver::Found::nothing);
      EXPECT_EQ(world.sender.released(), 0U);
      EXPECT_FALSE(send(world.sender, sent, sizes.most_body()));
    }
    EXPECT_EQ(world.sender.released(), 10 * sent);
    EXPECT_FALSE(world.receiver.waiting());
    ASSERT_TRUE(send(world.sender, sent, sizes.most_body()));
    ASSERT_EQ(world.receiver.peek(head), LineReceiver::Found::message);
    EXPECT_TRUE(is(head, sent));
  }
}

TEST(LineRing, RandomMessagesArriveInOrder) {
  std::mt19937_64 random(test_seed());
  for (const LineRingSizes& sizes : kLineRings) {
    LineRingWorld world(sizes);
    std::deque<std::size_t> under_way;  // sizes
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uint64_t refusals = 0;
    for (int step = 0; step < fewer_if_sanitized(20000); ++step) {
      if (random() % 100 < (step % 200 < 100 ? 65U : 35U)) {
        const std::size_t bytes = draw_size(random, sizes);
        const std::size_t cut = random() % (bytes + 1);
        if (send(world.sender, sent, bytes, cut)) {
          under_way.push_back(bytes);
          ++sent;
        } else {
          ASSERT_FALSE(under_way.empty()) << "an empty ring has room for any message: " << bytes;
          ++refusals;
        }
        continue;
      }
      LineReceiver::Head head;
      ASSERT_EQ(world.receiver.waiting(), !under_way.empty());
      const LineReceiver::Found found = world.receiver.peek(head);
      ASSERT_EQ(found, under_way.empty() ? LineReceiver::Found::nothing : LineReceiver::Found::message);
      if (under_way.empty()) continue;
      ASSERT_EQ(head.body.size(), under_way.front());
      ASSERT_TRUE(is(head, received)) << received;
      world.receiver.pop(head, 0);
      under_way.pop_front();
      ++received;
    }
    EXPECT_GT(refusals, 0U) << "the ring was never full";
    EXPECT_FALSE(world.sender.broken());
    EXPECT_TRUE(world.guards_are_intact());
  }
}

TEST(LineRing, AFullRingTakesTheNextMessageWhenOneIsTaken) {
  LineRingWorld world({.lines = 8, .bytes = 4096});
  std::uint64_t sent = 0;
  for (; sent < 8; ++sent) ASSERT_TRUE(send(world.sender, sent, 8));
  LineReceiver::Head head;
  for (std::uint64_t received = 0; received < 100; ++received) {
    ASSERT_FALSE(send(world.sender, sent, 8));
    ASSERT_EQ(world.receiver.peek(head), LineReceiver::Found::message);
    ASSERT_TRUE(is(head, received));
    world.receiver.pop(head, 0);
    ASSERT_TRUE(send(world.sender, sent, 8));
    ++sent;
  }
}

TEST(LineRing, FullSlotsDoNotKeepShortMessagesOut) {
  LineRingWorld world({.lines = 64, .bytes = 4096});
  for (const std::size_t bytes : {1024U, 49U}) {
    while (send(world.sender, 0, bytes)) {
    }
  }
  EXPECT_FALSE(send(world.sender, 0, 49));
  EXPECT_TRUE(send(world.sender, 0, 48));
  EXPECT_FALSE(send(world.sender, 0, 1024));
}

constexpr LineRingSizes kManySlots = {.lines = 8192, .bytes = std::uint64_t{256} << 10U};

/// Sends a message and takes it at once. Returns where its body lies in the slots.
std::uint64_t pass(LineRingWorld& world, std::uint64_t number, std::size_t bytes) {
  LineReceiver::Head head;
  EXPECT_TRUE(send(world.sender, number, bytes));
  EXPECT_EQ(world.receiver.peek(head), LineReceiver::Found::message);
  EXPECT_TRUE(is(head, number));
  const auto place = static_cast<std::uint64_t>(head.body.data() - world.slots().data());
  world.receiver.pop(head, 0);
  return place;
}

TEST(LineRing, BodiesThatAreTakenAtOnceLieNearTheStart) {
  std::mt19937_64 random(test_seed());
  LineRingWorld world(kManySlots);
  for (std::uint64_t number = 0; number < 20'000; ++number)
    ASSERT_LE(pass(world, number, 49 + random() % 1000), line_ring_detail::kNear);
}

TEST(LineRing, SlotsDoNotBeginAgainWhileABodyIsThere) {
  LineRingWorld world(kManySlots);
  ASSERT_TRUE(send(world.sender, 0, 64));
  std::uint64_t sent = 1;
  while (send(world.sender, sent, 1024)) ++sent;
  EXPECT_EQ(sent, kManySlots.bytes / 1024) << "every slot holds a body";
  LineReceiver::Head head;
  for (std::uint64_t number = 0; number < sent; ++number) {
    ASSERT_EQ(world.receiver.peek(head), LineReceiver::Found::message);
    ASSERT_TRUE(is(head, number));
    world.receiver.pop(head, 0);
  }
}

TEST(LineRing, AllSlotsAreFreeWhenTheyBeginAgain) {
  LineRingWorld world(kManySlots);
  std::uint64_t number = 0;
  while (number == 0 || pass(world, number, 1024) != 0) ++number;
  // The receiver has taken that body, the first one, too.
  const std::uint64_t first = ++number;
  while (send(world.sender, number, 1024)) ++number;
  EXPECT_EQ(number - first, kManySlots.bytes / 1024);
  LineReceiver::Head head;
  for (std::uint64_t next = first; next < number; ++next) {
    ASSERT_EQ(world.receiver.peek(head), LineReceiver::Found::message);
    ASSERT_TRUE(is(head, next));
    world.receiver.pop(head, 0);
  }
}

TEST(LineRing, TheSenderLearnsWhatHasFoundItsReceive) {
  LineRingWorld world({.lines = 8, .bytes = 1024});
  LineReceiver::Head head;
  for (std::uint64_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(send(world.sender, i, 8));
    ASSERT_EQ(world.receiver.peek(head), LineReceiver::Found::message);
    world.receiver.pop(head, i == 3 ? 0 : 100);
  }
  EXPECT_EQ(world.sender.released(), 300U);
  world.receiver.release(7);
  world.receiver.release(8);
  EXPECT_EQ(world.sender.released(), 315U);
}

TEST(LineRing, AWishForRoomIsSeenOnce) {
  LineRingWorld world({.lines = 8, .bytes = 1024});
  EXPECT_FALSE(world.receiver.wished_for_room());
  world.sender.ask_for_room();
  world.sender.ask_for_room();
  EXPECT_TRUE(world.receiver.wished_for_room());
  EXPECT_FALSE(world.receiver.wished_for_room());
}

TEST(LineRing, TwoThreads) {
  const std::uint64_t seed = test_seed();
  constexpr std::uint64_t kMessages = fewer_if_sanitized(100'000U);
  for (const LineRingSizes& sizes : kLineRings) {
    LineRingWorld world(sizes);
    std::thread sending([&] {
      std::mt19937_64 random(seed);
      for (std::uint64_t i = 0; i < kMessages / (sizes.bytes >> 8U); ++i) {
        const std::size_t bytes = draw_size(random, sizes);
        while (!send(world.sender, i, bytes)) std::this_thread::yield();
      }
    });
    std::mt19937_64 random(seed);
    for (std::uint64_t i = 0; i < kMessages / (sizes.bytes >> 8U); ++i) {
      const std::size_t bytes = draw_size(random, sizes);
      LineReceiver::Head head;
      while (world.receiver.peek(head) == LineReceiver::Found::nothing) std::this_thread::yield();
      EXPECT_EQ(head.body.size(), bytes);
      EXPECT_TRUE(is(head, i)) << i;
      world.receiver.pop(head, 1);
      if (testing::Test::HasFailure()) std::abort();  // the sender would wait for ever
    }
    sending.join();
    EXPECT_FALSE(world.receiver.waiting());
    EXPECT_FALSE(world.sender.broken());
    EXPECT_TRUE(world.guards_are_intact());
  }
}

}  // namespace
}  // namespace librma
