/**
 * @file transfer.hpp
 * Typed put, get and accumulate of contiguous elements. Arguments come in memcpy's order: destination,
 * source.
 *
 * Each operation has three forms. The blocking form returns when the local buffer may be used. The `_nb` form
 * returns a Request; the local buffer may be used after the request was waited for. The `_nbi` form has no
 * request; the local buffer may be used after the next fence. All forms throw ArgumentError if the rank or
 * the address is wrong.
 */
#ifndef RMA_TRANSFER_HPP
#define RMA_TRANSFER_HPP

#include <complex>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "rma/direct.h"
#include "rma/error.hpp"
#include "rma/global_ptr.hpp"
#include "rma/request.hpp"

namespace rma::inline v0 {

// ---- Put --------------------------------------------------------------------------------------------------

/** Copies the elements of `src` to `dst`. Returns when the caller may reuse `src`. */
template <Transferable T>
void put(GlobalPtr<T> dst, std::span<const std::type_identity_t<T>> src) {
  check(rma_put(dst.address(), src.data(), src.size_bytes(), dst.rank()));
}

/** Writes one element. For a T of 8 bytes in memory that this process has mapped, this is one inlined
 *  store. */
template <Transferable T>
void put(GlobalPtr<T> dst, const std::type_identity_t<T>& value) {
  if constexpr (sizeof(T) == sizeof(std::uint64_t)) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    check(rma_put8(reinterpret_cast<std::uint64_t*>(dst.address()), bits, dst.rank()));
  } else {
    check(rma_put(dst.address(), &value, sizeof value, dst.rank()));
  }
}

template <Transferable T>
[[nodiscard]] Request put_nb(GlobalPtr<T> dst, std::span<const std::type_identity_t<T>> src) {
  rma_request_t handle = RMA_REQUEST_NULL;
  check(rma_put_nb(dst.address(), src.data(), src.size_bytes(), dst.rank(), &handle));
  return Request(handle);
}

template <Transferable T>
void put_nbi(GlobalPtr<T> dst, std::span<const std::type_identity_t<T>> src) {
  check(rma_put_nbi(dst.address(), src.data(), src.size_bytes(), dst.rank()));
}

// ---- Get --------------------------------------------------------------------------------------------------

/** Copies dst.size() elements from `src` to `dst`. Returns when they are in `dst`. */
template <class T>
void get(std::span<std::remove_const_t<T>> dst, GlobalPtr<T> src) {
  check(rma_get(dst.data(), src.address(), dst.size_bytes(), src.rank()));
}

/** Reads one element. For a T of 8 bytes in memory that this process has mapped, this is one inlined load. */
template <class T>
[[nodiscard]] std::remove_const_t<T> get(GlobalPtr<T> src) {
  std::remove_const_t<T> value;
  if constexpr (sizeof(T) == sizeof(std::uint64_t)) {
    std::uint64_t bits;
    check(rma_get8(&bits, reinterpret_cast<const std::uint64_t*>(src.address()), src.rank()));
    std::memcpy(&value, &bits, sizeof value);
  } else {
    check(rma_get(&value, src.address(), sizeof value, src.rank()));
  }
  return value;
}

template <class T>
[[nodiscard]] Request get_nb(std::span<std::remove_const_t<T>> dst, GlobalPtr<T> src) {
  rma_request_t handle = RMA_REQUEST_NULL;
  check(rma_get_nb(dst.data(), src.address(), dst.size_bytes(), src.rank(), &handle));
  return Request(handle);
}

template <class T>
void get_nbi(std::span<std::remove_const_t<T>> dst, GlobalPtr<T> src) {
  check(rma_get_nbi(dst.data(), src.address(), dst.size_bytes(), src.rank()));
}

// ---- Accumulate -------------------------------------------------------------------------------------------

namespace detail {

template <class T>
struct ElementType {};
template <>
struct ElementType<int> {
  static constexpr rma_type_t kType = RMA_INT;
};
template <>
struct ElementType<long> {
  static constexpr rma_type_t kType = RMA_LONG;
};
template <>
struct ElementType<long long> {
  static constexpr rma_type_t kType = RMA_LONG_LONG;
};
template <>
struct ElementType<float> {
  static constexpr rma_type_t kType = RMA_FLOAT;
};
template <>
struct ElementType<double> {
  static constexpr rma_type_t kType = RMA_DOUBLE;
};
template <>
struct ElementType<std::complex<float>> {
  static constexpr rma_type_t kType = RMA_COMPLEX_FLOAT;
};
template <>
struct ElementType<std::complex<double>> {
  static constexpr rma_type_t kType = RMA_COMPLEX_DOUBLE;
};

// In the C interface a null scale means 1, which saves the multiplication.
template <class T>
const T* scale_or_null(const T& scale) noexcept {
  return scale == T(1) ? nullptr : &scale;
}

}  // namespace detail

/** The element types of accumulate and reductions. */
template <class T>
concept Accumulable = requires {
  detail::ElementType<T>::kType;
};

/** The enumerator of the C interface for an element type. */
template <Accumulable T>
inline constexpr rma_type_t kElementType = detail::ElementType<T>::kType;

/** Performs dst[i] += scale * src[i] for all elements of `src`. The update of each element is atomic with
 *  respect to other accumulates. */
template <Accumulable T>
void accumulate(GlobalPtr<T> dst, std::span<const std::type_identity_t<T>> src,
                const std::type_identity_t<T>& scale = T(1)) {
  check(rma_acc(dst.address(), src.data(), src.size(), kElementType<T>, detail::scale_or_null(scale),
                dst.rank()));
}

template <Accumulable T>
[[nodiscard]] Request accumulate_nb(GlobalPtr<T> dst, std::span<const std::type_identity_t<T>> src,
                                    const std::type_identity_t<T>& scale = T(1)) {
  rma_request_t handle = RMA_REQUEST_NULL;
  check(rma_acc_nb(dst.address(), src.data(), src.size(), kElementType<T>, detail::scale_or_null(scale),
                   dst.rank(), &handle));
  return Request(handle);
}

template <Accumulable T>
void accumulate_nbi(GlobalPtr<T> dst, std::span<const std::type_identity_t<T>> src,
                    const std::type_identity_t<T>& scale = T(1)) {
  check(rma_acc_nbi(dst.address(), src.data(), src.size(), kElementType<T>, detail::scale_or_null(scale),
                    dst.rank()));
}

// ---- Completion -------------------------------------------------------------------------------------------

/** Waits until everything that this process issued to `rank` in the calling thread's completion context is
 *  visible there. Throws the first error that no
 *  other call has reported (see rma_fence). */
inline void fence(int rank) { check(rma_fence(rank)); }

/** Performs fence() for every rank. The cost grows with the number of ranks that this process has issued
 *  operations to since the last one. */
inline void fence_all() { check(rma_fence_all()); }

}  // namespace rma::inline v0

#endif
