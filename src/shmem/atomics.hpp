#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "rma/rma.h"
#include "shmem/job.hpp"

// Atomic operations. All element types have 4 or 8 bytes, so librma's two integers serve them by their bits. librma's
// calls also wake a PE that sleeps until the word changes.

namespace rma::shmem {

template <typename T>
using Word = std::conditional_t<sizeof(T) == sizeof(std::uint64_t), std::uint64_t, std::uint32_t>;

template <typename T>
T update(Call call, rma_atomic_op_t op, const T* target, T operand, T compare, int pe) {
  using Integer = Word<T>;
  auto* const word = reinterpret_cast<Integer*>(there(call, target, sizeof(T), pe));
  const auto given = std::bit_cast<Integer>(operand);
  const auto expected = std::bit_cast<Integer>(compare);
  Integer old = 0;
  if constexpr (sizeof(T) == sizeof(std::uint64_t)) {
    require(rma_atomic64(op, word, given, expected, &old, pe), call);
  } else {
    require(rma_atomic32(op, word, given, expected, &old, pe), call);
  }
  return std::bit_cast<T>(old);
}

/// An operation with one operand, such as RMA_FETCH_ADD. Returns the value before.
template <rma_atomic_op_t Op, typename T>
T atomic(Call call, T* dest, T value, int pe) {
  return update<T>(call, Op, dest, value, T{}, pe);
}

template <typename T>
T atomic_fetch(Call call, const T* source, int pe) {
  return update<T>(call, RMA_FETCH, source, T{}, T{}, pe);
}

template <typename T>
T atomic_increment(Call call, T* dest, int pe) {
  return update<T>(call, RMA_FETCH_ADD, dest, T{1}, T{}, pe);
}

template <typename T>
T atomic_compare_swap(Call call, T* dest, T compare, T value, int pe) {
  return update<T>(call, RMA_COMPARE_SWAP, dest, value, compare, pe);
}

// A nonblocking operation may be complete when it returns, and these are.

template <rma_atomic_op_t Op, typename T>
void atomic_nbi(Call call, T* fetch, T* dest, T value, int pe) {
  *fetch = atomic<Op, T>(call, dest, value, pe);
}

template <typename T>
void atomic_fetch_nbi(Call call, T* fetch, const T* source, int pe) {
  *fetch = atomic_fetch<T>(call, source, pe);
}

template <typename T>
void atomic_increment_nbi(Call call, T* fetch, T* dest, int pe) {
  *fetch = atomic_increment<T>(call, dest, pe);
}

template <typename T>
void atomic_compare_swap_nbi(Call call, T* fetch, T* dest, T compare, T value, int pe) {
  *fetch = atomic_compare_swap<T>(call, dest, compare, value, pe);
}

}  // namespace rma::shmem
