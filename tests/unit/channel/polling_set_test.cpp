#include "channel/polling_set.hpp"

#include <gtest/gtest.h>

namespace librma {
namespace {

using Kind = PollingSet::Decision::Kind;
using State = PollingSet::State;

constexpr PollingSet::Policy kTwo = {
    .most = 2, .round_messages = 40, .promote_messages = 8, .demote_factor = 4, .demote_rounds = 3};

/// An owner and its peers. The peers do at once what the set decides.
class Owner {
 public:
  explicit Owner(const PollingSet::Policy& policy) : set(policy) {}

  /// Counts a message of `peer`, which goes by its ring if it has one.
  void message(int peer) {
    if (const auto place = place_of(peer); place >= 0 && set.state(peer) == State::in) {
      set.used(static_cast<std::size_t>(place));
    } else {
      set.heard(peer);
    }
    while (const auto decision = set.next()) {
      if (decision->kind == Kind::promote) {
        ++promotions;
        set.accepted(decision->peer);
      } else {
        ++demotions;
        set.removed(decision->peer);
      }
    }
  }
  void messages(int peer, int count) {
    for (int i = 0; i < count; ++i) message(peer);
  }
  [[nodiscard]] bool in(int peer) const { return set.state(peer) == State::in; }

  PollingSet set;
  int promotions = 0;
  int demotions = 0;

 private:
  [[nodiscard]] int place_of(int peer) const {
    for (std::size_t i = 0; i < set.members().size(); ++i) {
      if (set.members()[i].state != State::out && set.members()[i].peer == peer) return static_cast<int>(i);
    }
    return -1;
  }
};

TEST(PollingSet, PromotesAPeerThatHasSentEnough) {
  PollingSet set(kTwo);
  for (int i = 0; i < 7; ++i) set.heard(5);
  EXPECT_EQ(set.next(), std::nullopt);
  EXPECT_EQ(set.state(5), State::out);
  set.heard(5);
  EXPECT_EQ(set.next(), (PollingSet::Decision{.kind = Kind::promote, .place = 0, .peer = 5}));
  EXPECT_EQ(set.next(), std::nullopt) << "each decision is there once";
  EXPECT_EQ(set.state(5), State::offered);
  EXPECT_EQ(set.members()[0].peer, 5);
  EXPECT_EQ(set.size(), 1U);
  set.accepted(5);
  EXPECT_EQ(set.state(5), State::in);
  set.accepted(6);
  EXPECT_EQ(set.state(6), State::out) << "who was not offered anything has nothing to accept";
}

TEST(PollingSet, MessagesOfEarlierRoundsDoNotCount) {
  PollingSet set(kTwo);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 7; ++i) set.heard(5);
    for (int i = 7; i < 40; ++i) set.heard(100 + i);
  }
  EXPECT_EQ(set.next(), std::nullopt);
}

TEST(PollingSet, UsingTheRingIsAcceptingIt) {
  PollingSet set(kTwo);
  for (int i = 0; i < 8; ++i) set.heard(5);
  set.accepted(5);
  EXPECT_EQ(set.state(5), State::offered) << "it has not been told yet";
  const auto decision = set.next();
  ASSERT_TRUE(decision);
  set.used(decision->place);
  EXPECT_EQ(set.state(5), State::in);
}

TEST(PollingSet, APeerThatDeclinesLeavesItsPlaceAndMayEarnItAgain) {
  PollingSet set(kTwo);
  for (int i = 0; i < 8; ++i) set.heard(5);
  ASSERT_TRUE(set.next());
  set.removed(5);
  EXPECT_EQ(set.state(5), State::out);
  EXPECT_EQ(set.size(), 0U);
  for (int i = 0; i < 7; ++i) set.heard(5);
  EXPECT_EQ(set.next(), std::nullopt);
  set.heard(5);
  EXPECT_TRUE(set.next());
}

TEST(PollingSet, APeerLostBeforeTheOwnerActsLeavesNothingToDo) {
  PollingSet set(kTwo);
  for (int i = 0; i < 8; ++i) set.heard(5);
  set.removed(5);
  EXPECT_EQ(set.next(), std::nullopt);
  EXPECT_EQ(set.size(), 0U);
  set.removed(5);
  set.removed(77);
  EXPECT_EQ(set.size(), 0U) << "who is not there cannot be removed";
}

TEST(PollingSet, NobodyIsPromotedWhereThereIsNoPlace) {
  PollingSet set({.most = 0, .round_messages = 40, .promote_messages = 8});
  for (int i = 0; i < 1000; ++i) set.heard(i % 3);
  EXPECT_EQ(set.next(), std::nullopt);
  EXPECT_EQ(set.counted(), 0U);
}

