#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "harness.hpp"

// Elements of the seven types. Their values are whole numbers so small that every sum and product is exact in
// any order. Integers are added as unsigned ones, which wrap around.

namespace multi {

inline constexpr std::array kTypes = {RMA_INT,    RMA_LONG,          RMA_LONG_LONG,     RMA_FLOAT,
                                      RMA_DOUBLE, RMA_COMPLEX_FLOAT, RMA_COMPLEX_DOUBLE};
inline constexpr std::array kIntegers = {RMA_INT, RMA_LONG, RMA_LONG_LONG};

/// Calls work(T{}) with the C++ type of an element. Integers are unsigned.
template <typename Work>
auto with_type(rma_type_t type, const Work& work) {
  switch (type) {
    case RMA_INT:
      return work(0U);
    case RMA_LONG:
      return work(0UL);
    case RMA_LONG_LONG:
      return work(0ULL);
    case RMA_FLOAT:
      return work(0.0F);
    case RMA_DOUBLE:
      return work(0.0);
    case RMA_COMPLEX_FLOAT:
      return work(std::complex<float>());
    case RMA_COMPLEX_DOUBLE:
      break;
  }
  return work(std::complex<double>());
}

inline bool is_complex(rma_type_t type) { return type == RMA_COMPLEX_FLOAT || type == RMA_COMPLEX_DOUBLE; }
inline bool is_integer(rma_type_t type) { return type <= RMA_LONG_LONG; }
inline std::size_t type_bytes(rma_type_t type) {
  return with_type(type, [](auto element) { return sizeof element; });
}
/// Returns the alignment of an element of the type.
inline std::size_t part_bytes(rma_type_t type) {
  return is_complex(type) ? type_bytes(type) / 2 : type_bytes(type);
}

/// Returns a whole number from `low` to `high`; for a complex type, each part is one.
template <typename T>
T draw_number(Random& random, int low, int high) {
  const auto part = [&] { return static_cast<int>(random.between(low, high)); };
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(part());
  } else {
    const int real = part();
    return {static_cast<typename T::value_type>(real), static_cast<typename T::value_type>(part())};
  }
}

/// Fills memory with whole numbers from -9 to 9. Bytes after the last whole element stay.
inline void fill_numbers(Random& random, rma_type_t type, std::span<std::byte> bytes) {
  with_type(type, [&](auto zero) {
    for (std::size_t at = 0; at + sizeof zero <= bytes.size(); at += sizeof zero) {
      const auto element = draw_number<decltype(zero)>(random, -9, 9);
      std::memcpy(bytes.data() + at, &element, sizeof element);
    }
  });
}

/// A scale, or a null pointer.
struct Scale {
  Scale(Random& random, rma_type_t type) : given(random.chance(70)) {
    with_type(type, [&](auto zero) {
      const auto factor = draw_number<decltype(zero)>(random, -2, 3);
      std::memcpy(element.data(), &factor, sizeof factor);
    });
  }
  [[nodiscard]] const void* get() const { return given ? element.data() : nullptr; }

  bool given;
  alignas(16) std::array<std::byte, 16> element = {};
};

/// Performs dst += scale * src, as a model of the library.
inline void model_acc(rma_type_t type, std::byte* dst, const std::byte* src, std::size_t bytes,
                      const void* scale) {
  with_type(type, [&](auto zero) {
    using T = decltype(zero);
    T factor(1);
    if (scale != nullptr) std::memcpy(&factor, scale, sizeof factor);
    for (std::size_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
      T sum;
      T addend;
      std::memcpy(&sum, dst + at, sizeof sum);
      std::memcpy(&addend, src + at, sizeof addend);
      sum = static_cast<T>(sum + factor * addend);
      std::memcpy(dst + at, &sum, sizeof sum);
    }
  });
}

}  // namespace multi
