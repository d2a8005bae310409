#include "collectives/members/reduce.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <climits>
#include <complex>
#include <span>
#include <string>
#include <vector>

namespace librma {
namespace {

using testing::HasSubstr;

/// Reduces `into` and `from` by the kernel, with `from` at an odd address.
template <typename T>
std::vector<T> combined(rma_type_t type, rma_reduction_t op, std::vector<T> into,
                        const std::vector<T>& from) {
  const rma_reducer_t reduction = reducer_of(type, op);
  EXPECT_EQ(reduction.element_bytes, sizeof(T));
  std::vector<std::byte> odd(from.size() * sizeof(T) + 1);
  std::ranges::copy(std::as_bytes(std::span(from)), odd.begin() + 1);
  reduction.combine(odd.data() + 1, into.data(), into.size(), reduction.context);
  return into;
}

template <typename T>
struct TypeCode;
template <>
struct TypeCode<int> : std::integral_constant<rma_type_t, RMA_INT> {};
template <>
struct TypeCode<long> : std::integral_constant<rma_type_t, RMA_LONG> {};
template <>
struct TypeCode<long long> : std::integral_constant<rma_type_t, RMA_LONG_LONG> {};
template <>
struct TypeCode<float> : std::integral_constant<rma_type_t, RMA_FLOAT> {};
template <>
struct TypeCode<double> : std::integral_constant<rma_type_t, RMA_DOUBLE> {};
template <>
struct TypeCode<std::complex<float>> : std::integral_constant<rma_type_t, RMA_COMPLEX_FLOAT> {};
template <>
struct TypeCode<std::complex<double>> : std::integral_constant<rma_type_t, RMA_COMPLEX_DOUBLE> {};

/// Compares the kernel with `reference(a, b)`, over enough elements for vectors and their remainders.
template <typename T, typename Reference>
void expect_like(rma_reduction_t op, const Reference& reference) {
  for (const int count : {0, 1, 7, 100}) {
    std::vector<T> into;
    std::vector<T> from;
    std::vector<T> expected;
    for (int i = 0; i < count; ++i) {
      into.push_back(static_cast<T>(static_cast<float>(i * 3 - 50)));
      from.push_back(static_cast<T>(static_cast<float>(40 - i * 2)));
      expected.push_back(reference(into.back(), from.back()));
    }
    EXPECT_EQ(combined(TypeCode<T>::value, op, into, from), expected) << "operator " << op << ", " << count;
  }
}

template <typename T>
void expect_arithmetic() {
  expect_like<T>(RMA_SUM, [](T a, T b) { return a + b; });
  expect_like<T>(RMA_PROD, [](T a, T b) { return a * b; });
}

template <typename T>
void expect_ordering() {
  expect_like<T>(RMA_MIN, [](T a, T b) { return std::min(a, b); });
  expect_like<T>(RMA_MAX, [](T a, T b) { return std::max(a, b); });
}

template <typename T>
void expect_bitwise() {
  expect_like<T>(RMA_BAND, [](T a, T b) { return a & b; });
  expect_like<T>(RMA_BOR, [](T a, T b) { return a | b; });
  expect_like<T>(RMA_BXOR, [](T a, T b) { return a ^ b; });
}

TEST(ReduceTest, IntegersOfAllSizesAndOperators) {
  expect_arithmetic<int>();
  expect_ordering<int>();
  expect_bitwise<int>();
  expect_arithmetic<long>();
  expect_ordering<long>();
  expect_bitwise<long>();
  expect_arithmetic<long long>();
  expect_ordering<long long>();
  expect_bitwise<long long>();
}

TEST(ReduceTest, RealNumbers) {
  expect_arithmetic<float>();
  expect_ordering<float>();
  expect_arithmetic<double>();
  expect_ordering<double>();
}

TEST(ReduceTest, ComplexNumbers) {
  expect_arithmetic<std::complex<float>>();
  expect_arithmetic<std::complex<double>>();
  using Z = std::complex<double>;
  EXPECT_EQ(combined<Z>(RMA_COMPLEX_DOUBLE, RMA_PROD, {Z(1, 2), Z(0, 1)}, {Z(3, -4), Z(0, 1)}),
            (std::vector<Z>{Z(11, 2), Z(-1, 0)}));
}

TEST(ReduceTest, IntegersWrap) {
  EXPECT_EQ(combined<int>(RMA_INT, RMA_SUM, {INT_MAX, INT_MIN}, {1, -1}),
            (std::vector<int>{INT_MIN, INT_MAX}));
  EXPECT_EQ(combined<int>(RMA_INT, RMA_PROD, {INT_MIN}, {-1}), (std::vector<int>{INT_MIN}));
  EXPECT_EQ(combined<long>(RMA_LONG, RMA_PROD, {LONG_MAX}, {2}), (std::vector<long>{-2}));
}

TEST(ReduceTest, OnlyDefinedPairsAreAccepted) {
  constexpr std::array kIntegers = {RMA_INT, RMA_LONG, RMA_LONG_LONG};
  constexpr std::array kReals = {RMA_FLOAT, RMA_DOUBLE};
  constexpr std::array kComplexes = {RMA_COMPLEX_FLOAT, RMA_COMPLEX_DOUBLE};
  const auto accepted = [](rma_type_t type, rma_reduction_t op) {
    const bool ok = check_reduction(type, op).ok();
    EXPECT_EQ(reducer_of(type, op).combine != nullptr, ok) << type << " " << op;
    return ok;
  };
  for (int op = RMA_SUM; op <= RMA_BXOR; ++op) {
    const auto reduction = static_cast<rma_reduction_t>(op);
    for (const rma_type_t type : kIntegers) EXPECT_TRUE(accepted(type, reduction)) << type << " " << op;
    for (const rma_type_t type : kReals)
      EXPECT_EQ(accepted(type, reduction), op <= RMA_MAX) << type << " " << op;
    for (const rma_type_t type : kComplexes) {
      EXPECT_EQ(accepted(type, reduction), op <= RMA_PROD) << type << " " << op;
    }
  }
}

TEST(ReduceTest, RefusalsSayWhatIsWrong) {
  const Status pair = check_reduction(RMA_COMPLEX_FLOAT, RMA_MIN);
  EXPECT_EQ(pair.code(), RMA_ERR_ARGUMENT);
  EXPECT_THAT(std::string(pair.text()), HasSubstr("RMA_MIN is not defined for RMA_COMPLEX_FLOAT"));
  EXPECT_THAT(std::string(check_reduction(RMA_DOUBLE, RMA_BOR).text()), HasSubstr("RMA_BOR"));
  EXPECT_EQ(check_reduction(static_cast<rma_type_t>(7), RMA_SUM).code(), RMA_ERR_ARGUMENT);
  EXPECT_EQ(check_reduction(static_cast<rma_type_t>(-1), RMA_SUM).code(), RMA_ERR_ARGUMENT);
  EXPECT_EQ(check_reduction(RMA_INT, static_cast<rma_reduction_t>(7)).code(), RMA_ERR_ARGUMENT);
  EXPECT_EQ(check_reduction(RMA_INT, static_cast<rma_reduction_t>(-1)).code(), RMA_ERR_ARGUMENT);
}

}  // namespace
}  // namespace librma