TEST(PollingSet, AnIdleMemberMakesRoomForABusyPeer) {
  Owner owner(kTwo);
  owner.messages(1, 8);
  owner.messages(2, 8);
  ASSERT_TRUE(owner.in(1) && owner.in(2));
  // Member 1 sends nothing any more; 2 and the newcomer 3 share the traffic.
  int rounds = 0;
  for (; !owner.in(3) && rounds < 20; ++rounds) {
    for (int i = 0; i < 40; ++i) owner.message(i % 2 == 0 ? 2 : 3);
  }
  EXPECT_TRUE(owner.in(3) && owner.in(2));
  EXPECT_FALSE(owner.in(1));
  EXPECT_EQ(owner.demotions, 1);
  EXPECT_GE(rounds, 3) << "one quiet round is not enough";
  EXPECT_LE(rounds, 5);
}

TEST(PollingSet, AMemberThatIsSeldomUsedMakesRoomForAMuchBusierPeer) {
  Owner owner(kTwo);
  owner.messages(1, 8);
  owner.messages(2, 8);
  for (int i = 0; i < 400; ++i) owner.message(i % 10 == 0 ? 1 : i % 2 == 0 ? 2 : 3);
  EXPECT_TRUE(owner.in(2) && owner.in(3));
  EXPECT_EQ(owner.demotions, 1);
}

TEST(PollingSet, NobodyIsDemotedWhileNobodyWaits) {
  Owner owner(kTwo);
  owner.messages(1, 8);
  owner.messages(2, 8);
  owner.messages(2, 1000);
  // Others send, but too little to be promoted.
  for (int i = 0; i < 1000; ++i) owner.message(i % 8 != 0 ? 2 : 3 + i % 3);
  EXPECT_TRUE(owner.in(1));
  EXPECT_EQ(owner.demotions, 0);
}

TEST(PollingSet, PeersOfTheSameTrafficDoNotTakeTurns) {
  for (const int others : {2, 3}) {
    Owner owner(
        {.most = 1, .round_messages = 40, .promote_messages = 8, .demote_factor = 4, .demote_rounds = 1});
    for (int i = 0; i < 10000; ++i) owner.message(i % others);
    EXPECT_EQ(owner.promotions, 1);
    EXPECT_EQ(owner.demotions, 0);
    // They do not take turns either if they send in bursts within a round, or if one is up to the factor
    // busier.
    for (int i = 0; i < 10000; ++i) owner.message(i / 8 % others);
    for (int i = 0; i < 10000; ++i) owner.message(i % 4 == 0 ? 0 : 1);
    EXPECT_EQ(owner.demotions, 0);
    for (int i = 0; i < 10000; ++i) owner.message(i % 8 == 0 ? 0 : 1);
    EXPECT_EQ(owner.demotions, 1);
    EXPECT_TRUE(owner.in(1));
  }
}

TEST(PollingSet, ALullShorterThanTheRoundsAskedForCostsNobodyItsPlace) {
  Owner owner(
      {.most = 1, .round_messages = 40, .promote_messages = 8, .demote_factor = 4, .demote_rounds = 3});
  owner.messages(1, 40);
  for (int i = 0; i < 100; ++i) {
    owner.messages(2, 80);
    owner.messages(1, 40);
  }
  EXPECT_TRUE(owner.in(1));
  EXPECT_EQ(owner.demotions, 0);
}

TEST(PollingSet, AnIdleMemberIsNotExcusedByRoundsInWhichNobodyWaits) {
  Owner owner(kTwo);
  owner.messages(1, 8);
  owner.messages(2, 32);
  for (int i = 0; i < 4; ++i) {
    owner.messages(2, 40);
    for (int k = 0; k < 20; ++k) {
      owner.message(2);
      owner.message(3);
    }
  }
  EXPECT_FALSE(owner.in(1));
  EXPECT_TRUE(owner.in(2) && owner.in(3));
}

TEST(PollingSet, OfTwoThatAreWeakTheWeakerGoes) {
  Owner owner(kTwo);
  owner.messages(1, 8);
  owner.messages(2, 8);
  owner.messages(1, 24);
  for (int round = 0; round < 3; ++round) {
    owner.message(1);
    owner.messages(3, 39);
  }
  EXPECT_EQ(owner.demotions, 1);
  EXPECT_TRUE(owner.in(1));
  EXPECT_FALSE(owner.in(2));
}

TEST(PollingSet, WhatEarnedAPlaceCountsInThatRound) {
  Owner owner(
      {.most = 1, .round_messages = 40, .promote_messages = 8, .demote_factor = 4, .demote_rounds = 1});
  owner.messages(1, 10);
  owner.messages(2, 30);
  EXPECT_TRUE(owner.in(1));
  EXPECT_EQ(owner.demotions, 0);
}

