#pragma once

#include <cstddef>
#include <span>

#include "collectives/members/collective_record.hpp"
#include "collectives/schedules/plan.hpp"
#include "rma/collectives.h"

// How the members of a team execute each collective operation. The functions add the steps of one member to
// its plan. They know no job and send nothing, so a test can execute the plans of all members by itself.
//
// A member only needs to know what the operation's text gives it: the sizes of the blocks that it sends and
// receives. The values that decide between two algorithms are the same on all members.

namespace librma {

/// Adds the steps of `collective`, whose arguments are right. Throws std::bad_alloc.
void plan_collective(Plan& plan, const rma_collective_t& collective);

/// The steps by which the members exchange and compare the records of a call (RMA_CHECK_COLLECTIVES).
void plan_comparison(Plan& plan, const CollectiveRecord& record);

/// The steps of the operations that move data. `collective` is as rma/collectives.h says.
void plan_barrier(Plan& plan);
void plan_broadcast(Plan& plan, std::byte* data, std::size_t bytes, int root);
void plan_gather(Plan& plan, const rma_collective_t& collective);
void plan_scatter(Plan& plan, const rma_collective_t& collective);
void plan_allgather(Plan& plan, const rma_collective_t& collective);
/// Gathers blocks that follow each other: block i lies from offsets[i] to offsets[i + 1] of `all`, on all
/// members. This member's own block is there already.
void plan_allgather_blocks(Plan& plan, std::byte* all, std::span<const std::size_t> offsets);
void plan_alltoall(Plan& plan, const rma_collective_t& collective);

/// The steps of an exchange of blocks between listed members.
void plan_neighbors(Plan& plan, const rma_collective_t& collective);

/// The steps of an operation between two groups of members (`first_group`).
void plan_two_groups(Plan& plan, const rma_collective_t& collective);

/// The steps of the reductions.
void plan_reduce(Plan& plan, const rma_collective_t& collective);
void plan_allreduce(Plan& plan, const rma_collective_t& collective);
void plan_reduce_scatter(Plan& plan, const rma_collective_t& collective);
/// `exclusive`: a member's result lacks its own elements.
void plan_scan(Plan& plan, const rma_collective_t& collective, bool exclusive);

}  // namespace librma
