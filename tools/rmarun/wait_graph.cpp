#include "rmarun/wait_graph.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace rmarun {
namespace {

/// A wait by its rank and its number there.
using WaitName = std::pair<std::size_t, std::size_t>;

/// The next rank behind `rank` among those that `in` has: the lowest.
std::optional<std::size_t> next_of(const WaitGraph& graph, std::size_t rank, const std::vector<bool>& in) {
  std::optional<std::size_t> next;
  for (const auto& wait : graph.ranks[rank].waits) {
    for (const std::size_t awaited : wait.ranks) {
      if (in[awaited] && (!next || awaited < *next)) next = awaited;
    }
  }
  return next;
}

/// Leaves only ranks that wait for one that is left.
void drop_ends(const WaitGraph& graph, std::vector<bool>& in) {
  bool dropped = true;
  while (dropped) {
    dropped = false;
    for (std::size_t rank = 0; rank < in.size(); ++rank) {
      if (!in[rank] || next_of(graph, rank, in)) continue;
      in[rank] = false;
      dropped = true;
    }
  }
}

}  // namespace

std::vector<bool> find_stuck(const WaitGraph& graph) {
  const std::size_t count = graph.ranks.size();
  std::vector<bool> free(count, false);
  std::vector<std::size_t> news;  // free ranks whose waiters have not been told
  const auto release = [&](std::size_t rank) {
    if (free[rank] || graph.ranks[rank].ended) return;
    free[rank] = true;
    news.push_back(rank);
  };
  std::vector<std::vector<WaitName>> waiters(count);
  std::vector<std::vector<std::size_t>> missing(count);  // for each wait, the ranks that have to get free yet
  for (std::size_t rank = 0; rank < count; ++rank) {
    const auto& waits = graph.ranks[rank].waits;
    if (waits.empty()) release(rank);
    for (std::size_t i = 0; i < waits.size(); ++i) {
      missing[rank].push_back(waits[i].any ? 1 : waits[i].ranks.size());
      if (waits[i].ranks.empty()) release(rank);
      for (const std::size_t awaited : waits[i].ranks) waiters[awaited].emplace_back(rank, i);
    }
  }
  while (!news.empty()) {
    const std::size_t rank = news.back();
    news.pop_back();
    for (const auto& [waiter, wait] : waiters[rank]) {
      std::size_t& left = missing[waiter][wait];
      if (left != 0 && --left == 0) release(waiter);
    }
  }
  std::vector<bool> stuck(count);
  for (std::size_t rank = 0; rank < count; ++rank) stuck[rank] = !free[rank] && !graph.ranks[rank].ended;
  return stuck;
}

std::vector<std::vector<std::size_t>> find_cycles(const WaitGraph& graph, const std::vector<bool>& stuck,
                                                  std::size_t most) {
  std::vector<std::vector<std::size_t>> cycles;
  std::vector<bool> in = stuck;
  while (cycles.size() < most) {
    drop_ends(graph, in);
    const auto begin = std::find(in.begin(), in.end(), true);
    if (begin == in.end()) break;
    // Each of these ranks waits for another of them, so the walk comes to a rank where it has been.
    std::vector<std::size_t> walk = {static_cast<std::size_t>(begin - in.begin())};
    std::vector<bool> seen(in.size(), false);
    while (!seen[walk.back()]) {
      seen[walk.back()] = true;
      walk.push_back(*next_of(graph, walk.back(), in));
    }
    std::vector<std::size_t> cycle(std::find(walk.begin(), walk.end(), walk.back()), walk.end() - 1);
    std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
    for (const std::size_t rank : cycle) in[rank] = false;
    cycles.push_back(std::move(cycle));
  }
  return cycles;
}

}  // namespace rmarun
