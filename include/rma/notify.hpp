/**
 * @file notify.hpp
 * Put with notification, and waiting for one.
 */
#ifndef RMA_NOTIFY_HPP
#define RMA_NOTIFY_HPP

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "rma/error.hpp"
#include "rma/global_ptr.hpp"
#include "rma/strided.hpp"

namespace rma::inline v0 {

/** How wait_until compares the value that it sees with the one given, both unsigned. */
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

/** Writes the elements of `src` to `dst`, then stores `value` to `flag`, of the same rank's heap: who sees
 * the value sees the data. Returns when `src` may be reused. */
template <Transferable T>
void put_notify(GlobalPtr<T> dst, std::span<const std::type_identity_t<T>> src, GlobalPtr<std::uint64_t> flag,
                std::uint64_t value) {
  detail::check_same_rank(dst.rank(), flag.rank());
  check(rma_put_notify(dst.address(), src.data(), src.size_bytes(), flag.address(), value, dst.rank()));
}

/** put_notify of an N-dimensional block; shape as in strided.hpp. */
template <Transferable T>
void put_strided_notify(GlobalPtr<T> dst, Strides dst_strides, const std::type_identity_t<T>* src,
                        Strides src_strides, Counts counts, GlobalPtr<std::uint64_t> flag,
                        std::uint64_t value) {
  detail::check_same_rank(dst.rank(), flag.rank());
  const detail::ByteShape<T> shape(dst_strides, src_strides, counts);
  check(rma_put_strided_notify(dst.address(), shape.dst_strides(), src, shape.src_strides(), shape.counts(),
                               shape.levels(), flag.address(), value, dst.rank()));
}

/** Sleeps until `flag`, in this process's memory, compares so with `value`; returns the value that did. */
inline std::uint64_t wait_until(const std::uint64_t& flag, Compare compare, std::uint64_t value) {
  std::uint64_t seen = 0;
  check(rma_wait_until(&flag, static_cast<rma_compare_t>(compare), value, &seen));
  return seen;
}

/** Whether `flag` compares so with `value` now. */
[[nodiscard]] inline bool test_until(const std::uint64_t& flag, Compare compare, std::uint64_t value) {
  int met = 0;
  check(rma_test_until(&flag, static_cast<rma_compare_t>(compare), value, &met));
  return met != 0;
}

}  // namespace rma::inline v0

#endif
