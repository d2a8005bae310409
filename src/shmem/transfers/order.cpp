#include "shmem/transfers/order.hpp"

#include <span>

#include "rma/rma.h"
#include "shmem/job/job.hpp"
#include "shmem/teams/teams.hpp"
#include "shmem/transfers/contexts.hpp"

namespace librma::shmem {

// A put to static data may be on its way by a helper thread, and to other hosts by a device, when a store to
// mapped memory comes after it. So a fence completes them, as a quiet does.
void fence(Call call) { quiet(call); }

void quiet(Call call) {
  require_initialized(call);
  require(rma_fence_all(), call);
}

void pe_quiet(Call call, const int* pes, std::size_t count) {
  ctx_pe_quiet(call, SHMEM_CTX_DEFAULT, pes, count);
}

void ctx_fence(Call call, shmem_ctx_t ctx) { ctx_quiet(call, ctx); }

void ctx_quiet(Call call, shmem_ctx_t ctx) {
  if (!has_operations(call, ctx)) return;
  const ContextScope scope(call, ctx);
  quiet(call);
}

void ctx_pe_quiet(Call call, shmem_ctx_t ctx, const int* pes, std::size_t count) {
  if (!has_operations(call, ctx)) return;
  const ContextScope scope(call, ctx);
  for (const int pe : std::span(pes, count)) require(rma_fence(world_pe(call, ctx, pe)), call);
}

void barrier_all(Call call) {
  require_initialized(call);
  require(rma_barrier(rma_team_world()), call);
}

// librma's barrier completes this PE's operations, which a sync need not.
void sync_all(Call call) { barrier_all(call); }

int team_sync(Call call, shmem_team_t team) {
  // The standard asks for an error here, not for the end of the job.
  require_initialized(call);
  const Team* const members = find_team(team);
  if (members == nullptr) return -1;
  require(rma_barrier(members->team), call);
  return 0;
}

}  // namespace librma::shmem
