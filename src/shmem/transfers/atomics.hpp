#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "rma/rma.h"
#include "shmem/job/job.hpp"

// Atomic operations. All element types have 4 or 8 bytes, so librma's two integers serve them by their bits.
// librma's calls also wake a PE that sleeps until the word changes.

namespace librma::shmem {

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

/// Starts an operation. librma stores the value before into `*fetch`, which may be null, when it completes.
template <typename T>
void start(Call call, rma_atomic_op_t op, T* fetch, const T* target, T operand, T compare, int pe) {
  using Integer = Word<T>;
  auto* const word = reinterpret_cast<Integer*>(there(call, target, sizeof(T), pe));
  auto* const old = reinterpret_cast<Integer*>(fetch);
  const auto given = std::bit_cast<Integer>(operand);
  const auto expected = std::bit_cast<Integer>(compare);
  if constexpr (sizeof(T) == sizeof(std::uint64_t)) {
    require(rma_atomic64_nbi(op, word, given, expected, old, pe), call);
  } else {
    require(rma_atomic32_nbi(op, word, given, expected, old, pe), call);
  }
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
T atomic_fetch_increment(Call call, T* dest, int pe) {
  return update<T>(call, RMA_FETCH_ADD, dest, T{1}, T{}, pe);
}

template <typename T>
T atomic_compare_swap(Call call, T* dest, T compare, T value, int pe) {
  return update<T>(call, RMA_COMPARE_SWAP, dest, value, compare, pe);
}

// An operation that returns no value is complete after the next quiet, and so is a nonblocking one.

template <rma_atomic_op_t Op, typename T>
void atomic_post(Call call, T* dest, T value, int pe) {
  start<T>(call, Op, nullptr, dest, value, T{}, pe);
}

template <typename T>
void atomic_increment(Call call, T* dest, int pe) {
  start<T>(call, RMA_FETCH_ADD, nullptr, dest, T{1}, T{}, pe);
}

template <rma_atomic_op_t Op, typename T>
void atomic_nbi(Call call, T* fetch, T* dest, T value, int pe) {
  start<T>(call, Op, fetch, dest, value, T{}, pe);
}

template <typename T>
void atomic_fetch_nbi(Call call, T* fetch, const T* source, int pe) {
  start<T>(call, RMA_FETCH, fetch, source, T{}, T{}, pe);
}

template <typename T>
void atomic_fetch_increment_nbi(Call call, T* fetch, T* dest, int pe) {
  start<T>(call, RMA_FETCH_ADD, fetch, dest, T{1}, T{}, pe);
}

template <typename T>
void atomic_compare_swap_nbi(Call call, T* fetch, T* dest, T compare, T value, int pe) {
  start<T>(call, RMA_COMPARE_SWAP, fetch, dest, value, compare, pe);
}

}  // namespace librma::shmem
