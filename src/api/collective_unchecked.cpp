// The short ways of collective operations for libraries over this one (rma/unchecked.h).

#include <cstddef>

#include "api/runtime/runtime.hpp"
#include "collectives/shared_memory/exchange.hpp"
#include "collectives/team/team.hpp"
#include "rma/unchecked.h"
#include "util/statistics.hpp"

using rma::Runtime;

namespace rma {
namespace {

// The struct exists in the C interface only: its pointers are those of an Exchange.
rma_meeting_t meeting_of(Exchange* exchange) { return reinterpret_cast<rma_meeting_t>(exchange); }
Exchange& exchange_of(rma_meeting_t meeting) { return *reinterpret_cast<Exchange*>(meeting); }

/// Returns whether this process may call librma: a forked child may not.
bool is_open() { return current_runtime.load(std::memory_order_relaxed) != nullptr; }

}  // namespace
}  // namespace rma

extern "C" {

rma_meeting_t rma_team_meeting(rma_team_t team) {
  Runtime* const runtime =
      rma::current_runtime.load(std::memory_order_acquire);  // pairs with the store in rma_init
  if (runtime == nullptr || runtime->trace != nullptr) return nullptr;
  rma::Team* const members = runtime->teams->find(team);
  return members != nullptr ? rma::meeting_of(members->meeting()) : nullptr;
}

int rma_try_barrier(rma_meeting_t meeting) {
  if (!rma::is_open() || !rma::exchange_of(meeting).barrier().ok()) [[unlikely]]
    return 0;
  rma::count(rma::Counter::barrier);
  return 1;
}

int rma_try_allreduce(rma_meeting_t meeting, void* dst, const void* src, size_t count,
                      const rma_reducer_t* reducer) {
  if (!rma::is_open() ||
      !rma::exchange_of(meeting).allreduce_at_once(
          static_cast<std::byte*>(dst), static_cast<const std::byte*>(src), count, *reducer)) [[unlikely]] {
    return 0;
  }
  rma::count(rma::Counter::collective);
  return 1;
}

}  // extern "C"
