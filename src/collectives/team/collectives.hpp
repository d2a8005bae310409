#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include "rma/rma.h"
#include "util/status.hpp"

// Collective operations on a team. One thread of each member calls each of them, with sizes, types, operators
// and roots that agree. The arguments have been checked: roots are team ranks, sizes do not overflow, and
// check_reduction() has accepted the type and the operator. All return RMA_ERR_PEER_LOST if a member is gone;
// the team is unusable then.

namespace librma {

class Team;

/// Returns the number of members of a team, for callers that know no more of it than this header.
[[nodiscard]] std::size_t size_of(const Team& team);

/// Returns when every member has called it. Everything that a member wrote to memory before is then visible
/// to all members.
[[nodiscard]] Status barrier(Team& team);

/// Copies `bytes` bytes of the root's `buffer` to every member's `buffer`.
[[nodiscard]] Status broadcast(Team& team, void* buffer, std::size_t bytes, int root);

/// Reduces `src` of all members, element by element, into the root's `dst`. `dst` is unused on the other
/// members and may be null there. `dst` and `src` are equal or disjoint. The order in which elements are
/// combined depends only on the team: on one host it is the order of team ranks, (((e0 op e1) op e2) ...);
/// otherwise it is that order within each host and then, or for all members, the order of plans
/// (plans_reductions.cpp).
[[nodiscard]] Status reduce(Team& team, void* dst, const void* src, std::size_t count, rma_type_t type,
                            rma_reduction_t op, int root);

/// Reduces as reduce() does, and stores the result on every member, bit for bit the same.
[[nodiscard]] Status allreduce(Team& team, void* dst, const void* src, std::size_t count, rma_type_t type,
                               rma_reduction_t op);

/// Gathers `bytes` bytes of each member, in the order of team ranks, into every member's `dst`. `src` is
/// disjoint from `dst`, or is this member's own place in it.
[[nodiscard]] Status allgather(Team& team, void* dst, const void* src, std::size_t bytes);

/// Lets all members learn whether all can go on. Returns `mine` if that is a failure. Else, if another member
/// failed, returns RMA_ERR_NO_MEMORY with a text that names the last such member. Allocates no memory if all
/// members succeeded.
[[nodiscard]] Status agree(Team& team, Status mine);

/// Performs allgather() of one value of each member. `all` has the team's size.
template <typename T>
[[nodiscard]] Status allgather(Team& team, std::span<T> all, const T& mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  return allgather(team, all.data(), &mine, sizeof(T));
}

}  // namespace librma
