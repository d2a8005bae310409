// Teams: splitting, listing, nesting and allocating, also by several threads at once; and the refusal of
// handles of freed teams.

#include <algorithm>
#include <array>
#include <numeric>
#include <thread>

#include "harness.hpp"

namespace multi {
namespace {

std::vector<int> world_ranks(rma_team_t team) {
  int size = 0;
  EXPECT_TRUE(ok(rma_team_info(team, nullptr, &size)));
  std::vector<int> result(static_cast<std::size_t>(size), -1);
  for (int rank = 0; rank < size; ++rank) {
    EXPECT_TRUE(ok(rma_team_world_rank(team, rank, &result[static_cast<std::size_t>(rank)])));
  }
  return result;
}

/// Checks the team's members and this process's rank in it, and makes a barrier.
void check_team(rma_team_t team, const std::vector<int>& expected) {
  EXPECT_NE(team, nullptr);
  if (team == nullptr) return;
  EXPECT_EQ(world_ranks(team), expected);
  int rank = -1;
  EXPECT_TRUE(ok(rma_team_info(team, &rank, nullptr)));
  EXPECT_GE(rank, 0);
  if (rank >= 0) EXPECT_EQ(expected[static_cast<std::size_t>(rank)], me());
  EXPECT_EQ(gather(me(), team), expected);
  EXPECT_TRUE(ok(rma_barrier(team)));
}

std::vector<int> all_ranks() {
  std::vector<int> result(static_cast<std::size_t>(ranks()));
  std::iota(result.begin(), result.end(), 0);
  return result;
}

void free_team(rma_team_t& team) {
  EXPECT_TRUE(ok(rma_team_free(&team)));
  EXPECT_EQ(team, nullptr);
}

TEST(Team, World) {
  EXPECT_EQ(world_ranks(rma_team_world()), all_ranks());
  check_team(rma_team_world(), all_ranks());
  rma_team_t world = rma_team_world();
  EXPECT_TRUE(refused(rma_team_free(&world), RMA_ERR_ARGUMENT, {"rma_team_free", "world"}));
  EXPECT_EQ(world, rma_team_world());
  // Hosts divide the ranks: two ranks on one host each list the other, and have the same list.
  EXPECT_EQ(rma_same_host(me()), 1);
  std::vector<int> shares(static_cast<std::size_t>(ranks()));
  for (int rank = 0; rank < ranks(); ++rank) shares[static_cast<std::size_t>(rank)] = rma_same_host(rank);
  std::vector<int> all(shares.size() * shares.size());
  EXPECT_TRUE(
      ok(rma_allgather(rma_team_world(), all.data(), shares.data(), shares.size() * sizeof shares[0])));
  for (std::size_t rank = 0; rank < shares.size(); ++rank) {
    const auto row = all.begin() + static_cast<std::ptrdiff_t>(rank * shares.size());
    EXPECT_EQ(std::equal(shares.begin(), shares.end(), row), shares[rank] == 1) << "rank " << rank;
  }
  EXPECT_EQ(rma_same_host(ranks()), 0);
  EXPECT_EQ(rma_same_host(-1), 0);
}

TEST(Team, SplitsByColor) {
  for (int colors = 1; colors <= 3; ++colors) {
    rma_team_t team = nullptr;
    EXPECT_TRUE(ok(rma_team_split(rma_team_world(), me() % colors, 0, &team)));
    std::vector<int> expected;
    for (int rank = me() % colors; rank < ranks(); rank += colors) expected.push_back(rank);
    check_team(team, expected);
    free_team(team);
  }
}

TEST(Team, SplitOrdersByKeyThenByRank) {
  rma_team_t reversed = nullptr;
  EXPECT_TRUE(ok(rma_team_split(rma_team_world(), 0, -me(), &reversed)));
  std::vector<int> expected = all_ranks();
  std::reverse(expected.begin(), expected.end());
  check_team(reversed, expected);
  // Equal keys keep the parent's order, which is the reversed one.
  rma_team_t again = nullptr;
  EXPECT_TRUE(ok(rma_team_split(reversed, 0, me() == 0 ? -1 : 5, &again)));
  std::rotate(expected.begin(), expected.end() - 1, expected.end());
  check_team(again, expected);
  free_team(again);
  free_team(reversed);
}

TEST(Team, NegativeColorsJoinNone) {
  rma_team_t team = rma_team_world();
  const bool joins = me() % 2 == 0;
  EXPECT_TRUE(ok(rma_team_split(rma_team_world(), joins ? 7 : -1, 0, &team)));
  if (joins) {
    std::vector<int> expected;
    for (int rank = 0; rank < ranks(); rank += 2) expected.push_back(rank);
    check_team(team, expected);
    free_team(team);
  } else {
    EXPECT_EQ(team, nullptr);
  }
  EXPECT_TRUE(ok(rma_team_split(rma_team_world(), -5, 0, &team)));
  EXPECT_EQ(team, nullptr);
}

TEST(Team, CreatedByItsMembersAlone) {
  // Without the other ranks: ranks in any order, one rank, all ranks.
  Random random({71});
  for (int round = 0; round < 20; ++round) {
    std::vector<int> members = all_ranks();
    std::shuffle(members.begin(), members.end(), random.engine());
    members.resize(1 + random.below(members.size()));
    if (std::find(members.begin(), members.end(), me()) == members.end()) continue;
    rma_team_t team = nullptr;
    EXPECT_TRUE(ok(rma_team_create(members.data(), static_cast<int>(members.size()), &team)));
    check_team(team, members);
    free_team(team);
  }
}

TEST(Team, NestedTeamsAllocateTheirOwnMemory) {
  std::vector<rma_team_t> teams = {rma_team_world()};
  for (int size = ranks(); size > 1;) {  // forms halves of halves
    int rank = 0;
    EXPECT_TRUE(ok(rma_team_info(teams.back(), &rank, &size)));
    if (size == 1) break;
    rma_team_t half = nullptr;
    EXPECT_TRUE(ok(rma_team_split(teams.back(), rank < (size + 1) / 2 ? 0 : 1, 0, &half)));
    EXPECT_NE(half, nullptr);
    if (half == nullptr) break;
    teams.push_back(half);
    EXPECT_TRUE(ok(rma_team_info(half, nullptr, &size)));
  }
  while (!teams.empty()) {
    const rma_team_t team = teams.back();
    {
      const std::vector<int> members = world_ranks(team);
      const Memory memory(Remote::window, 64 * members.size(), team);
      int mine = 0;
      EXPECT_TRUE(ok(rma_team_info(team, &mine, nullptr)));
      for (std::size_t i = 0; i < members.size(); ++i) {
        const std::vector<std::byte> block(64, static_cast<std::byte>(me() + 1));
        EXPECT_TRUE(ok(rma_put(memory.at(static_cast<int>(i)) + 64 * mine, block.data(), 64, members[i])));
      }
      EXPECT_TRUE(ok(rma_barrier(team)));
      for (std::size_t i = 0; i < members.size(); ++i) {
        for (const std::byte byte : memory.mine().subspan(64 * i, 64)) {
          EXPECT_EQ(byte, static_cast<std::byte>(members[i] + 1));
        }
      }
    }
    if (team != rma_team_world()) EXPECT_TRUE(ok(rma_team_free(&teams.back())));
    teams.pop_back();
  }
}

TEST(Team, ManyOneAfterAnother) {
  for (int i = 0; i < rounds(200); ++i) {
    rma_team_t team = nullptr;
    EXPECT_TRUE(ok(rma_team_split(rma_team_world(), me() % 2, i % 3 * me(), &team)));
    EXPECT_TRUE(ok(rma_barrier(team)));
    free_team(team);
  }
}

constexpr int kSplitters = 4;

/// Runs work(number of the thread) on kSplitters threads.
template <typename Work>
void on_splitters(const Work& work) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kSplitters; ++thread) threads.emplace_back([&work, thread] { work(thread); });
  for (std::thread& thread : threads) thread.join();
}

