#pragma once

#include <vector>

#include "rma/rma.h"
#include "shmem.h"
#include "shmem/job/errors.hpp"

namespace librma::shmem {

struct Team {
  rma_team_t team = nullptr;
  int me = -1;
  std::vector<int> ranks;  ///< world PEs, in the order of the team's
  shmem_team_config_t config = {};

  [[nodiscard]] int size() const { return static_cast<int>(ranks.size()); }
};

/// Makes the teams of the handles SHMEM_TEAM_WORLD and SHMEM_TEAM_SHARED. Collective.
void open_teams();
/// Removes all teams, without communication.
void close_teams();

/// Returns the team, or null for a handle that is invalid or was destroyed.
Team* find_team(shmem_team_t handle);
/// Returns the team. Ends the job if there is none.
Team& team_of(Call call, shmem_team_t handle);

/// Returns what librma says of a team.
Team describe_team(rma_team_t team, Call call);

// The calls.
int team_my_pe(Call call, shmem_team_t handle);
int team_n_pes(Call call, shmem_team_t handle);
int team_get_config(Call call, shmem_team_t handle, long mask, shmem_team_config_t* config);
int team_translate_pe(Call call, shmem_team_t from, int pe, shmem_team_t to);
int team_split_strided(Call call, shmem_team_t parent, int start, int stride, int size,
                       const shmem_team_config_t* config, long mask, shmem_team_t* made);
int team_split_2d(Call call, shmem_team_t parent, int xrange, const shmem_team_config_t* xaxis_config,
                  long xaxis_mask, shmem_team_t* xaxis, const shmem_team_config_t* yaxis_config,
                  long yaxis_mask, shmem_team_t* yaxis);
void team_destroy(Call call, shmem_team_t handle);

}  // namespace librma::shmem
