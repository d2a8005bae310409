// The general form of collective operations (rma/collectives.h), and attached teams.

#include "api/call.hpp"
#include "api/check.hpp"
#include "api/check_collective.hpp"
#include "api/check_team.hpp"
#include "api/message_call.hpp"
#include "api/runtime/persistent.hpp"
#include "rma/collectives.h"
#include "util/try.hpp"
#include "util/try_assign.hpp"

using rma::Runtime;
using rma::Status;
using rma::Team;

extern "C" {

rma_status_t rma_collective_run(rma_team_t team, const rma_collective_t* collective) {
  return rma::call(__func__, -1, 0, [&](Runtime& runtime) -> Status {
    Team* members = nullptr;
    RMA_TRY(rma::check_team(runtime, team, members));
    RMA_TRY(rma::check_not_null(collective, "collective"));
    RMA_TRY(rma::check_collective(*members, *collective));
    if (members->checks()) [[unlikely]] {
      RMA_TRY(members->check(*collective));
    }
    return members->run(*collective);
  });
}

rma_status_t rma_collective_nb(rma_team_t team, const rma_collective_t* collective, rma_request_t* request) {
  return rma::call(__func__, -1, 0, [&](Runtime& runtime) -> Status {
    Team* members = nullptr;
    RMA_TRY(rma::check_request(request));
    RMA_TRY(rma::check_team(runtime, team, members));
    RMA_TRY(rma::check_not_null(collective, "collective"));
    RMA_TRY(rma::check_collective(*members, *collective));
    return members->start(*collective, request);
  });
}

rma_status_t rma_collective_init(rma_team_t team, const rma_collective_t* collective,
                                 rma_persistent_t* persistent) {
  return rma::call(__func__, -1, 0, [&](Runtime& runtime) -> Status {
    Team* members = nullptr;
    RMA_TRY(rma::check_not_null(persistent, "persistent"));
    *persistent = nullptr;
    RMA_TRY(rma::check_team(runtime, team, members));
    RMA_TRY(rma::check_not_null(collective, "collective"));
    RMA_TRY(rma::check_collective(*members, *collective));
    RMA_TRY_ASSIGN(planned, members->plan(*collective));
    *persistent = rma::persistent_handle(runtime.persistents
                                             ->make([&](rma::PersistentOperation& one) {
                                               one.kind = rma::PersistentOperation::Kind::collective;
                                               one.collective = std::move(planned);
                                             })
                                             .name);
    return {};
  });
}

rma_status_t rma_team_attach(const int* ranks, int count, uint32_t context, rma_team_t* team) {
  return rma::call(__func__, -1, 0, [&](Runtime& runtime) -> Status {
    RMA_TRY(rma::check_not_null(team, "team"));
    RMA_TRY(rma::check_not_null(ranks, "ranks"));
    if (count <= 0)
      return {RMA_ERR_ARGUMENT, rma::text("the list has {} ranks: a team needs at least one", count)};
    if (context > RMA_CONTEXT_LAST)
      return {RMA_ERR_ARGUMENT, rma::text("the context {:#x} is above RMA_CONTEXT_LAST", context)};
    RMA_TRY_ASSIGN(made, runtime.teams->attach({ranks, static_cast<std::size_t>(count)}, context));
    *team = made->handle();
    return {};
  });
}

}  // extern "C"
