#include "channel/link.hpp"

#include <gtest/gtest.h>

namespace librma {
namespace {

using Order = Link::Order;

/// Two links that face each other.
class Links : public testing::Test {
 protected:
  static constexpr std::uint32_t kBuffers = 4;
  void SetUp() override {
    here.open(0, kBuffers);
    there.promise(0, kBuffers);
  }
  [[nodiscard]] MessageHeader send() {
    const MessageHeader header = here.next(1, 0);
    here.sent(header, MessagePath::queue);
    return header;
  }
  Link here;
  Link there;
};

std::vector<std::byte> one_byte(unsigned value) { return {static_cast<std::byte>(value)}; }

TEST_F(Links, WhatComesInOrderIsNext) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(there.arrived(0, send()), Order::next);
    there.delivered();
    EXPECT_EQ(there.next_kept(), std::nullopt);
  }
}

TEST_F(Links, TheNumbersWrapAroundSoon) {
  std::uint32_t before = send().sequence;
  bool wrapped = false;
  for (int i = 0; i < 100; ++i) {
    const std::uint32_t sequence = send().sequence;
    wrapped = wrapped || sequence < before;
    before = sequence;
  }
  EXPECT_TRUE(wrapped);
}

TEST_F(Links, AnEarlyMessageWaitsForThoseBeforeIt) {
  for (int lap = 0; lap < 40; ++lap) {  // the numbers wrap around
    const MessageHeader first = send();
    const MessageHeader second = send();
    const MessageHeader third = send();
    EXPECT_EQ(there.arrived(0, third), Order::early);
    there.keep(third, one_byte(3));
    EXPECT_EQ(there.next_kept(), std::nullopt);
    EXPECT_EQ(there.arrived(0, first), Order::next);
    there.delivered();
    EXPECT_EQ(there.next_kept(), std::nullopt);
    EXPECT_EQ(there.arrived(0, second), Order::next);
    there.delivered();
    const auto kept = there.next_kept();
    ASSERT_TRUE(kept);
    EXPECT_EQ(kept->body, one_byte(3));
    there.delivered();
    EXPECT_EQ(there.next_kept(), std::nullopt);
  }
}

TEST_F(Links, NothingComesTwiceOrFromBeyondTheBuffers) {
  const MessageHeader first = send();
  const MessageHeader second = send();
  const MessageHeader third = send();
  const MessageHeader fourth = send();
  const MessageHeader fifth = send();
  EXPECT_EQ(there.arrived(0, fifth), Order::broken) << "five messages are under way, to four buffers";
  EXPECT_EQ(there.arrived(0, fourth), Order::early);
  there.keep(fourth, {});
  EXPECT_EQ(there.arrived(0, fourth), Order::broken) << "it is here";
  EXPECT_EQ(there.arrived(0, first), Order::next);
  there.delivered();
  EXPECT_EQ(there.arrived(0, first), Order::broken) << "it was delivered";
  EXPECT_EQ(there.arrived(0, second), Order::next);
  there.delivered();
  EXPECT_EQ(there.arrived(0, third), Order::next);
}

TEST_F(Links, CreditsOfABrokenMessageDoNotCount) {
  MessageHeader forged = {.sequence = Link::kFirstSequence + 100, .credits = 50};
  EXPECT_EQ(there.arrived(0, forged), Order::broken);
  EXPECT_FALSE(there.path(1, MessageEvent::solicited, 0));
  forged.sequence = Link::kFirstSequence;
  EXPECT_EQ(there.arrived(0, forged), Order::next);
  EXPECT_TRUE(there.path(1, MessageEvent::solicited, 0));
}

TEST_F(Links, APeerKeepsToOneRail) {
  there.promise(1, 2 * kBuffers);
  EXPECT_EQ(there.promised(), 0U);
  const MessageHeader first = send();
  const MessageHeader second = send();
  EXPECT_EQ(there.arrived(0, first), Order::next);
  there.delivered();
  EXPECT_EQ(there.promised(), kBuffers) << "buffers of a rail that it does not use are of no use to it";
  EXPECT_EQ(there.arrived(1, second), Order::broken);
  EXPECT_EQ(there.arrived(0, second), Order::next);
}

TEST_F(Links, TheLastCreditIsForCredits) {
  for (std::uint32_t i = 0; i < kBuffers - 1; ++i) {
    EXPECT_EQ(here.path(1, MessageEvent::solicited, 0), MessagePath::queue);
    static_cast<void>(send());
  }
  EXPECT_FALSE(here.path(1, MessageEvent::solicited, 0));
  EXPECT_FALSE(here.path(MessageHeader::kRingStop, MessageEvent::solicited, 0));
  EXPECT_FALSE(here.path(MessageHeader::kCredits, MessageEvent::solicited, 0)) << "it owes nothing";
  here.lend(3);
  EXPECT_EQ(here.path(MessageHeader::kCredits, MessageEvent::solicited, 0), MessagePath::queue);
  here.sent(here.next(MessageHeader::kCredits, 0), MessagePath::queue);
  here.lend(3);
  EXPECT_FALSE(here.path(MessageHeader::kCredits, MessageEvent::solicited, 0));
  EXPECT_EQ(here.arrived(0, {.sequence = Link::kFirstSequence, .credits = 1}), Order::next);
  EXPECT_EQ(here.path(MessageHeader::kCredits, MessageEvent::solicited, 0), MessagePath::queue);
  EXPECT_FALSE(here.path(1, MessageEvent::solicited, 0));
}

TEST_F(Links, CreditsTravelInTheNextMessageOnce) {
  there.open(0, kBuffers);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(there.arrived(0, send()), Order::next);
    there.delivered();
    there.freed(false);
  }
  EXPECT_TRUE(there.owes());
  const MessageHeader header = there.next(1, 0);
  EXPECT_EQ(header.credits, 3);
  EXPECT_EQ(there.next(1, 0).credits, 3) << "it was not sent";
  there.sent(header, MessagePath::queue);
  EXPECT_EQ(there.next(1, 0).credits, 0);
  EXPECT_FALSE(there.owes());
}

TEST_F(Links, MoreCreditsThanAHeaderHoldsTakeTwo) {
  there.open(0, 100);
  there.lend(100000);
  const MessageHeader first = there.next(1, 0);
  there.sent(first, MessagePath::queue);
  const MessageHeader second = there.next(1, 0);
  there.sent(second, MessagePath::queue);
  EXPECT_EQ(first.credits + second.credits, 100000);
}

TEST_F(Links, AWithdrawnBufferIsNotReturned) {
  there.open(0, kBuffers);
  EXPECT_EQ(there.arrived(0, send()), Order::next);
  there.delivered();
  there.lend(2);
  EXPECT_EQ(there.promised(), kBuffers + 2);
  there.freed(true);
  EXPECT_EQ(there.promised(), kBuffers + 1);
  EXPECT_EQ(there.next(1, 0).credits, 2);
}

}  // namespace
}  // namespace librma
