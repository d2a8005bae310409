// Each loop is a template over the machine type and the operator. It is simple enough for the compiler to
// vectorize it.

#include "kernels/operators.hpp"

#include <type_traits>

namespace librma::kernels {
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

/// Whether T is an integer. std::is_integral does not know the 128-bit types.
template <class T>
constexpr bool kInteger = static_cast<T>(0.5F) == T(0);

// The operators on two values. combine_avx2() needs Sum inlined, also where the compiler does not optimize.
struct Sum {
  template <class T>
  [[gnu::always_inline]] static T apply(T a, T b) {
    if constexpr (kInteger<T>) {
      using Wide = typename Wrapping<T>::Type;
      return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b));
    } else {
      return static_cast<T>(a + b);
    }
  }
};
struct Product {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (kInteger<T>) {
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

/// An element at any address, of whatever type the program declared it.
template <class T>
struct [[gnu::packed, gnu::may_alias]] Unaligned {
  T value;
};

template <class T, class Op>
[[gnu::always_inline]] inline void combine_all(const void* in, void* inout, std::size_t count) {
  const auto* const from = static_cast<const Unaligned<T>*>(in);
  auto* const to = static_cast<Unaligned<T>*>(inout);
  for (std::size_t i = 0; i < count; ++i) to[i].value = Op::apply(T{from[i].value}, T{to[i].value});
}

template <class T, class Op>
void combine(const void* in, void* inout, std::size_t count, void* /*context*/) {
  combine_all<T, Op>(in, inout, count);
}

#if defined(__x86_64__)
/// The same loop for processors with vectors twice as long. It does not use fused multiplication, so results
/// do not depend on the processor.
template <class T, class Op>
[[gnu::target("avx2")]] void combine_avx2(const void* in, void* inout, std::size_t count, void* /*context*/) {
  combine_all<T, Op>(in, inout, count);
}

/// Constructors call this before the compiler's own one has looked at the processor.
bool has_avx2() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") != 0;
}
#endif

/// Returns the loop of the sum. The sum is the operator of accumulates, and of most reductions, so it has the
/// loop with the longest vectors.
template <class T>
Loop sum() {
#if defined(__x86_64__)
  if constexpr (sizeof(T) == sizeof(float) || sizeof(T) == sizeof(double)) {
    if (has_avx2()) return combine_avx2<T, Sum>;
  }
#endif
  return combine<T, Sum>;
}

template <class T>
Loop arithmetic(Operator op) {
  switch (op) {
    case Operator::kSum:
      return sum<T>();
    case Operator::kProduct:
      return combine<T, Product>;
    case Operator::kMin:
      return combine<T, Smaller>;
    case Operator::kMax:
      return combine<T, Larger>;
    default:
      return nullptr;
  }
}

template <class T>
Loop integer(Operator op) {
  switch (op) {
    case Operator::kBitAnd:
      return combine<T, BitAnd>;
    case Operator::kBitOr:
      return combine<T, BitOr>;
    case Operator::kBitXor:
      return combine<T, BitXor>;
    case Operator::kLogicalAnd:
      return combine<T, LogicalAnd>;
    case Operator::kLogicalOr:
      return combine<T, LogicalOr>;
    case Operator::kLogicalXor:
      return combine<T, LogicalXor>;
    default:
      return arithmetic<T>(op);
  }
}

/// The sum of complex numbers is that of their parts.
template <class T>
void add_complex(const void* in, void* inout, std::size_t count, void* context) {
  sum<T>()(in, inout, 2 * count, context);
}

template <class T>
Loop real(Operator op, bool is_complex) {
  if (!is_complex) return arithmetic<T>(op);
  if (op == Operator::kSum) return add_complex<T>;
  return op == Operator::kProduct ? combine<Complex<T>, ComplexProduct> : nullptr;
}

template <class Value, class Index>
Loop pair(Operator op) {
  if (op == Operator::kMinLocation) return combine<Pair<Value, Index>, Located<Smaller>>;
  return op == Operator::kMaxLocation ? combine<Pair<Value, Index>, Located<Larger>> : nullptr;
}

[[gnu::noinline]] Loop make_loop(Operator op, Element element, bool is_complex) {
  switch (element) {
    case Element::kInt8:
      return integer<std::int8_t>(op);
    case Element::kInt16:
      return integer<std::int16_t>(op);
    case Element::kInt32:
      return integer<std::int32_t>(op);
    case Element::kInt64:
      return integer<std::int64_t>(op);
    case Element::kInt128:
      return integer<Int128>(op);
    case Element::kUint8:
      return integer<std::uint8_t>(op);
    case Element::kUint16:
      return integer<std::uint16_t>(op);
    case Element::kUint32:
      return integer<std::uint32_t>(op);
    case Element::kUint64:
      return integer<std::uint64_t>(op);
    case Element::kUint128:
      return integer<Uint128>(op);
    case Element::kFloat16:
#ifdef __FLT16_MANT_DIG__
      return real<_Float16>(op, is_complex);
#else
      return nullptr;
#endif
    case Element::kFloat32:
      return real<float>(op, is_complex);
    case Element::kFloat64:
      return real<double>(op, is_complex);
    case Element::kLongDouble:
      return real<long double>(op, is_complex);
    case Element::kFloat128:
#ifdef __SIZEOF_FLOAT128__
      return real<__float128>(op, is_complex);
#else
      return nullptr;
#endif
    case Element::kFloatInt:
      return pair<float, int>(op);
    case Element::kDoubleInt:
      return pair<double, int>(op);
    case Element::kLongInt:
      return pair<long, int>(op);
    case Element::kTwoInt:
      return pair<int, int>(op);
    case Element::kShortInt:
      return pair<short, int>(op);
    case Element::kLongDoubleInt:
      return pair<long double, int>(op);
    case Element::kTwoFloat:
      return pair<float, float>(op);
    case Element::kTwoDouble:
      return pair<double, double>(op);
    case Element::kNone:
      break;
  }
  return nullptr;
}

LoopTable make_table(bool is_complex) {
  LoopTable table = {};
  for (std::size_t element = 0; element < kElements; ++element) {
    for (std::size_t op = 0; op < kOperators; ++op)
      table[element][op] = make_loop(static_cast<Operator>(op), static_cast<Element>(element), is_complex);
  }
  return table;
}

}  // namespace

// In a program that is linked statically, a constructor of the program may be the first to use them: that of
// a coarray, for example.
[[gnu::init_priority(101)]] const LoopTable loops = make_table(false);
[[gnu::init_priority(101)]] const LoopTable complex_loops = make_table(true);

}  // namespace librma::kernels
