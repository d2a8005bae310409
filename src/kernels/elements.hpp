#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace librma::kernels {

/// The machine types that the elements of arrays are.
enum class Element : std::uint8_t {
  kNone,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kInt128,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kUint128,
  kFloat16,
  kFloat32,
  kFloat64,
  kLongDouble,
  kFloat128,
  kFloatInt,
  kDoubleInt,
  kLongInt,
  kTwoInt,
  kShortInt,
  kLongDoubleInt,
  kTwoFloat,
  kTwoDouble,
};
inline constexpr std::size_t kElements = static_cast<std::size_t>(Element::kTwoDouble) + 1;

/// A value and where it was found. MPI gives its pairs the layout of this struct.
template <class Value, class Index>
struct Pair {
  Value value;
  Index index;
};

/// Returns the element that holds an integer of `size` bytes.
constexpr Element integer_element(std::size_t size, bool is_signed) {
  switch (size) {
    case 1:
      return is_signed ? Element::kInt8 : Element::kUint8;
    case 2:
      return is_signed ? Element::kInt16 : Element::kUint16;
    case 4:
      return is_signed ? Element::kInt32 : Element::kUint32;
    case 8:
      return is_signed ? Element::kInt64 : Element::kUint64;
    default:
      return is_signed ? Element::kInt128 : Element::kUint128;
  }
}

template <class T>
inline constexpr bool kIsComplex = false;
template <class T>
inline constexpr bool kIsComplex<std::complex<T>> = true;

/// Returns the element that holds an arithmetic type of C++, or a part of a complex type.
template <class T>
constexpr Element element_of() {
  if constexpr (kIsComplex<T>) {
    return element_of<typename T::value_type>();
  } else if constexpr (std::is_integral_v<T>) {
    return integer_element(sizeof(T), std::is_signed_v<T>);
  } else {
    static_assert(std::is_floating_point_v<T>);
    if (std::is_same_v<T, long double>) return Element::kLongDouble;
    return std::is_same_v<T, double> ? Element::kFloat64 : Element::kFloat32;
  }
}

}  // namespace librma::kernels
