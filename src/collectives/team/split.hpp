#pragma once

#include <span>
#include <vector>

namespace librma {

/// The arguments of one member of a team that is split.
struct SplitChoice {
  int color = 0;
  int key = 0;
};

/// Stores the members of the team of `color` into `members`, as ranks of the parent, in their new order: by
/// key, then by parent rank. `choices` is by parent rank. Does not allocate if `members` has room for as many
/// as `choices`.
void split_members(std::span<const SplitChoice> choices, int color, std::vector<int>& members);

}  // namespace librma