TEST(PollingSet, NobodyIsDemotedForAPeerThatFindsRoom) {
  Owner owner(
      {.most = 2, .round_messages = 40, .promote_messages = 8, .demote_factor = 4, .demote_rounds = 1});
  owner.messages(1, 20);
  owner.messages(2, 20);
  owner.messages(3, 39);  // and waits
  owner.set.removed(2);   // lost
  owner.message(4);
  EXPECT_EQ(owner.demotions, 0) << "member 1 was idle in this round, but its place is not needed";
  owner.messages(3, 8);
  EXPECT_TRUE(owner.in(1) && owner.in(3));
}

TEST(PollingSet, AMemberWhoseRingIsFullIsBusyAllTheSame) {
  PollingSet set(
      {.most = 1, .round_messages = 40, .promote_messages = 8, .demote_factor = 4, .demote_rounds = 1});
  for (int i = 0; i < 8; ++i) set.heard(1);
  const auto decision = set.next();
  ASSERT_TRUE(decision);
  set.accepted(1);
  for (int i = 0; i < 1000; ++i) set.heard(i % 2);
  EXPECT_EQ(set.next(), std::nullopt) << "neither promoted again nor demoted";
}

TEST(PollingSet, OneMemberLeavesAtATime) {
  PollingSet set(kTwo);
  for (const int peer : {1, 2}) {
    for (int i = 0; i < 8; ++i) set.heard(peer);
    ASSERT_TRUE(set.next());
    set.accepted(peer);
  }
  for (int i = 0; i < 2000; ++i) set.heard(3);
  const auto decision = set.next();
  ASSERT_TRUE(decision);
  EXPECT_EQ(decision->kind, Kind::demote);
  EXPECT_EQ(set.state(decision->peer), State::leaving);
  EXPECT_EQ(set.next(), std::nullopt) << "the other stays while the first has not gone";
  EXPECT_EQ(set.size(), 2U) << "its ring is looked at until then";
  set.used(decision->place);
  set.accepted(decision->peer);
  EXPECT_EQ(set.state(decision->peer), State::leaving);
  set.removed(decision->peer);
  for (int i = 0; i < 8; ++i) set.heard(3);
  EXPECT_EQ(set.next(), (PollingSet::Decision{.kind = Kind::promote, .place = decision->place, .peer = 3}));
}

TEST(PollingSet, AllAreDemotedBeforeTheOwnerSleeps) {
  PollingSet set({.most = 4, .round_messages = 400, .promote_messages = 8});
  for (const int peer : {1, 2, 3}) {
    for (int i = 0; i < 8; ++i) set.heard(peer);
    if (peer == 3) continue;
    ASSERT_TRUE(set.next());
  }
  set.accepted(1);
  for (int i = 0; i < 7; ++i) set.heard(4);
  ASSERT_EQ(set.counted(), 1U);
  set.demote([](std::size_t /*place*/) { return true; });
  EXPECT_EQ(set.counted(), 0U);
  EXPECT_EQ(set.state(3), State::out) << "which had not been told of the offer";
  EXPECT_EQ(set.next(), (PollingSet::Decision{.kind = Kind::demote, .place = 0, .peer = 1}));
  EXPECT_EQ(set.next(), std::nullopt);
  EXPECT_EQ(set.state(2), State::offered) << "its answer may be on its way";
  set.demote([](std::size_t /*place*/) { return true; });
  EXPECT_EQ(set.next(), std::nullopt) << "asking twice asks for nothing more";
  set.accepted(2);
  EXPECT_EQ(set.next(), (PollingSet::Decision{.kind = Kind::demote, .place = 1, .peer = 2}));
  set.removed(1);
  set.removed(2);
  EXPECT_EQ(set.size(), 0U);
  for (int i = 0; i < 8; ++i) set.heard(2);
  EXPECT_TRUE(set.next()) << "who is busy afterwards is promoted again";
}

TEST(PollingSet, ABusyPeerIsFoundAmongAnyNumberOfOthers) {
  // In a round the busy peer sends twice as many messages as a promotion takes; each stranger sends one.
  Owner owner(
      {.most = 1, .round_messages = 400, .promote_messages = 20, .demote_factor = 4, .demote_rounds = 1});
  int stranger = 1000;
  for (int i = 0; i < 400; ++i) owner.message(i % 10 == 9 ? 7 : stranger++);
  EXPECT_TRUE(owner.in(7));
  EXPECT_EQ(owner.promotions, 1);
  EXPECT_LE(owner.set.counted(), 20U);
}

}  // namespace
}  // namespace librma