TEST(Team, ThreadsSplitTeamsOfTheSameMembers) {
  // All teams of a round have the same list of members, and so have their parents. Each thread must get its
  // own.
  std::array<rma_team_t, kSplitters> parents = {};
  for (rma_team_t& parent : parents) EXPECT_TRUE(ok(rma_team_split(rma_team_world(), 0, 0, &parent)));
  on_splitters([&](int thread) {
    rma_team_t& parent = parents[static_cast<std::size_t>(thread)];
    for (int round = 0; round < rounds(500); ++round) {
      rma_team_t team = nullptr;
      EXPECT_TRUE(ok(rma_team_split(parent, round % 2 * me() % 2, 0, &team)));
      const int mine = round * kSplitters + thread;
      for (const int theirs : gather(mine, team)) EXPECT_EQ(theirs, mine) << "thread " << thread;
      free_team(team);
    }
    free_team(parent);
  });
}

TEST(Team, ThreadsListTheSameMembers) {
  // The order of the threads decides which of them meet. Threads that meet have one team: all get the token
  // of its first member, and each thread of that member has given its token to one team.
  const std::vector<int> members = all_ranks();
  for (int round = 0; round < rounds(50); ++round) {
    std::array<int, kSplitters> tokens = {};
    on_splitters([&](int thread) {
      rma_team_t team = nullptr;
      EXPECT_TRUE(ok(rma_team_create(members.data(), ranks(), &team)));
      int token = me() == 0 ? thread : -1;
      EXPECT_TRUE(ok(rma_broadcast(team, &token, sizeof token, 0)));
      for (const int theirs : gather(token, team)) EXPECT_EQ(theirs, token);
      tokens[static_cast<std::size_t>(thread)] = token;
      free_team(team);
    });
    std::sort(tokens.begin(), tokens.end());
    for (int thread = 0; thread < kSplitters; ++thread) {
      EXPECT_EQ(tokens[static_cast<std::size_t>(thread)], thread);
    }
  }
}

