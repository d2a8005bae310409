// The short ways of collective operations for libraries over this one (rma/unchecked.h).

#include <cstddef>

#include "api/runtime/runtime.hpp"
#include "collectives/shared_memory/exchange.hpp"
#include "collectives/team/team.hpp"
#include "rma/unchecked.h"
#include "util/statistics.hpp"

using librma::Runtime;

namespace librma {
namespace {

// The struct exists in the C interface only: its pointers are those of an Exchange.
rma_meeting_t meeting_of(SharedExchange* exchange) { return reinterpret_cast<rma_meeting_t>(exchange); }
SharedExchange& exchange_of(rma_meeting_t meeting) { return *reinterpret_cast<SharedExchange*>(meeting); }

/// Returns whether this process may call librma: a forked child may not.
bool is_open() { return current_runtime.load(std::memory_order_relaxed) != nullptr; }

}  // namespace
}  // namespace librma

extern "C" {

rma_meeting_t rma_team_meeting(rma_team_t team) {
  Runtime* const runtime =
      librma::current_runtime.load(std::memory_order_acquire);  // pairs with the store in rma_init
  if (runtime == nullptr || runtime->trace != nullptr) return nullptr;
  librma::Team* const members = runtime->teams->find(team);
  return members != nullptr ? librma::meeting_of(members->meeting()) : nullptr;
}

int rma_try_barrier(rma_meeting_t meeting) {
  if (!librma::is_open() || !librma::exchange_of(meeting).barrier().ok()) [[unlikely]]
    return 0;
  librma::count(librma::Counter::barrier);
  return 1;
}

int rma_try_allreduce(rma_meeting_t meeting, void* dst, const void* src, size_t count,
                      const rma_reducer_t* reducer) {
  if (!librma::is_open() ||
      !librma::exchange_of(meeting).allreduce_at_once(
          static_cast<std::byte*>(dst), static_cast<const std::byte*>(src), count, *reducer)) [[unlikely]] {
    return 0;
  }
  librma::count(librma::Counter::collective);
  return 1;
}

}  // extern "C"
