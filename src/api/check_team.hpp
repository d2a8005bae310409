#pragma once

#include "api/runtime/runtime.hpp"
#include "collectives/team/team.hpp"
#include "util/status.hpp"
#include "util/try.hpp"

// The checks of teams and their members (see check.hpp).

namespace rma {

[[nodiscard, gnu::cold]] Status no_team(rma_team_t handle);
[[nodiscard, gnu::cold]] Status no_member(int team_rank, int size);

/// Finds the team of a handle.
[[nodiscard]] inline Status check_team(const Runtime& runtime, rma_team_t handle, Team*& team) {
  team = runtime.teams->find(handle);
  if (team == nullptr) [[unlikely]]
    return no_team(handle);
  return {};
}

/// Finds the team of a handle, and checks that `team_rank` is one of its members.
[[nodiscard]] inline Status check_member(const Runtime& runtime, rma_team_t handle, int team_rank,
                                         Team*& team) {
  RMA_TRY(check_team(runtime, handle, team));
  const int size = team->size();
  if (static_cast<unsigned>(team_rank) >= static_cast<unsigned>(size)) [[unlikely]]
    return no_member(team_rank, size);
  return {};
}

}  // namespace rma
