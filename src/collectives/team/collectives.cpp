#include "collectives/team/collectives.hpp"

#include "collectives/members/reduce.hpp"
#include "collectives/team/team.hpp"
#include "util/text.hpp"

namespace librma {

namespace {

/// Returns a reduction in the general form.
rma_collective_t reduction(rma_collective_kind_t kind, void* dst, const void* src, std::size_t elements,
                           rma_type_t type, rma_reduction_t op) {
  rma_collective_t collective = {};
  collective.kind = kind;
  collective.dst = dst;
  collective.src = src;
  collective.count = elements;
  collective.reducer = reducer_of(type, op);
  return collective;
}

}  // namespace

std::size_t size_of(const Team& team) { return static_cast<std::size_t>(team.size()); }

Status barrier(Team& team) { return team.barrier(); }

Status broadcast(Team& team, void* buffer, std::size_t bytes, int root) {
  rma_collective_t collective = {};
  collective.kind = RMA_COLLECTIVE_BROADCAST;
  collective.root = root;
  collective.dst = buffer;
  collective.bytes = bytes;
  return team.run(collective);
}

Status reduce(Team& team, void* dst, const void* src, std::size_t elements, rma_type_t type,
              rma_reduction_t op, int root) {
  rma_collective_t collective = reduction(RMA_COLLECTIVE_REDUCE, dst, src, elements, type, op);
  collective.root = root;
  return team.run(collective);
}

Status allreduce(Team& team, void* dst, const void* src, std::size_t elements, rma_type_t type,
                 rma_reduction_t op) {
  return team.run(reduction(RMA_COLLECTIVE_ALLREDUCE, dst, src, elements, type, op));
}

Status allgather(Team& team, void* dst, const void* src, std::size_t bytes) {
  rma_collective_t collective = {};
  collective.kind = RMA_COLLECTIVE_ALLGATHER;
  collective.dst = dst;
  collective.src = src;
  collective.bytes = bytes;
  return team.run(collective);
}

Status agree(Team& team, Status mine) {
  const int failed = mine.ok() ? 0 : team.rank() + 1;
  int last_failed = 0;
  Status told = allreduce(team, &last_failed, &failed, 1, RMA_INT, RMA_MAX);
  if (!mine.ok()) return mine;
  if (!told.ok()) return told;
  if (last_failed == 0) return {};
  return {RMA_ERR_NO_MEMORY,
          text("rank {} has no memory for its part, so none has one; its own error says why",
               team.world_rank(last_failed - 1))};
}

}  // namespace librma
