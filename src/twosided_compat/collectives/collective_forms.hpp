#pragma once

#include <memory>
#include <utility>

#include "mpi.h"
#include "twosided_compat/collectives/collective_call.hpp"
#include "twosided_compat/messages/requests.hpp"
#include "twosided_compat/objects/errors.hpp"
#include "util/try.hpp"

// The three forms of a collective call. `fill` checks the arguments of the program and fills the call in with
// them: it calls the function of CollectiveCall that has the operation's name.

namespace librma::mpi {

/// Executes a blocking call.
template <typename Fill>
[[nodiscard]] int run_collective(const Fill& fill) {
  CollectiveCall call;
  RMA_TRY(fill(call));
  return call.run();
}

/// Makes a nonblocking call and starts it.
template <typename Fill>
[[nodiscard]] int start_collective(MPI_Request* made, const Fill& fill) {
  if (made == nullptr) return failure(MPI_ERR_ARG, "request is null");
  auto call = std::make_unique<CollectiveCall>();
  RMA_TRY(fill(*call));
  auto request = std::make_unique<Request>(Request::Type::kCollective, call->comm());
  CollectiveCall& started = *call;
  request->become<std::unique_ptr<CollectiveOperation>>(std::move(call));
  RMA_TRY(started.start(&request->pending));
  *made = request.release()->handle<MPI_Request>();
  return MPI_SUCCESS;
}

/// Makes a persistent call: a request that starts it again and again.
template <typename Fill>
[[nodiscard]] int plan_collective(MPI_Request* made, const Fill& fill) {
  if (made == nullptr) return failure(MPI_ERR_ARG, "request is null");
  auto call = std::make_unique<CollectiveCall>();
  RMA_TRY(fill(*call));
  RMA_TRY(call->plan());
  auto request = std::make_unique<Request>(Request::Type::kCollective, call->comm());
  request->extra().start = [planned = call.get()](Request& self) {
    self.ended = false;
    self.code = MPI_SUCCESS;
    return planned->restart(&self.pending);
  };
  request->become<std::unique_ptr<CollectiveOperation>>(std::move(call));
  request->active = false;
  *made = request.release()->handle<MPI_Request>();
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
