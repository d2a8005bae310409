#include "transport/verbs/handshake.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "../counted.hpp"
#include "../seed.hpp"
#include "wireup_processes.hpp"

namespace librma::transport {
namespace {

constexpr std::chrono::seconds kGuard{60};
constexpr std::chrono::milliseconds kSoon{30};

class WireupTest : public testing::Test {
 protected:
  void open(int ranks, std::chrono::milliseconds timeout = kGuard) {
    for (int rank = 0; rank < ranks; ++rank) {
      processes.push_back(std::make_unique<WireupProcess>(wires, rank, ranks, timeout));
    }
    dropped_before = counted(Counter::datagrams_dropped);
  }
  [[nodiscard]] Status call(int rank, int peer) {
    return at(rank).wireup.call(peer, WireupProcess::card_of(peer));
  }
  [[nodiscard]] WireupProcess& at(int rank) { return *processes[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] std::uint64_t dropped() const { return counted(Counter::datagrams_dropped) - dropped_before; }
  /// Returns a datagram that `from` would send to `to`, with the right token.
  [[nodiscard]] static Handshake made_up(Handshake::Kind kind, int from, int to, int secret_of) {
    Handshake handshake;
    handshake.kind = kind;
    handshake.from = from;
    handshake.to = to;
    handshake.call = 1;
    handshake.reply_to = WireupProcess::card_of(from).address;
    handshake.endpoint = WireupProcess::end_of(from, to);
    handshake.token = handshake.expected_token(WireupProcess::card_of(secret_of).secret);
    return handshake;
  }
  void deliver(int to, const Handshake& handshake) {
    wires.deliver(WireupProcess::card_of(to).address.queue_pair, Wires::datagram(handshake));
  }
  void expect_connected(int a, int b) {
    EXPECT_TRUE(at(a).bound_to(b)) << a << " to " << b;
    EXPECT_TRUE(at(b).bound_to(a)) << b << " to " << a;
    EXPECT_EQ(at(a).binds[b], 1);
    EXPECT_EQ(at(b).binds[a], 1);
    EXPECT_EQ(at(a).ends_made[b], 1);
    EXPECT_EQ(at(b).ends_made[a], 1);
  }

  Wires wires;
  std::vector<std::unique_ptr<WireupProcess>> processes;
  std::uint64_t dropped_before = 0;
};

TEST_F(WireupTest, ACallBindsBothEndsOnce) {
  open(2);
  ASSERT_TRUE(call(0, 1).ok());
  expect_connected(0, 1);
  EXPECT_EQ(at(0).sent, 1);
  EXPECT_EQ(at(1).sent, 1);
  ASSERT_TRUE(call(0, 1).ok());
  EXPECT_EQ(at(0).sent, 1) << "it is connected already";
  ASSERT_TRUE(call(1, 0).ok());
  expect_connected(0, 1);
  EXPECT_EQ(dropped(), 0U);
}

TEST_F(WireupTest, ARankMayCallItself) {
  open(1);
  ASSERT_TRUE(call(0, 0).ok());
  EXPECT_TRUE(at(0).bound_to(0));
  EXPECT_EQ(at(0).binds[0], 1);
  EXPECT_EQ(at(0).ends_made[0], 1);
}

TEST_F(WireupTest, ALostHelloIsRepeated) {
  open(2);
  int left_to_lose = 2;
  wires.passes = [&](const Handshake& handshake) {
    return handshake.kind != Handshake::Kind::hello || left_to_lose-- <= 0;
  };
  ASSERT_TRUE(call(0, 1).ok());
  expect_connected(0, 1);
  EXPECT_EQ(at(0).sent, 3);
}

TEST_F(WireupTest, ALostWelcomeIsSentAgain) {
  open(2);
  int left_to_lose = 2;
  wires.passes = [&](const Handshake& handshake) {
    return handshake.kind != Handshake::Kind::welcome || left_to_lose-- <= 0;
  };
  ASSERT_TRUE(call(0, 1).ok());
  expect_connected(0, 1);
  EXPECT_EQ(at(1).sent, 3) << "a welcome for every hello";
  EXPECT_EQ(dropped(), 0U);
}

TEST_F(WireupTest, AHelloThatComesAgainIsAnsweredAgainAndBindsNothing) {
  open(2);
  ASSERT_TRUE(call(0, 1).ok());
  const int sent = at(1).sent;
  deliver(1, made_up(Handshake::Kind::hello, 0, 1, 1));
  EXPECT_EQ(at(1).sent, sent + 1);
  expect_connected(0, 1);
  EXPECT_EQ(dropped(), 0U);
}

TEST_F(WireupTest, AnotherEndForAConnectionThatStandsIsDropped) {
  open(2);
  ASSERT_TRUE(call(0, 1).ok());
  Handshake other = made_up(Handshake::Kind::hello, 0, 1, 1);
  ++other.endpoint.data_queue_pair;
  other.token = other.expected_token(WireupProcess::card_of(1).secret);
  const int sent = at(1).sent;
  deliver(1, other);
  EXPECT_EQ(at(1).sent, sent);
  EXPECT_EQ(dropped(), 1U);
  expect_connected(0, 1);
}

TEST_F(WireupTest, ForgedHellosAreDroppedAndCounted) {
  open(3);
  std::uint64_t forged = 0;
  const auto refuse = [&](const Handshake& handshake, const char* why) {
    deliver(1, handshake);
    EXPECT_EQ(dropped(), ++forged) << why;
  };
  refuse(made_up(Handshake::Kind::hello, 0, 1, 0), "the caller's own secret");
  refuse(made_up(Handshake::Kind::hello, 0, 2, 1), "for another rank");
  refuse(made_up(Handshake::Kind::hello, -1, 1, 1), "from no rank");
  refuse(made_up(Handshake::Kind::hello, 3, 1, 1), "from a rank that is not in the job");
  refuse(made_up(Handshake::Kind::welcome, 0, 1, 0), "an answer to a call that was not made");
  Handshake damaged = made_up(Handshake::Kind::hello, 0, 1, 1);
  damaged.magic ^= 1;
  refuse(damaged, "no handshake");
  EXPECT_TRUE(at(1).binds.empty());
  EXPECT_EQ(at(1).sent, 0);
  deliver(1, made_up(Handshake::Kind::hello, 0, 1, 1));
  EXPECT_EQ(at(1).binds[0], 1) << "and the genuine one is not";
}

TEST_F(WireupTest, WelcomesOfOtherCallsAreDropped) {
  open(3, kSoon);
  wires.passes = [](const Handshake& /*handshake*/) { return false; };
  EXPECT_EQ(call(0, 1).code(), RMA_ERR_PEER_LOST);
  std::uint64_t forged = 0;
  Handshake stale = made_up(Handshake::Kind::welcome, 1, 0, 1);
  stale.call = 99;
  stale.token = stale.expected_token(WireupProcess::card_of(1).secret);
  deliver(0, stale);
  EXPECT_EQ(dropped(), ++forged) << "another call's number";
  deliver(0, made_up(Handshake::Kind::welcome, 1, 0, 0));
  EXPECT_EQ(dropped(), ++forged) << "another secret";
  deliver(0, made_up(Handshake::Kind::welcome, 2, 0, 2));
  EXPECT_EQ(dropped(), ++forged) << "a rank that was not called";
  EXPECT_TRUE(at(0).binds.empty());
  deliver(0, made_up(Handshake::Kind::welcome, 1, 0, 1));
  EXPECT_TRUE(at(0).bound_to(1)) << "a late welcome still holds";
  EXPECT_TRUE(call(0, 1).ok());
}

TEST_F(WireupTest, ASilentPeerIsLostAndTheNextCallTriesAgain) {
  open(2, kSoon);
  wires.passes = [](const Handshake& /*handshake*/) { return false; };
  const Status lost = call(0, 1);
  EXPECT_EQ(lost.code(), RMA_ERR_PEER_LOST);
  EXPECT_GT(at(0).sent, 0);
  wires.passes = [](const Handshake& /*handshake*/) { return true; };
  const auto guard = std::chrono::steady_clock::now() + kGuard;
  while (!call(0, 1).ok()) ASSERT_LT(std::chrono::steady_clock::now(), guard);
  expect_connected(0, 1);
}

TEST_F(WireupTest, AnEndThatCannotBeMadeFailsTheCallAndTheNextTriesAgain) {
  open(2);
  at(0).no_ends = true;
  const Status refused = call(0, 1);
  EXPECT_EQ(refused.code(), RMA_ERR_NO_MEMORY);
  EXPECT_EQ(refused.text(), "no end");
  EXPECT_EQ(at(0).sent, 0);
  at(0).no_ends = false;
  EXPECT_TRUE(call(0, 1).ok());
  EXPECT_TRUE(at(0).bound_to(1) && at(1).bound_to(0));
}

TEST_F(WireupTest, AnEndThatCannotBeBoundFailsTheCallAndTheNextTriesAgain) {
  open(2);
  at(0).no_binding = true;
  const Status refused = call(0, 1);
  EXPECT_EQ(refused.code(), RMA_ERR_SYSTEM);
  EXPECT_EQ(refused.text(), "no binding");
  at(0).no_binding = false;
  EXPECT_TRUE(call(0, 1).ok());
  EXPECT_TRUE(at(0).bound_to(1) && at(1).bound_to(0));
}

TEST_F(WireupTest, WhoCannotAnswerIsSilent) {
  open(2, kSoon);
  at(1).no_binding = true;
  EXPECT_EQ(call(0, 1).code(), RMA_ERR_PEER_LOST);
  EXPECT_EQ(at(1).sent, 0);
  EXPECT_GE(dropped(), 1U);
}

TEST_F(WireupTest, AllCallAllOverWiresThatLoseDoubleHoldBackAndForge) {
  constexpr int kRanks = 5;
  open(kRanks);
  wires.rage(test_seed());
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  for (int rank = 0; rank < kRanks; ++rank) {
    for (int second = 0; second < 2; ++second) {  // two threads of each rank call the same ranks
      threads.emplace_back([&, rank] {
        for (int i = 0; i < kRanks; ++i) {
          if (!call(rank, (rank + i) % kRanks).ok()) ++failures;
        }
      });
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  for (int a = 0; a < kRanks; ++a) {
    for (int b = 0; b < kRanks; ++b) expect_connected(a, b);
  }
  EXPECT_GT(wires.forged(), 0U);
  EXPECT_EQ(dropped(), wires.forged());
}

}  // namespace
}  // namespace librma::transport
