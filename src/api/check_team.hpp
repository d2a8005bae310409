#pragma once

#include "api/runtime/runtime.hpp"
#include "util/status.hpp"

// The checks of teams and their members (see check.hpp).

namespace librma {

class Team;

[[nodiscard, gnu::cold]] Status no_member(int team_rank, int size);

/// Finds the team of a handle.
[[nodiscard]] Status check_team(const Runtime& runtime, rma_team_t handle, Team*& team);

/// Finds the team of a handle, and checks that `team_rank` is one of its members.
[[nodiscard]] Status check_member(const Runtime& runtime, rma_team_t handle, int team_rank, Team*& team);

}  // namespace librma
