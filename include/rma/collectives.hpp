/**
 * @file collectives.hpp
 * Collective operations on teams that go on while the program computes, and those that Team has not. The
 * rules are those of collectives.h.
 *
 * Every function is collective over the team. A `_nb` form returns a Request; the program leaves the buffers
 * alone until it has waited for that. Roots are team ranks. All forms throw ArgumentError if a root or an
 * operator is wrong, and PeerLostError if a member is lost.
 */
#ifndef RMA_COLLECTIVES_HPP
#define RMA_COLLECTIVES_HPP

#include <cstddef>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>

#include "rma/collectives.h"
#include "rma/error.hpp"
#include "rma/request.hpp"
#include "rma/team.hpp"

namespace rma::inline v0 {

namespace detail {

/** Throws if an array does not hold one block of `block` elements for each member. */
inline void check_blocks(const Team& team, std::size_t whole, std::size_t block, const char* call) {
  if (whole == block * static_cast<std::size_t>(team.size())) return;
  throw_error(RMA_ERR_SIZE, std::string(call) + ": " + std::to_string(whole) + " elements for blocks of " +
                                std::to_string(block) + " of each of " + std::to_string(team.size()) +
                                " members");
}

template <class Call, class... Arguments>
[[nodiscard]] Request begin(Call call, Arguments... arguments) {
  rma_request_t handle = RMA_REQUEST_NULL;
  check(call(arguments..., &handle));
  return Request(handle);
}

}  // namespace detail

/** Starts a barrier, without a fence. */
[[nodiscard]] inline Request barrier_nb(const Team& team) {
  return detail::begin(rma_barrier_nb, team.handle());
}

/** Starts a Team::broadcast() of `range`. */
template <TransferableRange R>
[[nodiscard]] Request broadcast_nb(const Team& team, R&& range, int root) {
  const std::span data(range);
  return detail::begin(rma_broadcast_nb, team.handle(), data.data(), data.size_bytes(), root);
}

/** Gathers all members' `src` into the root's `dst`, in the order of team ranks. `dst` is empty on the other
 *  members. */
template <class T>
void gather(const Team& team, std::span<T> dst, std::span<const std::type_identity_t<T>> src, int root) {
  static_assert(Transferable<T>);
  if (team.rank() == root) detail::check_blocks(team, dst.size(), src.size(), "gather");
  check(rma_gather(team.handle(), dst.data(), src.data(), src.size_bytes(), root));
}
template <class T>
[[nodiscard]] Request gather_nb(const Team& team, std::span<T> dst,
                                std::span<const std::type_identity_t<T>> src, int root) {
  static_assert(Transferable<T>);
  if (team.rank() == root) detail::check_blocks(team, dst.size(), src.size(), "gather_nb");
  return detail::begin(rma_gather_nb, team.handle(), dst.data(), src.data(), src.size_bytes(), root);
}

/** Copies block i of the root's `src` to the `dst` of member i. `src` is empty on the other members. */
template <class T>
void scatter(const Team& team, std::span<T> dst, std::span<const std::type_identity_t<T>> src, int root) {
  static_assert(Transferable<T>);
  if (team.rank() == root) detail::check_blocks(team, src.size(), dst.size(), "scatter");
  check(rma_scatter(team.handle(), dst.data(), src.data(), dst.size_bytes(), root));
}
template <class T>
[[nodiscard]] Request scatter_nb(const Team& team, std::span<T> dst,
                                 std::span<const std::type_identity_t<T>> src, int root) {
  static_assert(Transferable<T>);
  if (team.rank() == root) detail::check_blocks(team, src.size(), dst.size(), "scatter_nb");
  return detail::begin(rma_scatter_nb, team.handle(), dst.data(), src.data(), dst.size_bytes(), root);
}

/** Starts a Team::allgather(). */
template <class T>
[[nodiscard]] Request allgather_nb(const Team& team, std::span<T> dst,
                                   std::span<const std::type_identity_t<T>> src) {
  static_assert(Transferable<T>);
  detail::check_blocks(team, dst.size(), src.size(), "allgather_nb");
  return detail::begin(rma_allgather_nb, team.handle(), dst.data(), src.data(), src.size_bytes());
}

/** Copies block i of member j's `src` to block j of member i's `dst`. The spans are equally long, and their
 *  length is a multiple of the number of members. */
template <class T>
void alltoall(const Team& team, std::span<T> dst, std::span<const std::type_identity_t<T>> src) {
  static_assert(Transferable<T>);
  const std::size_t block = src.size() / static_cast<std::size_t>(team.size());
  detail::check_blocks(team, src.size(), block, "alltoall");
  detail::check_blocks(team, dst.size(), block, "alltoall");
  check(rma_alltoall(team.handle(), dst.data(), src.data(), block * sizeof(T)));
}
template <class T>
[[nodiscard]] Request alltoall_nb(const Team& team, std::span<T> dst,
                                  std::span<const std::type_identity_t<T>> src) {
  static_assert(Transferable<T>);
  const std::size_t block = src.size() / static_cast<std::size_t>(team.size());
  detail::check_blocks(team, src.size(), block, "alltoall_nb");
  detail::check_blocks(team, dst.size(), block, "alltoall_nb");
  return detail::begin(rma_alltoall_nb, team.handle(), dst.data(), src.data(), block * sizeof(T));
}

/** Starts a Team::reduce() of `range`, element by element. */
template <TransferableRange R>
requires Accumulable<std::ranges::range_value_t<R>>
[[nodiscard]] Request reduce_nb(const Team& team, R&& range, Reduction operation, int root) {
  const std::span data(range);
  return detail::begin(rma_reduce_nb, team.handle(), data.data(), data.data(), data.size(),
                       kElementType<std::ranges::range_value_t<R>>, static_cast<rma_reduction_t>(operation),
                       root);
}
/** Starts a Team::allreduce() of `range`. All members get the same bits. */
template <TransferableRange R>
requires Accumulable<std::ranges::range_value_t<R>>
[[nodiscard]] Request allreduce_nb(const Team& team, R&& range, Reduction operation) {
  const std::span data(range);
  return detail::begin(rma_allreduce_nb, team.handle(), data.data(), data.data(), data.size(),
                       kElementType<std::ranges::range_value_t<R>>, static_cast<rma_reduction_t>(operation));
}

/** Reduces all members' `src` and stores block i of the result into the `dst` of member i. */
template <Accumulable T>
void reduce_scatter(const Team& team, std::span<T> dst, std::span<const std::type_identity_t<T>> src,
                    Reduction operation) {
  detail::check_blocks(team, src.size(), dst.size(), "reduce_scatter");
  check(rma_reduce_scatter(team.handle(), dst.data(), src.data(), dst.size(), kElementType<T>,
                           static_cast<rma_reduction_t>(operation)));
}
template <Accumulable T>
[[nodiscard]] Request reduce_scatter_nb(const Team& team, std::span<T> dst,
                                        std::span<const std::type_identity_t<T>> src, Reduction operation) {
  detail::check_blocks(team, src.size(), dst.size(), "reduce_scatter_nb");
  return detail::begin(rma_reduce_scatter_nb, team.handle(), dst.data(), src.data(), dst.size(),
                       kElementType<T>, static_cast<rma_reduction_t>(operation));
}

/** Reduces the `range` of the members 0 to i into the `range` of member i, for each member i. */
template <TransferableRange R>
requires Accumulable<std::ranges::range_value_t<R>>
void scan(const Team& team, R&& range, Reduction operation) {
  const std::span data(range);
  check(rma_scan(team.handle(), data.data(), data.data(), data.size(),
                 kElementType<std::ranges::range_value_t<R>>, static_cast<rma_reduction_t>(operation)));
}
template <TransferableRange R>
requires Accumulable<std::ranges::range_value_t<R>>
[[nodiscard]] Request scan_nb(const Team& team, R&& range, Reduction operation) {
  const std::span data(range);
  return detail::begin(rma_scan_nb, team.handle(), data.data(), data.data(), data.size(),
                       kElementType<std::ranges::range_value_t<R>>, static_cast<rma_reduction_t>(operation));
}

}  // namespace rma::inline v0

#endif
