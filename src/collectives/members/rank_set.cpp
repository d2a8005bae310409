#include "collectives/members/rank_set.hpp"

#include <algorithm>
#include <functional>

namespace librma {

std::optional<int> RankSet::find_twice(std::span<const int> ranks) {
  // Most lists ascend, and show by themselves that no rank is there twice.
  if (std::ranges::adjacent_find(ranks, std::ranges::greater_equal()) == ranks.end()) return std::nullopt;
  const std::lock_guard guard(lock_);
  std::optional<int> twice;
  std::size_t marked = 0;
  for (; marked < ranks.size(); ++marked) {
    const auto rank = static_cast<std::size_t>(ranks[marked]);
    if (listed_[rank]) {
      twice = ranks[marked];
      break;
    }
    listed_[rank] = true;
  }
  for (const int rank : ranks.first(marked)) listed_[static_cast<std::size_t>(rank)] = false;
  return twice;
}

}  // namespace librma
