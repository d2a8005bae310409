/**
 * @file notify.hpp
 * Put with notification, and waiting for a notification.
 */
#ifndef RMA_NOTIFY_HPP
#define RMA_NOTIFY_HPP

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "rma/error.hpp"
#include "rma/global_ptr.hpp"
#include "rma/strided.hpp"

namespace rma::inline v0 {

/** Comparisons for wait_until: the flag's value is on the left, the given value on the right, both
 *  unsigned. */
enum class Compare : int {
  kEqual = RMA_EQ,
  kNotEqual = RMA_NE,
  kLess = RMA_LT,
  kLessEqual = RMA_LE,
  kGreater = RMA_GT,
  kGreaterEqual = RMA_GE,
};

namespace detail {

inline void check_same_rank(int data_rank, int flag_rank) {
  if (data_rank != flag_rank) {
    throw_error(RMA_ERR_RANK, "put with notification: the data goes to rank " + std::to_string(data_rank) +
                                  ", the flag is on rank " + std::to_string(flag_rank));
  }
}

}  // namespace detail

/** Copies the elements of `src` to `dst`, then stores `value` into `flag`, which lies in the heap of the same
 *  rank. A thread that sees the value in the flag also sees the data. Returns when the caller may reuse
 *  `src`. Throws ArgumentError (RMA_ERR_RANK) if `dst` and `flag` are on different ranks. */
template <Transferable T>
void put_notify(GlobalPtr<T> dst, std::span<const std::type_identity_t<T>> src, GlobalPtr<std::uint64_t> flag,
                std::uint64_t value) {
  detail::check_same_rank(dst.rank(), flag.rank());
  check(rma_put_notify(dst.address(), src.data(), src.size_bytes(), flag.address(), value, dst.rank()));
}

/** Does the same as put_notify for an N-dimensional block, whose shape is given as in strided.hpp. */
template <Transferable T>
void put_strided_notify(GlobalPtr<T> dst, Strides dst_strides, const std::type_identity_t<T>* src,
                        Strides src_strides, Counts counts, GlobalPtr<std::uint64_t> flag,
                        std::uint64_t value) {
  detail::check_same_rank(dst.rank(), flag.rank());
  const detail::ByteShape<T> shape(dst_strides, src_strides, counts);
  check(rma_put_strided_notify(dst.address(), shape.dst_strides(), src, shape.src_strides(), shape.counts(),
                               shape.levels(), flag.address(), value, dst.rank()));
}

/** Waits until the comparison of `flag`, in this process's memory, with `value` is true. A thread that waits
 *  long sleeps. Returns the flag's value that made the comparison true. */
inline std::uint64_t wait_until(const std::uint64_t& flag, Compare compare, std::uint64_t value) {
  std::uint64_t seen = 0;
  check(rma_wait_until(&flag, static_cast<rma_compare_t>(compare), value, &seen));
  return seen;
}

/** Waits until `met()` returns true. It loads words of this process that other ranks write, of any size and
 *  number, with acquire order. It must not throw, and calls no function of the library. A thread that waits
 *  long sleeps. */
template <std::predicate Condition>
void wait_for(Condition&& met) {
  using Called = std::remove_reference_t<Condition>;
  check(rma_wait_for([](void* context) { return (*static_cast<Called*>(context))() ? 1 : 0; },
                     const_cast<std::remove_const_t<Called>*>(std::addressof(met))));
}

/** Returns whether the comparison of `flag` with `value` is true now. */
[[nodiscard]] inline bool test_until(const std::uint64_t& flag, Compare compare, std::uint64_t value) {
  int met = 0;
  check(rma_test_until(&flag, static_cast<rma_compare_t>(compare), value, &met));
  return met != 0;
}

/** Wakes the threads of `rank` that sleep in a wait, after the program has stored to memory of the rank with
 *  its own instructions. */
inline void wake(int rank) { check(rma_wake(rank)); }

}  // namespace rma::inline v0

#endif
