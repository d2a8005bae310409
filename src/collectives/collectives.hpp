#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include "collectives/reduce.hpp"
#include "collectives/team.hpp"
#include "util/status.hpp"

// Collective operations on a team. All are called by one thread of each member, with sizes, types, operators
// and roots that agree. Arguments have been checked: roots are team ranks, sizes do not overflow, and
// check_reduction() accepted type and operator. They return RMA_ERR_PEER_LOST when a member is gone, and the
// team is unusable then.

namespace rma {

/// Returns when every member has called it. What a member wrote to memory before is visible to all
/// afterwards.
[[nodiscard]] Status barrier(Team& team);

/// Copies `bytes` bytes of the root's `buffer` to everyone's.
[[nodiscard]] Status broadcast(Team& team, void* buffer, std::size_t bytes, int root);

/// Element-wise reduction to the root's `dst` (unused elsewhere, may be null). `dst` and `src` are equal or
/// disjoint. Elements are combined in an order that depends only on the team: by team rank, (((e0 op e1) op
/// e2) ...), on one host, and as MailExchange says otherwise.
[[nodiscard]] Status reduce(Team& team, void* dst, const void* src, std::size_t count, rma_type_t type,
                            rma_reduction_t op, int root);

/// As reduce(), with the result everywhere, bit for bit the same.
[[nodiscard]] Status allreduce(Team& team, void* dst, const void* src, std::size_t count, rma_type_t type,
                               rma_reduction_t op);

/// Gathers `bytes` bytes of each member, in team-rank order, into everyone's `dst`. `src` is disjoint from
/// `dst`, or its own place in it.
[[nodiscard]] Status allgather(Team& team, void* dst, const void* src, std::size_t bytes);

/// All members learn whether all may go on: their own `mine`, or where that is well, RMA_ERR_NO_MEMORY with a
/// text that names the last member that cannot. Takes no memory where all is well.
[[nodiscard]] Status agree(Team& team, Status mine);

/// allgather() of one value of each member: `all` has the team's size.
template <typename T>
[[nodiscard]] Status allgather(Team& team, std::span<T> all, const T& mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  return allgather(team, all.data(), &mine, sizeof(T));
}

}  // namespace rma
