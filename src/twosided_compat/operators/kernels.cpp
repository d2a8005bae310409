// The loops of the predefined operators. Each is a template over the machine type, simple enough for the
// compiler to vectorize.

#include "twosided_compat/operators/kernels.hpp"

#include <cstring>
#include <type_traits>

namespace rma::mpi {
namespace {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

/// The type in which integers are added and multiplied: unsigned, because there overflow is defined, and not
/// smaller than int, to which smaller types would be promoted.
template <class T>
struct Wrapping {
  using Type =
      std::conditional_t<sizeof(T) <= sizeof(unsigned), unsigned,
                         std::conditional_t<sizeof(T) <= sizeof(std::uint64_t), std::uint64_t, Uint128>>;
};

// The operators on two values. The template argument says whether T is an integer.
template <bool kInteger>
struct Sum {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (kInteger) {
      using Wide = typename Wrapping<T>::Type;
      return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b));
    } else {
      return static_cast<T>(a + b);
    }
  }
};
template <bool kInteger>
struct Product {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (kInteger) {
      using Wide = typename Wrapping<T>::Type;
      return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b));
    } else {
      return static_cast<T>(a * b);
    }
  }
};
struct Smaller {
  template <class T>
  static T apply(T a, T b) {
    return a < b ? a : b;
  }
};
struct Larger {
  template <class T>
  static T apply(T a, T b) {
    return a > b ? a : b;
  }
};
struct BitAnd {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct BitOr {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct BitXor {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
// Every value but 0 is true; the result is 1 or 0, as C and gfortran have it.
struct LogicalAnd {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>((a != 0) & (b != 0));
  }
};
struct LogicalOr {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>((a != 0) | (b != 0));
  }
};
struct LogicalXor {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>((a != 0) != (b != 0));
  }
};

/// A complex number as C, C++ and Fortran store it. Its product is the textbook's: Annex G's rules for
/// infinities would cost a call for each element.
template <class T>
struct Complex {
  T real;
  T imaginary;
};
struct ComplexProduct {
  template <class T>
  static Complex<T> apply(Complex<T> a, Complex<T> b) {
    return {static_cast<T>(a.real * b.real - a.imaginary * b.imaginary),
            static_cast<T>(a.real * b.imaginary + a.imaginary * b.real)};
  }
};

/// Of equal values the one with the smaller index wins.
template <class Better>
struct Located {
  template <class P>
  static P apply(P a, P b) {
    if (a.value == b.value) return {a.value, Smaller::apply(a.index, b.index)};
    return Better::apply(a.value, b.value) == a.value ? a : b;
  }
};

/// Whether the processor may access a T with instructions that refuse addresses which are not aligned to 16
/// bytes. Those of long double have no such instructions, and store the ten bytes of the number only.
template <class T>
constexpr bool kNeedsAlignment = alignof(T) > alignof(std::uint64_t);
template <>
constexpr bool kNeedsAlignment<long double> = false;
template <>
constexpr bool kNeedsAlignment<Complex<long double>> = false;

template <class T, class Operator>
void combine_all(const void* in, void* inout, std::size_t count) {
  if constexpr (kNeedsAlignment<T>) {
    // Programs keep such numbers in packed memory, too.
    const auto* from = static_cast<const std::byte*>(in);
    auto* to = static_cast<std::byte*>(inout);
    for (std::size_t i = 0; i < count; ++i, from += sizeof(T), to += sizeof(T)) {
      T a;
      T b;
      std::memcpy(&a, from, sizeof(T));
      std::memcpy(&b, to, sizeof(T));
      b = Operator::apply(a, b);
      std::memcpy(to, &b, sizeof(T));
    }
  } else {
    const T* __restrict const from = static_cast<const T*>(in);
    T* __restrict const to = static_cast<T*>(inout);
    for (std::size_t i = 0; i < count; ++i) to[i] = Operator::apply(from[i], to[i]);
  }
}

template <class T>
Kernel arithmetic_kernel(std::uintptr_t op) {
  constexpr bool kInteger = static_cast<T>(0.5F) == T(0);
  switch (op) {
    case number::kSum:
      return combine_all<T, Sum<kInteger>>;
    case number::kProd:
      return combine_all<T, Product<kInteger>>;
    case number::kMin:
      return combine_all<T, Smaller>;
    case number::kMax:
      return combine_all<T, Larger>;
    default:
      return nullptr;
  }
}

