#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "rma/rma.h"

namespace librma {

inline constexpr std::array kTypes = {RMA_INT,    RMA_LONG,          RMA_LONG_LONG,     RMA_FLOAT,
                                      RMA_DOUBLE, RMA_COMPLEX_FLOAT, RMA_COMPLEX_DOUBLE};

/// Calls `action` with a value of the C++ type of an element type.
template <typename Action>
void with_type(rma_type_t type, const Action& action) {
  switch (type) {
    case RMA_INT:
      return action(int{});
    case RMA_LONG:
      return action(long{});
    case RMA_LONG_LONG:
      return action(static_cast<long long>(0));
    case RMA_FLOAT:
      return action(float{});
    case RMA_DOUBLE:
      return action(double{});
    case RMA_COMPLEX_FLOAT:
      return action(std::complex<float>{});
    case RMA_COMPLEX_DOUBLE:
      return action(std::complex<double>{});
  }
}

template <typename T>
struct IsComplex : std::false_type {};
template <typename T>
struct IsComplex<std::complex<T>> : std::true_type {};

/// Computes y + a * x, one element at a time. Integers wrap around.
template <typename T>
T model(T y, T a, T x) {
  if constexpr (IsComplex<T>::value) {
    return {y.real() + (a.real() * x.real() - a.imag() * x.imag()),
            y.imag() + (a.real() * x.imag() + a.imag() * x.real())};
  } else if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(y) + static_cast<U>(a) * static_cast<U>(x));
  } else {
    return y + a * x;
  }
}

using Random = std::mt19937_64;

/// Draws integers of any size, and floating-point numbers that are whole and so small that their sums and
/// products are exact.
template <typename T>
T random_element(Random& random) {
  if constexpr (IsComplex<T>::value) {
    const auto re = random_element<typename T::value_type>(random);
    return {re, random_element<typename T::value_type>(random)};
  } else if constexpr (std::is_integral_v<T>) {
    return std::uniform_int_distribution<T>(std::numeric_limits<T>::min(),
                                            std::numeric_limits<T>::max())(random);
  } else {
    return static_cast<T>(std::uniform_int_distribution<int>(-100, 100)(random));
  }
}

template <typename T>
std::vector<T> random_elements(Random& random, std::size_t count) {
  std::vector<T> elements(count);
  for (T& element : elements) element = random_element<T>(random);
  return elements;
}

/// The numbers are the same in every run, unless LIBRMA_TEST_SEED is set.
inline Random seeded_random() {
  const char* const asked = std::getenv("LIBRMA_TEST_SEED");
  const std::uint64_t seed = asked != nullptr ? std::strtoull(asked, nullptr, 10) : 20240229;
  std::cout << "LIBRMA_TEST_SEED=" << seed << std::endl;
  return Random(seed);
}

}  // namespace librma