TEST(Team, RefusesBadLists) {
  rma_team_t team = nullptr;
  const std::vector<int> twice = {me(), me()};
  EXPECT_TRUE(refused(rma_team_create(twice.data(), 2, &team), RMA_ERR_ARGUMENT,
                      {"rma_team_create", "rank " + std::to_string(me())}));
  const std::vector<int> missing = {me(), ranks()};
  EXPECT_TRUE(refused(rma_team_create(missing.data(), 2, &team), RMA_ERR_RANK,
                      {"rma_team_create", "rank " + std::to_string(ranks())}));
  if (ranks() > 1) {
    const int other = neighbour(1);
    EXPECT_TRUE(refused(rma_team_create(&other, 1, &team), RMA_ERR_RANK, {"rma_team_create"}));
  }
  EXPECT_TRUE(refused(rma_team_create(twice.data(), 0, &team), RMA_ERR_ARGUMENT, {"rma_team_create", "0"}));
  EXPECT_TRUE(refused(rma_team_create(twice.data(), -3, &team), RMA_ERR_ARGUMENT, {"rma_team_create", "-3"}));
  EXPECT_TRUE(refused(rma_team_create(nullptr, 1, &team), RMA_ERR_ARGUMENT, {"rma_team_create", "ranks"}));
  EXPECT_TRUE(
      refused(rma_team_create(twice.data(), 1, nullptr), RMA_ERR_ARGUMENT, {"rma_team_create", "team"}));
  EXPECT_EQ(team, nullptr);
  barrier();
}

TEST(Team, RefusesHandlesOfFreedTeams) {
  rma_team_t team = nullptr;
  EXPECT_TRUE(ok(rma_team_split(rma_team_world(), 0, 0, &team)));
  rma_team_t stale = team;
  free_team(team);
  int value = 1;
  void* address = nullptr;
  EXPECT_TRUE(refused(rma_barrier(stale), RMA_ERR_ARGUMENT, {"rma_barrier"}));
  EXPECT_TRUE(refused(rma_broadcast(stale, &value, sizeof value, 0), RMA_ERR_ARGUMENT, {"rma_broadcast"}));
  EXPECT_TRUE(refused(rma_malloc(stale, 8, 0, nullptr, &address), RMA_ERR_ARGUMENT, {"rma_malloc"}));
  EXPECT_TRUE(refused(rma_team_info(stale, &value, nullptr), RMA_ERR_ARGUMENT, {"rma_team_info"}));
  EXPECT_TRUE(refused(rma_team_free(&stale), RMA_ERR_ARGUMENT, {"rma_team_free"}));
  for (const rma_team_t garbage : {rma_team_t{nullptr}, reinterpret_cast<rma_team_t>(&value)}) {
    EXPECT_TRUE(refused(rma_barrier(garbage), RMA_ERR_ARGUMENT, {"rma_barrier"}));
    EXPECT_TRUE(
        refused(rma_allgather(garbage, &value, &value, sizeof value), RMA_ERR_ARGUMENT, {"rma_allgather"}));
  }
  EXPECT_TRUE(refused(rma_team_world_rank(rma_team_world(), ranks(), &value), RMA_ERR_RANK,
                      {"rma_team_world_rank", std::to_string(ranks())}));
  EXPECT_TRUE(refused(rma_team_world_rank(rma_team_world(), -1, &value), RMA_ERR_RANK, {"-1"}));
  barrier();
}

}  // namespace
}  // namespace multi