template <class T>
Kernel integer_kernel(std::uintptr_t op) {
  switch (op) {
    case number::kBand:
      return combine_all<T, BitAnd>;
    case number::kBor:
      return combine_all<T, BitOr>;
    case number::kBxor:
      return combine_all<T, BitXor>;
    case number::kLand:
      return combine_all<T, LogicalAnd>;
    case number::kLor:
      return combine_all<T, LogicalOr>;
    case number::kLxor:
      return combine_all<T, LogicalXor>;
    default:
      return arithmetic_kernel<T>(op);
  }
}

/// The sum of complex numbers is that of their parts.
template <class T>
void add_complex(const void* in, void* inout, std::size_t count) {
  combine_all<T, Sum<false>>(in, inout, 2 * count);
}

template <class T>
Kernel real_kernel(std::uintptr_t op, bool is_complex) {
  if (!is_complex) return arithmetic_kernel<T>(op);
  if (op == number::kSum) return add_complex<T>;
  return op == number::kProd ? combine_all<Complex<T>, ComplexProduct> : nullptr;
}

template <class Value, class Index>
Kernel pair_kernel(std::uintptr_t op) {
  if (op == number::kMinloc) return combine_all<Pair<Value, Index>, Located<Smaller>>;
  return op == number::kMaxloc ? combine_all<Pair<Value, Index>, Located<Larger>> : nullptr;
}

/// Returns whether the standard defines an operator for a class of types.
bool is_defined(std::uintptr_t op, TypeClass type_class) {
  const bool any_integer = type_class == TypeClass::kCInteger || type_class == TypeClass::kFortranInteger ||
                           type_class == TypeClass::kMultiLanguage;
  switch (op) {
    case number::kSum:
    case number::kProd:
      return any_integer || type_class == TypeClass::kFloating || type_class == TypeClass::kComplex;
    case number::kMin:
    case number::kMax:
      return any_integer || type_class == TypeClass::kFloating;
    case number::kBand:
    case number::kBor:
    case number::kBxor:
      return any_integer || type_class == TypeClass::kByte;
    case number::kLand:
    case number::kLor:
    case number::kLxor:
      return type_class == TypeClass::kCInteger || type_class == TypeClass::kLogical;
    case number::kMinloc:
    case number::kMaxloc:
      return type_class == TypeClass::kPair;
    default:
      return false;
  }
}

}  // namespace

Kernel find_kernel(std::uintptr_t op, const PredefinedType& type) {
  if (!is_defined(op, type.type_class)) return nullptr;
  const bool is_complex = type.type_class == TypeClass::kComplex;
  switch (type.element) {
    case Element::kInt8:
      return integer_kernel<std::int8_t>(op);
    case Element::kInt16:
      return integer_kernel<std::int16_t>(op);
    case Element::kInt32:
      return integer_kernel<std::int32_t>(op);
    case Element::kInt64:
      return integer_kernel<std::int64_t>(op);
    case Element::kInt128:
      return integer_kernel<Int128>(op);
    case Element::kUint8:
      return integer_kernel<std::uint8_t>(op);
    case Element::kUint16:
      return integer_kernel<std::uint16_t>(op);
    case Element::kUint32:
      return integer_kernel<std::uint32_t>(op);
    case Element::kUint64:
      return integer_kernel<std::uint64_t>(op);
    case Element::kUint128:
      return integer_kernel<Uint128>(op);
    case Element::kFloat16:
#ifdef __FLT16_MANT_DIG__
      return real_kernel<_Float16>(op, is_complex);
#else
      return nullptr;
#endif
    case Element::kFloat32:
      return real_kernel<float>(op, is_complex);
    case Element::kFloat64:
      return real_kernel<double>(op, is_complex);
    case Element::kLongDouble:
      return real_kernel<long double>(op, is_complex);
    case Element::kFloat128:
#ifdef __SIZEOF_FLOAT128__
      return real_kernel<__float128>(op, is_complex);
#else
      return nullptr;
#endif
    case Element::kFloatInt:
      return pair_kernel<float, int>(op);
    case Element::kDoubleInt:
      return pair_kernel<double, int>(op);
    case Element::kLongInt:
      return pair_kernel<long, int>(op);
    case Element::kTwoInt:
      return pair_kernel<int, int>(op);
    case Element::kShortInt:
      return pair_kernel<short, int>(op);
    case Element::kLongDoubleInt:
      return pair_kernel<long double, int>(op);
    case Element::kTwoFloat:
      return pair_kernel<float, float>(op);
    case Element::kTwoDouble:
      return pair_kernel<double, double>(op);
    case Element::kNone:
      break;
  }
  return nullptr;
}

}  // namespace rma::mpi
