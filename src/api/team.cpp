// Makes, queries and frees teams.

#include "collectives/team/team.hpp"

#include "api/call.hpp"
#include "api/check.hpp"
#include "api/check_team.hpp"
#include "util/text.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

using librma::Runtime;
using librma::Status;
using librma::Team;

extern "C" {

rma_team_t rma_team_world(void) {
  const Runtime* const runtime = librma::current_runtime.load(std::memory_order_acquire);
  return runtime != nullptr ? runtime->teams->world()->handle() : nullptr;
}

rma_status_t rma_team_create(const int* ranks, int count, rma_team_t* team) {
  return librma::call(__func__, -1, 0, [&](Runtime& runtime) -> Status {
    RMA_TRY(librma::check_not_null(team, "team"));
    RMA_TRY(librma::check_not_null(ranks, "ranks"));
    if (count <= 0)
      return {RMA_ERR_ARGUMENT, librma::text("the list has {} ranks: a team needs at least one", count)};
    RMA_TRY_ASSIGN(made, runtime.teams->create({ranks, static_cast<std::size_t>(count)}));
    *team = made->handle();
    return {};
  });
}

rma_status_t rma_team_split(rma_team_t parent, int color, int key, rma_team_t* team) {
  return librma::call(__func__, -1, 0, [&](Runtime& runtime) -> Status {
    RMA_TRY(librma::check_not_null(team, "team"));
    Team* from = nullptr;
    RMA_TRY(librma::check_team(runtime, parent, from));
    RMA_TRY_ASSIGN(made, runtime.teams->split(*from, color, key));
    *team = made != nullptr ? made->handle() : nullptr;
    return {};
  });
}

rma_status_t rma_team_free(rma_team_t* team) {
  return librma::call(__func__, -1, 0, [&](Runtime& runtime) {
    RMA_TRY(librma::check_not_null(team, "team"));
    Team* freed = nullptr;
    RMA_TRY(librma::check_team(runtime, *team, freed));
    Status status = runtime.teams->free(freed);
    if (status.ok() || status.code() == RMA_ERR_PEER_LOST) *team = nullptr;  // the team is gone
    return status;
  });
}

rma_status_t rma_team_info(rma_team_t team, int* rank, int* size) {
  return librma::call(__func__, -1, 0, [&](Runtime& runtime) {
    Team* members = nullptr;
    RMA_TRY(librma::check_team(runtime, team, members));
    if (rank != nullptr) *rank = members->rank();
    if (size != nullptr) *size = members->size();
    return Status();
  });
}

rma_status_t rma_team_world_rank(rma_team_t team, int team_rank, int* world_rank) {
  return librma::call(__func__, -1, 0, [&](Runtime& runtime) {
    Team* members = nullptr;
    RMA_TRY(librma::check_member(runtime, team, team_rank, members));
    RMA_TRY(librma::check_not_null(world_rank, "world_rank"));
    *world_rank = members->world_rank(team_rank);
    return Status();
  });
}

}  // extern "C"
