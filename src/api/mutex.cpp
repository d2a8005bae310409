// Mutexes.

#include <fmt/format.h>

#include <mutex>
#include <vector>

#include "api/call.hpp"
#include "api/check.hpp"
#include "api/fence.hpp"
#include "api/mutex_registry.hpp"
#include "collectives/collectives.hpp"

namespace rma {
namespace {

/// The set of a handle. It stays while the caller uses it: destroying it is collective.
Result<MutexHolder*> find(Runtime& runtime, rma_mutexes_t mutexes) {
  MutexHolder* const holder = runtime.mutexes.find(mutexes);
  if (holder != nullptr) return holder;
  return Status(RMA_ERR_ARGUMENT,
                fmt::format("{} is not a set of mutexes of this process", static_cast<const void*>(mutexes)));
}

Status create(Runtime& runtime, Team& team, std::size_t count, rma_mutexes_t& mutexes) {
  auto memory = MutexSet::allocate(*runtime.job, runtime.remote_mutexes.get(), count);
  struct Offer {
    MutexSet::Member member;
    bool failed = false;
  };
  const Offer mine = {.member = {.rank = runtime.job->rank(),
                                 .address = memory.ok() ? memory.value() : nullptr,
                                 .count = count},
                      .failed = !memory.ok()};
  std::vector<Offer> offers(static_cast<std::size_t>(team.size()));
  // After a failure the memory stays: members that noticed nothing may use it.
  if (Status status = allgather(team, std::span(offers), mine); !status.ok()) return status;
  std::vector<MutexSet::Member> members;
  for (const Offer& offer : offers) {
    if (offer.failed) {
      if (!memory.ok()) return std::move(memory).status();
      MutexSet::release(*runtime.job, runtime.remote_mutexes.get(), memory.value());
      return {RMA_ERR_NO_MEMORY,
              fmt::format("rank {} has no memory for {} mutexes", offer.member.rank, offer.member.count)};
    }
    members.push_back(offer.member);
  }
  MutexHolder holder;
  holder.set = std::make_unique<MutexSet>(*runtime.job, runtime.remote_mutexes.get(), members);
  holder.team = team.handle();
  holder.memory = memory.value();
  mutexes = runtime.mutexes.add(std::move(holder));
  return {};
}

/// All members learn whether all may go on, so that they destroy together or not at all.
Status destroy(Runtime& runtime, MutexHolder& holder, rma_mutexes_t& mutexes) {
  Team* const found = runtime.teams->find(holder.team);
  if (found == nullptr) return {RMA_ERR_STATE, "the team of these mutexes was freed before them"};
  Team& team = *found;
  if (Status status = barrier(team); !status.ok()) return status;  // nobody locks or unlocks any more
  Status idle = holder.set->check_idle();
  std::vector<int> busy(static_cast<std::size_t>(team.size()));
  if (Status status = allgather(team, std::span(busy), idle.ok() ? 0 : 1); !status.ok()) return status;
  if (!idle.ok()) return idle;
  for (std::size_t member = 0; member < busy.size(); ++member) {
    if (busy[member] != 0) {
      return {RMA_ERR_STATE, fmt::format("a mutex of rank {} is held or waited for",
                                         team.world_rank(static_cast<int>(member)))};
    }
  }
  MutexSet::release(*runtime.job, runtime.remote_mutexes.get(), holder.memory);
  runtime.mutexes.remove(mutexes);
  mutexes = nullptr;
  return {};
}

}  // namespace
}  // namespace rma

using rma::Runtime;
using rma::Status;

extern "C" {

rma_status_t rma_mutexes_create(rma_team_t team, size_t count, rma_mutexes_t* mutexes) {
  return rma::call(__func__, -1, 0, [&](Runtime& runtime) {
    if (Status status = rma::check_not_null(mutexes, "mutexes"); !status.ok()) return status;
    rma::Team* members = nullptr;
    if (Status status = rma::check_team(runtime, team, members); !status.ok()) return status;
    return rma::create(runtime, *members, count, *mutexes);
  });
}

rma_status_t rma_mutexes_destroy(rma_mutexes_t* mutexes) {
  return rma::call(__func__, -1, 0, [&](Runtime& runtime) {
    if (Status status = rma::check_not_null(mutexes, "mutexes"); !status.ok()) return status;
    auto holder = rma::find(runtime, *mutexes);
    if (!holder.ok()) return std::move(holder).status();
    return rma::destroy(runtime, *holder.value(), *mutexes);
  });
}

rma_status_t rma_lock(rma_mutexes_t mutexes, size_t index, int rank) {
  return rma::call(__func__, rank, 0, [&](Runtime& runtime) {
    auto holder = rma::find(runtime, mutexes);
    if (!holder.ok()) return std::move(holder).status();
    if (Status status = rma::check_rank(runtime, rank); !status.ok()) return status;
    return holder.value()->set->lock(index, rank);
  });
}

rma_status_t rma_unlock(rma_mutexes_t mutexes, size_t index, int rank) {
  return rma::call(__func__, rank, 0, [&](Runtime& runtime) {
    auto holder = rma::find(runtime, mutexes);
    if (!holder.ok()) return std::move(holder).status();
    if (Status status = rma::check_rank(runtime, rank); !status.ok()) return status;
    // The next holder is to see what this process did, also to other ranks.
    Status fenced = rma::fence_all(runtime);
    Status unlocked = holder.value()->set->unlock(index, rank);
    return unlocked.ok() ? std::move(fenced) : std::move(unlocked);
  });
}

}  // extern "C"
