#include "collectives/members/reduce.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <type_traits>

#include "atomics/types.hpp"

namespace rma {
namespace {

constexpr std::array kTypeNames = {"RMA_INT",    "RMA_LONG",          "RMA_LONG_LONG",     "RMA_FLOAT",
                                   "RMA_DOUBLE", "RMA_COMPLEX_FLOAT", "RMA_COMPLEX_DOUBLE"};
constexpr std::array kOperatorNames = {"RMA_SUM",  "RMA_PROD", "RMA_MIN", "RMA_MAX",
                                       "RMA_BAND", "RMA_BOR",  "RMA_BXOR"};

constexpr bool integer(rma_type_t type) {
  return type == RMA_INT || type == RMA_LONG || type == RMA_LONG_LONG;
}
constexpr bool complex(rma_type_t type) { return type == RMA_COMPLEX_FLOAT || type == RMA_COMPLEX_DOUBLE; }

template <typename Real>
struct Complex {
  Real real;
  Real imaginary;
};

/// The unsigned type of an integer. Unsigned arithmetic gives the same bits without undefined overflow.
template <typename T, bool kIntegral = std::is_integral_v<T>>
struct Wrapping {
  using Type = T;
};
template <typename T>
struct Wrapping<T, true> {
  using Type = std::make_unsigned_t<T>;
};

struct Sum {
  template <typename T>
  static T apply(T a, T b) {
    using W = typename Wrapping<T>::Type;
    return static_cast<T>(static_cast<W>(a) + static_cast<W>(b));
  }
};
struct Product {
  template <typename T>
  static T apply(T a, T b) {
    using W = typename Wrapping<T>::Type;
    return static_cast<T>(static_cast<W>(a) * static_cast<W>(b));
  }
  template <typename Real>
  static Complex<Real> apply(Complex<Real> a, Complex<Real> b) {
    return {.real = a.real * b.real - a.imaginary * b.imaginary,
            .imaginary = a.real * b.imaginary + a.imaginary * b.real};
  }
};
struct Least {
  template <typename T>
  static T apply(T a, T b) {
    return b < a ? b : a;
  }
};
struct Most {
  template <typename T>
  static T apply(T a, T b) {
    return a < b ? b : a;
  }
};
struct BitAnd {
  template <typename T>
  static T apply(T a, T b) {
    return a & b;
  }
};
struct BitOr {
  template <typename T>
  static T apply(T a, T b) {
    return a | b;
  }
};
struct BitXor {
  template <typename T>
  static T apply(T a, T b) {
    return a ^ b;
  }
};

/// Combines elements. Loads and stores them by memcpy, which costs nothing and needs neither alignment nor
/// objects of that type.
template <typename T, typename Operator>
void combine(std::byte* __restrict into, const std::byte* __restrict from, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    T a;
    T b;
    std::memcpy(&a, into + i * sizeof(T), sizeof(T));
    std::memcpy(&b, from + i * sizeof(T), sizeof(T));
    a = Operator::apply(a, b);
    std::memcpy(into + i * sizeof(T), &a, sizeof(T));
  }
}

/// Adds complex numbers. A complex sum is two real sums.
template <typename Real>
void combine_complex_sum(std::byte* into, const std::byte* from, std::size_t count) {
  combine<Real, Sum>(into, from, 2 * count);
}

template <typename T>
Combine real_combine(rma_reduction_t op) {
  switch (op) {
    case RMA_SUM:
      return combine<T, Sum>;
    case RMA_PROD:
      return combine<T, Product>;
    case RMA_MIN:
      return combine<T, Least>;
    case RMA_MAX:
      return combine<T, Most>;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    switch (op) {
      case RMA_BAND:
        return combine<T, BitAnd>;
      case RMA_BOR:
        return combine<T, BitOr>;
      case RMA_BXOR:
        return combine<T, BitXor>;
      default:
        break;
    }
  }
  return nullptr;
}

template <typename Real>
Combine complex_combine(rma_reduction_t op) {
  if (op == RMA_SUM) return combine_complex_sum<Real>;
  if (op == RMA_PROD) return combine<Complex<Real>, Product>;
  return nullptr;
}

Combine combine_for(rma_type_t type, rma_reduction_t op) {
  switch (type) {
    case RMA_INT:
      return real_combine<int>(op);
    case RMA_LONG:
      return real_combine<long>(op);
    case RMA_LONG_LONG:
      return real_combine<long long>(op);
    case RMA_FLOAT:
      return real_combine<float>(op);
    case RMA_DOUBLE:
      return real_combine<double>(op);
    case RMA_COMPLEX_FLOAT:
      return complex_combine<float>(op);
    case RMA_COMPLEX_DOUBLE:
      return complex_combine<double>(op);
  }
  return nullptr;
}

}  // namespace

Status check_reduction(rma_type_t type, rma_reduction_t op) {
  if (!valid_type(type)) {
    return {RMA_ERR_ARGUMENT,
            fmt::format("{} is no rma_type_t (RMA_INT ... RMA_COMPLEX_DOUBLE)", static_cast<int>(type))};
  }
  if (op < RMA_SUM || op > RMA_BXOR) {
    return {RMA_ERR_ARGUMENT,
            fmt::format("{} is no rma_reduction_t (RMA_SUM ... RMA_BXOR)", static_cast<int>(op))};
  }
  const bool ordering = op == RMA_MIN || op == RMA_MAX;
  const bool bitwise = op >= RMA_BAND;
  if ((ordering && complex(type)) || (bitwise && !integer(type))) {
    return {RMA_ERR_ARGUMENT,
            fmt::format("{} is not defined for {}; it takes {}", kOperatorNames[static_cast<std::size_t>(op)],
                        kTypeNames[static_cast<std::size_t>(type)],
                        bitwise ? "integers" : "integers, RMA_FLOAT and RMA_DOUBLE")};
  }
  return {};
}

Reduction Reduction::of(rma_type_t type, rma_reduction_t op) {
  return {.combine = combine_for(type, op), .element_bytes = type_size(type)};
}

rma_reducer_t reducer_of(rma_type_t type, rma_reduction_t op) {
  const Reduction reduction = Reduction::of(type, op);
  return {.combine =
              [](const void* in, void* inout, std::size_t count, void* context) {
                reinterpret_cast<Combine>(context)(static_cast<std::byte*>(inout),
                                                   static_cast<const std::byte*>(in), count);
              },
          .context = reinterpret_cast<void*>(reduction.combine),
          .element_bytes = reduction.element_bytes,
          .commutes = 1};
}

const char* reduction_name(rma_type_t type, rma_reduction_t op) {
  static constexpr std::array kTypes = {"INT",    "LONG",          "LONG_LONG",     "FLOAT",
                                        "DOUBLE", "COMPLEX_FLOAT", "COMPLEX_DOUBLE"};
  static constexpr std::array kOperators = {"SUM", "PROD", "MIN", "MAX", "BAND", "BOR", "BXOR"};
  static const auto kNames = [] {
    std::array<std::array<std::string, kOperators.size()>, kTypes.size()> names;
    for (std::size_t i = 0; i < kTypes.size(); ++i) {
      for (std::size_t j = 0; j < kOperators.size(); ++j)
        names[i][j] = std::string("RMA_") + kOperators[j] + " of RMA_" + kTypes[i];
    }
    return names;
  }();
  return kNames[static_cast<std::size_t>(type)][static_cast<std::size_t>(op)].c_str();
}

}  // namespace rma
