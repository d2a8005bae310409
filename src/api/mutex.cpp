// Mutexes.

#include <mutex>
#include <vector>

#include "api/call.hpp"
#include "api/check.hpp"
#include "api/check_team.hpp"
#include "api/fence.hpp"
#include "api/runtime/mutex_registry.hpp"
#include "atomics/remote_mutexes.hpp"
#include "collectives/team/collectives.hpp"
#include "core/one_sided/remote_access.hpp"
#include "util/text.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma {
namespace {

/// Returns the set of a handle. It exists while the caller uses it, because destroying it is collective.
Result<MutexHolder*> find(Runtime& runtime, rma_mutexes_t mutexes) {
  MutexHolder* const holder = runtime.mutexes->find(mutexes);
  if (holder != nullptr) return holder;
  return Status(RMA_ERR_ARGUMENT, text("{} is not a set of mutexes of this process, or was destroyed",
                                       static_cast<const void*>(mutexes)));
}

/// Makes the mutexes of the team that has a handle.
Status create(Runtime& runtime, rma_team_t team_handle, std::size_t count, rma_mutexes_t& mutexes) {
  Team* found = nullptr;
  RMA_TRY(check_team(runtime, team_handle, found));
  Team& team = *found;
  MutexSet::Member mine = {.rank = runtime.job->rank(), .address = nullptr, .count = count};
  std::vector<MutexSet::Member> members;
  rma_mutexes_t handle = nullptr;
  MutexHolder* holder = nullptr;
  // Allocates all memory before any communication.
  Status status = unless_exhausted([&]() -> Status {
    members.resize(size_of(team));
    handle = runtime.mutexes->add(team_handle);
    holder = runtime.mutexes->find(handle);
    holder->set = std::make_unique<MutexSet>(*runtime.job, runtime.remote_mutexes.get());
    RMA_TRY_ASSIGN(memory, MutexSet::allocate(*runtime.job, runtime.remote_mutexes.get(), count));
    mine.address = memory;
    return {};
  });
  status = agree(team, std::move(status));
  if (status.ok()) status = allgather(team, std::span(members), mine);
  if (!status.ok()) {
    // After another failure the memory stays, because members that have not seen the failure may use it.
    if (status.code() == RMA_ERR_NO_MEMORY || status.code() == RMA_ERR_SIZE) {
      MutexSet::release(*runtime.job, runtime.remote_mutexes.get(), mine.address);
    }
    runtime.mutexes->remove(handle);
    return status;
  }
  for (const MutexSet::Member& member : members) holder->set->place(member);
  holder->memory = mine.address;
  mutexes = handle;
  return {};
}

/// Destroys the mutexes. All members learn whether all can go on, so that they destroy together or not at
/// all.
Status destroy(Runtime& runtime, MutexHolder& holder, rma_mutexes_t& mutexes) {
  Team* found = nullptr;
  if (!check_team(runtime, holder.team, found).ok())
    return {RMA_ERR_STATE, "the team of these mutexes was freed before the mutexes"};
  Team& team = *found;
  RMA_TRY(barrier(team));  // no member locks or unlocks any more
  Status idle = holder.set->check_idle();
  const int mine = idle.ok() ? -1 : runtime.job->rank();
  int busy = -1;
  RMA_TRY(allreduce(team, &busy, &mine, 1, RMA_INT, RMA_MAX));
  if (!idle.ok()) return idle;
  if (busy >= 0) return {RMA_ERR_STATE, text("a mutex of rank {} is held or waited for", busy)};
  MutexSet::release(*runtime.job, runtime.remote_mutexes.get(), holder.memory);
  runtime.mutexes->remove(mutexes);
  mutexes = nullptr;
  return {};
}

}  // namespace

extern "C" {

rma_status_t rma_mutexes_create(rma_team_t team, size_t count, rma_mutexes_t* mutexes) {
  return call(__func__, -1, 0, [&](Runtime& runtime) {
    RMA_TRY(check_not_null(mutexes, "mutexes"));
    return create(runtime, team, count, *mutexes);
  });
}

rma_status_t rma_mutexes_destroy(rma_mutexes_t* mutexes) {
  return call(__func__, -1, 0, [&](Runtime& runtime) {
    RMA_TRY(check_not_null(mutexes, "mutexes"));
    RMA_TRY_ASSIGN(holder, find(runtime, *mutexes));
    return destroy(runtime, *holder, *mutexes);
  });
}

rma_status_t rma_lock(rma_mutexes_t mutexes, size_t index, int rank) {
  return call(__func__, rank, 0, [&](Runtime& runtime) {
    RMA_TRY_ASSIGN(holder, find(runtime, mutexes));
    RMA_TRY(check_rank(runtime, rank));
    return holder->set->lock(index, rank);
  });
}

rma_status_t rma_unlock(rma_mutexes_t mutexes, size_t index, int rank) {
  return call(__func__, rank, 0, [&](Runtime& runtime) {
    RMA_TRY_ASSIGN(holder, find(runtime, mutexes));
    RMA_TRY(check_rank(runtime, rank));
    // Makes this process's effects, also those at other ranks, visible to the next holder.
    Status fenced = fence_all_contexts(runtime);
    Status unlocked = holder->set->unlock(index, rank);
    return unlocked.ok() ? std::move(fenced) : std::move(unlocked);
  });
}

}  // extern "C"

}  // namespace librma
