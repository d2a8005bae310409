#include "collectives/team/team_registry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <vector>

#include "threads.hpp"

namespace librma {
namespace {

using testing_threads::run_members;

constexpr WaitPolicy kPolicy = {.spins = 0, .yields = 2};
constexpr auto kNobodyLost = [] { return false; };

TEST(TeamKeyTest, DependsOnMembersOrderAndNumber) {
  const auto key = [](std::vector<int> ranks) { return TeamKey::of(ranks); };
  EXPECT_EQ(key({3, 1, 2}), key({3, 1, 2}));
  EXPECT_NE(key({3, 1, 2}), key({3, 2, 1}));
  EXPECT_NE(key({3, 1}), key({3, 1, 0}));
  EXPECT_NE(key({0}), key({0, 0}));
}

TEST(TeamKeyTest, DependsOnTheParentAndTheNumberOfTheSplit) {
  const auto key = [](std::uint64_t parent, std::uint64_t split) {
    return TeamKey::of(std::vector{0, 1}, {.parent = parent, .split = split});
  };
  EXPECT_EQ(key(7, 2), key(7, 2));
  EXPECT_NE(key(7, 2), key(7, 3));
  EXPECT_NE(key(7, 2), key(2, 7));
  EXPECT_NE(key(0, 1), key(0, 0));
  EXPECT_EQ(key(0, 0), TeamKey::of(std::vector{0, 1}));
}

TEST(TeamRegistryTest, MembersTakeWhatTheirFirstPosted) {
  constexpr int kProcesses = 6;
  constexpr std::uint64_t kTeams = 300;
  const std::uint64_t seed = testing_threads::seed();
  std::array<TeamRegistry, kProcesses> registries;
  run_members(kProcesses, [&](int me) {
    // All members draw the same lists. The lists are small, so that the same one comes up twice in a row.
    std::mt19937_64 random(seed);
    for (std::uint64_t team = 1; team <= kTeams; ++team) {
      std::vector<int> ranks(kProcesses);
      std::iota(ranks.begin(), ranks.end(), 0);
      std::shuffle(ranks.begin(), ranks.end(), random);
      ranks.resize(2 + random() % 2);
      if (std::find(ranks.begin(), ranks.end(), me) == ranks.end()) continue;
      const TeamKey key = TeamKey::of(ranks);
      TeamRegistry& registry = registries[static_cast<std::size_t>(ranks.front())];
      const std::uint64_t block = team % 5 == 0 ? 0 : team;  // 0 as from a member without memory
      if (ranks.front() == me) {
        registry.post(key, block, static_cast<std::uint32_t>(ranks.size() - 1), kPolicy, kNobodyLost);
      } else {
        ASSERT_EQ(registry.take(key, kPolicy, kNobodyLost, kNobodyLost), block);
      }
    }
  });
}

TEST(TeamRegistryTest, TheSameListInARowIsNeverTakenTwice) {
  constexpr int kMembers = 3;
  constexpr std::uint64_t kTeams = 300;
  TeamRegistry registry;
  const TeamKey key = TeamKey::of(std::vector{0, 1, 2});
  run_members(kMembers, [&](int me) {
    for (std::uint64_t team = 1; team <= kTeams; ++team) {
      if (me == 0) {
        registry.post(key, team, kMembers - 1, kPolicy, kNobodyLost);
      } else {
        ASSERT_EQ(registry.take(key, kPolicy, kNobodyLost, kNobodyLost), team);
      }
    }
  });
}

TEST(TeamRegistryTest, MorePostingsThanSlotsWaitForEachOther) {
  constexpr int kPosters = 70;
  TeamRegistry registry;
  run_members(2 * kPosters, [&](int thread) {
    const int team = thread / 2;
    const TeamKey key = TeamKey::of(std::vector{0, team});
    const auto block = static_cast<std::uint64_t>(team) + 1;
    if (thread % 2 == 0) {
      registry.post(key, block, 1, kPolicy, kNobodyLost);
    } else {
      ASSERT_EQ(registry.take(key, kPolicy, kNobodyLost, kNobodyLost), block);
    }
  });
}

TEST(TeamRegistryTest, WhatIsWithdrawnTooEarlyIsTakenByNobodyThereafter) {
  TeamRegistry registry;
  const TeamKey key = TeamKey::of(std::vector{0, 1, 2});
  std::atomic<bool> marked = false;
  run_members(2, [&](int me) {
    if (me == 0) {
      registry.post(key, 5, 2, kPolicy, [&] {
        marked = true;
        return true;
      });
    } else if (registry.take(
                   key, kPolicy, [&] { return marked.load(); }, kNobodyLost)) {
      EXPECT_TRUE(marked) << "who took it sees what became of it";
    }
  });
  EXPECT_TRUE(marked);
  // The third comes late.
  EXPECT_FALSE(registry.take(
      key, kPolicy, [] { return true; }, kNobodyLost));
  // And the slot is as good as new.
  run_members(2, [&](int me) {
    if (me == 0) {
      registry.post(key, 6, 1, kPolicy, kNobodyLost);
    } else {
      EXPECT_EQ(registry.take(key, kPolicy, kNobodyLost, kNobodyLost), 6);
    }
  });
}

TEST(TeamRegistryTest, AnOwnerThatHasEndedWithdrawsNothing) {
  TeamRegistry registry;
  const TeamKey key = TeamKey::of(std::vector{0, 1, 2});
  EXPECT_FALSE(registry.take(
      key, kPolicy, [] { return true; }, kNobodyLost))
      << "before it posted";
  std::atomic<bool> taken = false;
  run_members(2, [&](int me) {
    if (me == 0) {
      // This member stands for one that stops in the middle: it withdraws only after the other has given up.
      registry.post(key, 5, 2, kPolicy, [&] { return taken.load(); });
    } else {
      EXPECT_FALSE(registry.take(key, kPolicy, kNobodyLost, [] { return true; })) << "after it posted";
      taken = true;
    }
  });
}

}  // namespace
}  // namespace librma
