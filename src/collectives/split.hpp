#pragma once

#include <span>
#include <vector>

namespace rma {

/// What one member of a team that is split asks for.
struct SplitChoice {
  int color = 0;
  int key = 0;
};

/// The members, as ranks of the parent, of the team of `color`, in their new order: by key, then by parent
/// rank. `choices` is by parent rank.
[[nodiscard]] std::vector<int> split_members(std::span<const SplitChoice> choices, int color);

}  // namespace rma
