// Who is stuck, and the cycles of those who are, against what a slow look at all ranks finds.

#include "rmarun/wait_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>
#include <vector>

#include "../unit/seed.hpp"
namespace rmarun {
namespace {

using Ranks = std::vector<std::size_t>;

WaitGraph::Node waits_for(Ranks ranks, bool any = false) {
  return {.waits = {{.ranks = std::move(ranks), .any = any}}, .ended = false};
}

/// Repeats the definition until nothing changes.
std::vector<bool> stuck_by_definition(const WaitGraph& graph) {
  std::vector<bool> free(graph.ranks.size(), false);
  const auto can_end = [&](const WaitGraph::Wait& wait) {
    const auto is_free = [&](std::size_t rank) { return free[rank]; };
    return wait.ranks.empty() ||
           (wait.any ? std::ranges::any_of(wait.ranks, is_free) : std::ranges::all_of(wait.ranks, is_free));
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t rank = 0; rank < free.size(); ++rank) {
      const WaitGraph::Node& node = graph.ranks[rank];
      if (free[rank] || node.ended) continue;
      if (!node.waits.empty() && std::ranges::none_of(node.waits, can_end)) continue;
      free[rank] = true;
      changed = true;
    }
  }
  std::vector<bool> stuck;
  for (std::size_t rank = 0; rank < free.size(); ++rank)
    stuck.push_back(!free[rank] && !graph.ranks[rank].ended);
  return stuck;
}

bool has_edge(const WaitGraph& graph, std::size_t from, std::size_t to) {
  return std::ranges::any_of(graph.ranks[from].waits,
                             [&](const auto& wait) { return std::ranges::count(wait.ranks, to) != 0; });
}

/// Whether a way leads from a stuck rank back to it through stuck ranks.
bool is_on_a_cycle(const WaitGraph& graph, const std::vector<bool>& stuck, std::size_t rank) {
  std::set<std::size_t> seen;
  std::function<bool(std::size_t)> visit = [&](std::size_t at) {
    for (std::size_t next = 0; next < stuck.size(); ++next) {
      if (!stuck[next] || !has_edge(graph, at, next)) continue;
      if (next == rank || (seen.insert(next).second && visit(next))) return true;
    }
    return false;
  };
  return stuck[rank] && visit(rank);
}

TEST(WaitGraph, TwoRanksThatWaitForEachOther) {
  const WaitGraph graph = {{waits_for({1}), waits_for({0}), waits_for({1}), {}}};
  const auto stuck = find_stuck(graph);
  EXPECT_EQ(stuck, (std::vector<bool>{true, true, true, false}));
  EXPECT_EQ(find_cycles(graph, stuck, 4), (std::vector<Ranks>{{0, 1}}));
}

TEST(WaitGraph, ARankThatWaitsForItself) {
  const WaitGraph graph = {{{}, waits_for({1})}};
  const auto stuck = find_stuck(graph);
  EXPECT_EQ(stuck, (std::vector<bool>{false, true}));
  EXPECT_EQ(find_cycles(graph, stuck, 4), (std::vector<Ranks>{{1}}));
}

TEST(WaitGraph, OneOfSeveralIsEnough) {
  const WaitGraph graph = {{waits_for({1, 2}, true), waits_for({0}), {}}};
  EXPECT_EQ(find_stuck(graph), (std::vector<bool>{false, false, false}));
  const WaitGraph none = {{waits_for({1, 2}, true), waits_for({0}), waits_for({0})}};
  EXPECT_EQ(find_stuck(none), (std::vector<bool>{true, true, true}));
}

TEST(WaitGraph, ARankThatHasEndedFreesNobody) {
  const WaitGraph graph = {{waits_for({1}), {.waits = {}, .ended = true}}};
  const auto stuck = find_stuck(graph);
  EXPECT_EQ(stuck, (std::vector<bool>{true, false}));
  EXPECT_TRUE(find_cycles(graph, stuck, 4).empty());
}

TEST(WaitGraph, AWaitWithoutRanksMayEnd) {
  const WaitGraph graph = {{waits_for({}), waits_for({0})}};
  EXPECT_EQ(find_stuck(graph), (std::vector<bool>{false, false}));
}

TEST(WaitGraph, AnotherThreadMayGoOn) {
  const WaitGraph graph = {
      {WaitGraph::Node{.waits = {{.ranks = {1}, .any = false}, {.ranks = {2}, .any = false}}, .ended = false},
       waits_for({0}),
       {}}};
  EXPECT_EQ(find_stuck(graph), (std::vector<bool>{false, false, false}));
}

TEST(WaitGraph, RandomGraphs) {
  std::mt19937_64 random(test_seed());
  const auto below = [&](std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random);
  };
  std::size_t with_cycles = 0;
  for (int round = 0; round < 3000; ++round) {
    WaitGraph graph;
    graph.ranks.resize(1 + below(12));
    const std::size_t density = 1 + below(4);
    for (auto& node : graph.ranks) {
      node.ended = below(12) == 0;
      for (std::size_t waits = below(5) == 0 ? 0 : 1 + (below(6) == 0 ? 1 : 0); waits > 0; --waits) {
        WaitGraph::Wait wait = {.ranks = {}, .any = below(4) == 0};
        std::set<std::size_t> ranks;
        for (std::size_t i = below(density + 1); i > 0; --i) ranks.insert(below(graph.ranks.size()));
        wait.ranks.assign(ranks.begin(), ranks.end());
        node.waits.push_back(std::move(wait));
      }
    }
    const auto stuck = find_stuck(graph);
    ASSERT_EQ(stuck, stuck_by_definition(graph));
    const auto cycles = find_cycles(graph, stuck, graph.ranks.size());
    std::set<std::size_t> seen;
    for (const Ranks& cycle : cycles) {
      ASSERT_FALSE(cycle.empty());
      ASSERT_EQ(*std::ranges::min_element(cycle), cycle.front());
      for (std::size_t i = 0; i < cycle.size(); ++i) {
        ASSERT_TRUE(stuck[cycle[i]]);
        ASSERT_TRUE(seen.insert(cycle[i]).second) << "rank " << cycle[i] << " is in two";
        ASSERT_TRUE(has_edge(graph, cycle[i], cycle[(i + 1) % cycle.size()]));
      }
    }
    bool any = false;
    for (std::size_t rank = 0; rank < stuck.size(); ++rank) any = any || is_on_a_cycle(graph, stuck, rank);
    ASSERT_EQ(!cycles.empty(), any);
    with_cycles += any ? 1 : 0;
  }
  EXPECT_GT(with_cycles, 100U);
}

}  // namespace
}  // namespace rmarun
