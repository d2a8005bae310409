#include "collectives/split.hpp"

#include <algorithm>

namespace rma {

std::vector<int> split_members(std::span<const SplitChoice> choices, int color) {
  std::vector<int> members;
  for (std::size_t rank = 0; rank < choices.size(); ++rank) {
    if (choices[rank].color == color) members.push_back(static_cast<int>(rank));
  }
  const auto key = [&](int rank) { return choices[static_cast<std::size_t>(rank)].key; };
  std::stable_sort(members.begin(), members.end(), [&](int a, int b) { return key(a) < key(b); });
  return members;
}

}  // namespace rma
