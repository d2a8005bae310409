/**
 * @file transfer.hpp
 * Contiguous put, get and accumulate, typed. Order of arguments as in memcpy: destination, source.
 *
 * Each comes in three forms: blocking; `_nb`, which returns a Request that says when the local buffer may be
 * used;
 * `_nbi`, where the next fence says so. All throw ArgumentError for a wrong rank or address.
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

// ---- Put
// ------------------------------------------------------------------------------------------------------

/** Writes the elements of `src` to `dst`; returns when `src` may be reused. */
template <Transferable T>
void put(GlobalPtr<T> dst, std::span<const std::type_identity_t<T>> src) {
  check(rma_put(dst.address(), src.data(), src.size_bytes(), dst.rank()));
}

/** Writes one element. For a T of 8 bytes in memory that is mapped here, this is one store, inlined. */
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

// ---- Get
// ------------------------------------------------------------------------------------------------------

/** Reads dst.size() elements at `src`; returns when they are there. */
template <class T>
void get(std::span<std::remove_const_t<T>> dst, GlobalPtr<T> src) {
  check(rma_get(dst.data(), src.address(), dst.size_bytes(), src.rank()));
}

/** Reads one element. For a T of 8 bytes in memory that is mapped here, this is one load, inlined. */
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

// ---- Accumulate
// -----------------------------------------------------------------------------------------------

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

// The C interface's way of saying "times one" is no scale at all, which saves the multiplication.
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

/** The C interface's name of an element type. */
template <Accumulable T>
inline constexpr rma_type_t kElementType = detail::ElementType<T>::kType;

/** dst[i] += scale * src[i]; atomic, element by element, with respect to other accumulates. */
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

// ---- Completion
// -----------------------------------------------------------------------------------------------

/** Returns when everything this process issued to `rank` is visible there. Throws the first error of an
 * implicit operation to that rank. */
inline void fence(int rank) { check(rma_fence(rank)); }

/** fence() for every rank; costs by the number of ranks written to since the last one. */
inline void fence_all() { check(rma_fence_all()); }

}  // namespace rma::inline v0

#endif
