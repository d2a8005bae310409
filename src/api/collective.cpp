// Barrier, broadcast, reductions, allgather.

#include "api/call.hpp"
#include "api/check.hpp"
#include "api/check_team.hpp"
#include "api/fence.hpp"
#include "atomics/types.hpp"
#include "collectives/members/reduce.hpp"
#include "collectives/team/collectives.hpp"
#include "collectives/team/team.hpp"
#include "rma/collectives.h"
#include "util/text.hpp"
#include "util/try.hpp"

namespace librma {
namespace {

/// Checks that the operator is defined for the type, and the buffers for `elements` elements.
Status check_reduce(rma_type_t type, rma_reduction_t op, const void* dst, const void* src,
                    std::size_t elements, bool receives) {
  RMA_TRY(check_reduction(type, op));
  if (elements == 0) return {};
  if (elements > std::numeric_limits<std::size_t>::max() / type_size(type)) {
    return {RMA_ERR_SIZE, text("{} elements of {} bytes overflow a size", elements, type_size(type))};
  }
  const std::size_t bytes = elements * type_size(type);
  if (receives) {
    RMA_TRY(check_range(dst, bytes, "dst"));
    RMA_TRY(check_aligned(dst, type_alignment(type)));
  }
  RMA_TRY(check_range(src, bytes, "src"));
  return check_aligned(src, type_alignment(type));
}

/// These compare a call with those of the other members (RMA_CHECK_COLLECTIVES).
Status compare_calls(Team& team, const char* name, rma_collective_kind_t kind, std::size_t bytes = 0,
                     int root = 0) {
  rma_collective_t collective = {};
  collective.name = name;
  collective.kind = kind;
  collective.bytes = bytes;
  collective.root = root;
  return team.check(collective);
}
Status compare_reductions(Team& team, const char* name, rma_collective_kind_t kind, std::size_t elements,
                          rma_type_t type, rma_reduction_t op, int root = 0) {
  rma_collective_t collective = {};
  collective.name = name;
  collective.kind = kind;
  collective.count = elements;
  collective.root = root;
  collective.reducer.element_bytes = type_size(type);
  collective.reduction = reduction_name(type, op);
  return team.check(collective);
}

}  // namespace

extern "C" {

rma_status_t rma_barrier(rma_team_t team) {
  return call(__func__, -1, 0, [&](Runtime& runtime) {
    Team* members = nullptr;
    RMA_TRY(check_team(runtime, team, members));
    if (members->checks()) [[unlikely]] {
      RMA_TRY(compare_calls(*members, "rma_barrier", RMA_COLLECTIVE_BARRIER));
    }
    Status fenced = fence_all_contexts(runtime);
    // The others wait for this member, so it makes the barrier even if its fence failed.
    Status met = barrier(*members);
    return met.ok() ? std::move(fenced) : std::move(met);
  });
}

rma_status_t rma_broadcast(rma_team_t team, void* buffer, size_t bytes, int root) {
  return call(__func__, root, bytes, [&](Runtime& runtime) {
    Team* members = nullptr;
    RMA_TRY(check_member(runtime, team, root, members));
    if (members->checks()) [[unlikely]] {
      RMA_TRY(compare_calls(*members, "rma_broadcast", RMA_COLLECTIVE_BROADCAST, bytes, root));
    }
    if (bytes == 0) return Status();
    RMA_TRY(check_range(buffer, bytes, "buffer"));
    return broadcast(*members, buffer, bytes, root);
  });
}

rma_status_t rma_reduce(rma_team_t team, void* dst, const void* src, size_t count, rma_type_t type,
                        rma_reduction_t op, int root) {
  return call(__func__, root, 0, [&](Runtime& runtime) {
    Team* members = nullptr;
    RMA_TRY(check_member(runtime, team, root, members));
    const bool receives = members->rank() == root;
    RMA_TRY(check_reduce(type, op, dst, src, count, receives));
    if (members->checks()) [[unlikely]] {
      RMA_TRY(compare_reductions(*members, "rma_reduce", RMA_COLLECTIVE_REDUCE, count, type, op, root));
    }
    if (count == 0) return Status();
    return reduce(*members, dst, src, count, type, op, root);
  });
}

rma_status_t rma_allreduce(rma_team_t team, void* dst, const void* src, size_t count, rma_type_t type,
                           rma_reduction_t op) {
  return call(__func__, -1, 0, [&](Runtime& runtime) {
    Team* members = nullptr;
    RMA_TRY(check_team(runtime, team, members));
    RMA_TRY(check_reduce(type, op, dst, src, count, true));
    if (members->checks()) [[unlikely]] {
      RMA_TRY(compare_reductions(*members, "rma_allreduce", RMA_COLLECTIVE_ALLREDUCE, count, type, op));
    }
    if (count == 0) return Status();
    return allreduce(*members, dst, src, count, type, op);
  });
}

rma_status_t rma_allgather(rma_team_t team, void* dst, const void* src, size_t bytes) {
  return call(__func__, -1, bytes, [&](Runtime& runtime) -> Status {
    Team* members = nullptr;
    RMA_TRY(check_team(runtime, team, members));
    if (members->checks()) [[unlikely]] {
      RMA_TRY(compare_calls(*members, "rma_allgather", RMA_COLLECTIVE_ALLGATHER, bytes));
    }
    if (bytes == 0) return {};
    const auto size = static_cast<std::size_t>(members->size());
    if (bytes > std::numeric_limits<std::size_t>::max() / size) {
      return {RMA_ERR_SIZE, text("{} bytes from each of {} members overflow a size", bytes, size)};
    }
    RMA_TRY(check_range(dst, bytes * size, "dst"));
    RMA_TRY(check_range(src, bytes, "src"));
    return allgather(*members, dst, src, bytes);
  });
}

}  // extern "C"

}  // namespace librma
