// Short messages that go together, over a network without rings.

#include <array>
#include <random>

#include "../counted.hpp"
#include "../seed.hpp"
#include "channel/coalesced_messages.hpp"
#include "channel_world.hpp"

namespace librma {
namespace {

class CoalescingWorld : public ChannelWorld {
 protected:
  static constexpr std::size_t kLong = 4096;

  CoalescingWorld() {
    ordered_bytes = false;
    long_bytes = kLong;
  }

  [[nodiscard]] rma_status_t try_short(int from, int to, std::uint32_t number, std::size_t size = 8) {
    const Bytes bytes = body(number, size);
    return at(from).channel->try_send(to, 0, kUnsolicited, bytes, {});
  }
  void expect_numbers(int rank, int from, std::uint32_t count) {
    ASSERT_EQ(got(rank, from).size(), count);
    for (std::uint32_t i = 0; i < count; ++i) {
      const Bytes& taken = got(rank, from)[i].second;
      EXPECT_EQ(taken, body(i, taken.size())) << "message " << i;
    }
  }
  static std::uint64_t coalesced() { return counted(Counter::message_coalesced); }
};

TEST_F(CoalescingWorld, TheFirstFewGoAtOnceAndTheOthersWithTheNextLookForProgress) {
  open(2, 16, 1);
  const std::uint64_t before = coalesced();
  for (std::uint32_t i = 0; i < 30; ++i) ASSERT_EQ(try_short(0, 1, i), RMA_SUCCESS);
  EXPECT_TRUE(at(0).channel->holds_messages());
  progress(1);
  expect_numbers(1, 0, 4);
  EXPECT_EQ(coalesced(), before);
  progress(0);
  EXPECT_FALSE(at(0).channel->holds_messages());
  EXPECT_EQ(coalesced(), before + 26);
  const std::size_t buffers = at(1).endpoints[0]->messages().buffers();
  progress(1);
  expect_numbers(1, 0, 30);
  EXPECT_EQ(buffers + 1, at(1).endpoints[0]->messages().buffers()) << "they took one buffer";
}

TEST_F(CoalescingWorld, FewInARowAllGoAtOnce) {
  open(3, 16, 1);
  for (std::uint32_t round = 0; round < 10; ++round) {
    for (std::uint32_t i = 0; i < 4; ++i) {
      ASSERT_EQ(try_short(0, 1, 4 * round + i), RMA_SUCCESS);
      ASSERT_EQ(try_short(0, 2, 4 * round + i), RMA_SUCCESS);
    }
    EXPECT_FALSE(at(0).channel->holds_messages());
    progress(0);
    progress(1);
    progress(2);
  }
  expect_numbers(1, 0, 40);
  expect_numbers(2, 0, 40);
}

TEST_F(CoalescingWorld, ASolicitedMessageTakesThoseThatWaitWithIt) {
  open(2, 16, 1);
  for (std::uint32_t i = 0; i < 10; ++i) ASSERT_EQ(try_short(0, 1, i), RMA_SUCCESS);
  EXPECT_TRUE(at(0).channel->holds_messages());
  ASSERT_EQ(try_send(0, 1, 10), RMA_SUCCESS);
  EXPECT_FALSE(at(0).channel->holds_messages());
  progress(1);
  expect_numbers(1, 0, 11);
}

TEST_F(CoalescingWorld, ALongMessageTakesThoseThatWaitWithIt) {
  open(2, 16, 1);
  for (std::uint32_t i = 0; i < 10; ++i) ASSERT_EQ(try_short(0, 1, i), RMA_SUCCESS);
  ASSERT_EQ(at(0).channel->max_body(0), kLong - sizeof(MessageHeader));
  const Bytes whole = body(10, at(0).channel->max_body(0));
  ASSERT_EQ(at(0).channel->try_send(1, 0, 1, whole, {}), RMA_SUCCESS);
  progress(1);
  expect_numbers(1, 0, 11);
  EXPECT_TRUE(nobody_is_lost());
}

TEST_F(CoalescingWorld, ABurstWithoutProgressIsRefusedAtLast) {
  open(2, 16, 1);
  std::uint32_t sent = 0;
  while (sent < 10000 && try_short(0, 1, sent) == RMA_SUCCESS) ++sent;
  EXPECT_LT(sent, 10000U);
  ASSERT_TRUE(settle());
  expect_numbers(1, 0, sent);
  EXPECT_TRUE(nobody_is_lost());
}

TEST_F(CoalescingWorld, ALostPeerIsSentNothingThatWaits) {
  open(3, 16, 1);
  for (std::uint32_t i = 0; i < 10; ++i) {
    ASSERT_EQ(try_short(0, 1, i), RMA_SUCCESS);
    ASSERT_EQ(try_short(0, 2, i), RMA_SUCCESS);
  }
  at(0).channel->fail(1);
  EXPECT_EQ(try_short(0, 1, 10), RMA_ERR_PEER_LOST);
  EXPECT_TRUE(at(0).channel->holds_messages()) << "those to the other peer";
  ASSERT_TRUE(settle());
  EXPECT_FALSE(at(0).channel->holds_messages());
  expect_numbers(2, 0, 10);
}

TEST_F(CoalescingWorld, NoneIsLostOrOvertaken) {
  std::mt19937_64 random(test_seed());
  const auto draw = [&](std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); };
  for (int job = 0; job < 40; ++job) {
    SCOPED_TRACE(job);
    processes.clear();
    const std::uint32_t own = 3 + draw(30);
    open(3, own, 1 + draw(8));
    std::array<std::array<std::uint32_t, 3>, 3> next = {};
    for (int step = 0; step < 2000; ++step) {
      const int from = static_cast<int>(draw(3));
      const int to = (from + 1 + static_cast<int>(draw(2))) % 3;
      std::uint32_t& number = next[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
      const std::size_t size = draw(20) == 0 ? draw(kLong - sizeof(MessageHeader)) : draw(100);
      const std::uint32_t what = draw(100);
      if (what < 5) {
        at(from).endpoints[0]->messages().set_faults({.refused_messages = draw(4)});
      } else if (what < 25) {
        progress(from);
      } else if (what < 30) {
        send(from, to, number++, 4 + size % 400);
      } else if (at(from).channel->try_send(to, 0, what < 40 ? 1 : kUnsolicited,
                                            body(number, 4 + size % 4000), {}) == RMA_SUCCESS) {
        ++number;
      }
    }
    // A refusal looks to settle() as if nothing moved.
    for (int rank = 0; rank < 3; ++rank) at(rank).endpoints[0]->messages().set_faults({});
    ASSERT_TRUE(settle());
    EXPECT_TRUE(nobody_is_lost());
    for (int from = 0; from < 3; ++from) {
      EXPECT_FALSE(at(from).channel->holds_messages());
      for (int to = 0; to < 3; ++to) {
        expect_numbers(to, from, next[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)]);
      }
    }
  }
}

}  // namespace
}  // namespace librma
