/**
 * @file atomic.hpp
 * Atomic read-modify-write on integers of 4 and 8 bytes in any rank's memory.
 *
 * Functions without a suffix block until the operation is complete. Those that end in _nb return a Request,
 * and those that end in _nbi are complete after the next fence (see rma_atomic64_nb); they store the value
 * before into `*old`, unless `old` is null. All functions are thread-safe. Every function throws
 * ArgumentError if the rank or the address is wrong, or if the address is not a multiple of the integer's
 * size.
 */
#ifndef RMA_ATOMIC_HPP
#define RMA_ATOMIC_HPP

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "rma/direct.h"
#include "rma/error.hpp"
#include "rma/global_ptr.hpp"
#include "rma/request.hpp"

namespace rma::inline v0 {

/** The integer types that atomics work on: 4 or 8 bytes, but not bool. */
template <class T>
concept AtomicInteger = std::integral<T> && Transferable<T> && !std::is_same_v<T, bool> &&
                        (sizeof(T) == sizeof(std::uint32_t) || sizeof(T) == sizeof(std::uint64_t));

namespace detail {

// Signed and unsigned integers of one size may be accessed as each other.
template <AtomicInteger T>
auto* atomic_word(GlobalPtr<T> target) noexcept {
  using Word = std::conditional_t<sizeof(T) == sizeof(std::uint64_t), std::uint64_t, std::uint32_t>;
  return reinterpret_cast<Word*>(target.address());
}

template <AtomicInteger T>
T atomic(rma_atomic_op_t op, GlobalPtr<T> target, T operand, T compare) {
  if constexpr (sizeof(T) == sizeof(std::uint64_t)) {
    std::uint64_t old = 0;
    check(rma_atomic64(op, atomic_word(target), static_cast<std::uint64_t>(operand),
                       static_cast<std::uint64_t>(compare), &old, target.rank()));
    return static_cast<T>(old);
  } else {
    std::uint32_t old = 0;
    check(rma_atomic32(op, atomic_word(target), static_cast<std::uint32_t>(operand),
                       static_cast<std::uint32_t>(compare), &old, target.rank()));
    return static_cast<T>(old);
  }
}

/** Starts an operation. With a null `request`, the next fence completes it. */
template <AtomicInteger T>
void start_atomic(rma_atomic_op_t op, GlobalPtr<T> target, T operand, T compare, std::type_identity_t<T>* old,
                  rma_request_t* request) {
  auto* const word = atomic_word(target);
  using Word = std::remove_pointer_t<decltype(word)>;
  const auto given = static_cast<std::remove_const_t<Word>>(operand);
  const auto expected = static_cast<std::remove_const_t<Word>>(compare);
  auto* const before = reinterpret_cast<std::remove_const_t<Word>*>(old);
  if constexpr (sizeof(T) == sizeof(std::uint64_t)) {
    check(request != nullptr ? rma_atomic64_nb(op, word, given, expected, before, target.rank(), request)
                             : rma_atomic64_nbi(op, word, given, expected, before, target.rank()));
  } else {
    check(request != nullptr ? rma_atomic32_nb(op, word, given, expected, before, target.rank(), request)
                             : rma_atomic32_nbi(op, word, given, expected, before, target.rank()));
  }
}

template <AtomicInteger T>
Request atomic_nb(rma_atomic_op_t op, GlobalPtr<T> target, T operand, T compare,
                  std::type_identity_t<T>* old) {
  rma_request_t handle = RMA_REQUEST_NULL;
  start_atomic(op, target, operand, compare, old, &handle);
  return Request(handle);
}

}  // namespace detail

/** Adds `operand`, wrapping around on overflow, and returns the value before. For 8-byte integers in memory
 *  that this process has mapped, this is the processor's own atomic instruction, inlined. */
template <AtomicInteger T>
T fetch_add(GlobalPtr<T> target, std::type_identity_t<T> operand) {
  if constexpr (sizeof(T) == sizeof(std::uint64_t)) {
    std::uint64_t old = 0;
    check(rma_fetch_add8(detail::atomic_word(target), static_cast<std::uint64_t>(operand), &old,
                         target.rank()));
    return static_cast<T>(old);
  } else {
    return detail::atomic(RMA_FETCH_ADD, target, operand, T(0));
  }
}

/** Stores `value` and returns the value before. */
template <AtomicInteger T>
T swap(GlobalPtr<T> target, std::type_identity_t<T> value) {
  return detail::atomic(RMA_SWAP, target, value, T(0));
}

/** Stores `value` if the value before equals `expected`. Returns the value before in both cases. */
template <AtomicInteger T>
T compare_swap(GlobalPtr<T> target, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  return detail::atomic(RMA_COMPARE_SWAP, target, value, expected);
}

/** Combines the integer with `operand` by bitwise and. Returns the value before. */
template <AtomicInteger T>
T fetch_and(GlobalPtr<T> target, std::type_identity_t<T> operand) {
  return detail::atomic(RMA_AND, target, operand, T(0));
}

/** Combines the integer with `operand` by bitwise or. Returns the value before. */
template <AtomicInteger T>
T fetch_or(GlobalPtr<T> target, std::type_identity_t<T> operand) {
  return detail::atomic(RMA_OR, target, operand, T(0));
}

/** Combines the integer with `operand` by bitwise exclusive or. Returns the value before. */
template <AtomicInteger T>
T fetch_xor(GlobalPtr<T> target, std::type_identity_t<T> operand) {
  return detail::atomic(RMA_XOR, target, operand, T(0));
}

/** Stores `value`, atomically with respect to the other functions here. */
template <AtomicInteger T>
void atomic_set(GlobalPtr<T> target, std::type_identity_t<T> value) {
  static_cast<void>(detail::atomic(RMA_SET, target, value, T(0)));
}

/** Reads the value, atomically with respect to the other functions here. */
template <AtomicInteger T>
[[nodiscard]] T atomic_fetch(GlobalPtr<T> target) {
  return detail::atomic(RMA_FETCH, target, T(0), T(0));
}

// ---- Nonblocking forms ------------------------------------------------------------------------------------

/** Starts an addition. */
template <AtomicInteger T>
[[nodiscard]] Request fetch_add_nb(GlobalPtr<T> target, std::type_identity_t<T> operand,
                                   std::type_identity_t<T>* old = nullptr) {
  return detail::atomic_nb(RMA_FETCH_ADD, target, operand, T(0), old);
}
template <AtomicInteger T>
void fetch_add_nbi(GlobalPtr<T> target, std::type_identity_t<T> operand,
                   std::type_identity_t<T>* old = nullptr) {
  detail::start_atomic(RMA_FETCH_ADD, target, operand, T(0), old, nullptr);
}

/** Starts a swap. */
template <AtomicInteger T>
[[nodiscard]] Request swap_nb(GlobalPtr<T> target, std::type_identity_t<T> value,
                              std::type_identity_t<T>* old) {
  return detail::atomic_nb(RMA_SWAP, target, value, T(0), old);
}
template <AtomicInteger T>
void swap_nbi(GlobalPtr<T> target, std::type_identity_t<T> value, std::type_identity_t<T>* old) {
  detail::start_atomic(RMA_SWAP, target, value, T(0), old, nullptr);
}

/** Starts a compare_swap. */
template <AtomicInteger T>
[[nodiscard]] Request compare_swap_nb(GlobalPtr<T> target, std::type_identity_t<T> expected,
                                      std::type_identity_t<T> value, std::type_identity_t<T>* old) {
  return detail::atomic_nb(RMA_COMPARE_SWAP, target, value, expected, old);
}
template <AtomicInteger T>
void compare_swap_nbi(GlobalPtr<T> target, std::type_identity_t<T> expected, std::type_identity_t<T> value,
                      std::type_identity_t<T>* old) {
  detail::start_atomic(RMA_COMPARE_SWAP, target, value, expected, old, nullptr);
}

/** Starts an atomic_set. */
template <AtomicInteger T>
void atomic_set_nbi(GlobalPtr<T> target, std::type_identity_t<T> value) {
  detail::start_atomic(RMA_SET, target, value, T(0), nullptr, nullptr);
}

}  // namespace rma::inline v0

#endif
