/**
 * @file atomic.hpp
 * Atomic read-modify-write on integers of 4 and 8 bytes in any rank's memory.
 *
 * Every function is blocking and thread-safe. Every function throws ArgumentError if the rank or the address
 * is wrong, or if the address is not a multiple of the integer's size.
 */
#ifndef RMA_ATOMIC_HPP
#define RMA_ATOMIC_HPP

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "rma/direct.h"
#include "rma/error.hpp"
#include "rma/global_ptr.hpp"

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

}  // namespace rma::inline v0

#endif
