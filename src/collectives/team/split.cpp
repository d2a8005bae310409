#include "collectives/team/split.hpp"

#include <algorithm>
#include <utility>

namespace librma {

void split_members(std::span<const SplitChoice> choices, int color, std::vector<int>& members) {
  members.clear();
  for (std::size_t rank = 0; rank < choices.size(); ++rank) {
    if (choices[rank].color == color) members.push_back(static_cast<int>(rank));
  }
  const auto key = [&](int rank) { return std::pair(choices[static_cast<std::size_t>(rank)].key, rank); };
  std::sort(members.begin(), members.end(), [&](int a, int b) { return key(a) < key(b); });
}

}  // namespace librma
