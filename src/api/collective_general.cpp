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

using librma::Runtime;
using librma::Status;
using librma::Team;

extern "C" {

rma_status_t rma_collective_run(rma_team_t team, const rma_collective_t* collective) {
  return librma::call(__func__, -1, 0, [&](Runtime& runtime) -> Status {
    Team* members = nullptr;
    RMA_TRY(librma::check_team(runtime, team, members));
    RMA_TRY(librma::check_not_null(collective, "collective"));
    RMA_TRY(librma::check_collective(*members, *collective));
    if (members->checks()) [[unlikely]] {
      RMA_TRY(members->check(*collective));
    }
    return members->run(*collective);
  });
}

rma_status_t rma_collective_nb(rma_team_t team, const rma_collective_t* collective, rma_request_t* request) {
  return librma::call(__func__, -1, 0, [&](Runtime& runtime) -> Status {
    Team* members = nullptr;
    RMA_TRY(librma::check_request(request));
    RMA_TRY(librma::check_team(runtime, team, members));
    RMA_TRY(librma::check_not_null(collective, "collective"));
    RMA_TRY(librma::check_collective(*members, *collective));
    return members->start(*collective, request);
  });
}

rma_status_t rma_collective_init(rma_team_t team, const rma_collective_t* collective,
                                 rma_persistent_t* persistent) {
  return librma::call(__func__, -1, 0, [&](Runtime& runtime) -> Status {
    Team* members = nullptr;
    RMA_TRY(librma::check_not_null(persistent, "persistent"));
    *persistent = nullptr;
    RMA_TRY(librma::check_team(runtime, team, members));
    RMA_TRY(librma::check_not_null(collective, "collective"));
    RMA_TRY(librma::check_collective(*members, *collective));
    RMA_TRY_ASSIGN(planned, members->plan(*collective));
    *persistent = librma::persistent_handle(runtime.persistents
                                                ->make([&](librma::PersistentOperation& operation) {
                                                  operation.kind =
                                                      librma::PersistentOperation::Kind::collective;
                                                  operation.collective = std::move(planned);
                                                })
                                                .name);
    return {};
  });
}

rma_status_t rma_team_attach(const int* ranks, int count, uint32_t context, rma_team_t* team) {
  return librma::call(__func__, -1, 0, [&](Runtime& runtime) -> Status {
    RMA_TRY(librma::check_not_null(team, "team"));
    RMA_TRY(librma::check_not_null(ranks, "ranks"));
    if (count <= 0)
      return {RMA_ERR_ARGUMENT, librma::text("the list has {} ranks: a team needs at least one", count)};
    if (context > RMA_CONTEXT_LAST)
      return {RMA_ERR_ARGUMENT, librma::text("the context {:#x} is above RMA_CONTEXT_LAST", context)};
    RMA_TRY_ASSIGN(made, runtime.teams->attach({ranks, static_cast<std::size_t>(count)}, context));
    *team = made->handle();
    return {};
  });
}

}  // extern "C"
