// Every predefined operator on every predefined datatype, against scalar models; and the operators of a
// program.

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "../seed.hpp"
#include "mpi.h"

namespace {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

const std::vector<MPI_Op> kArithmetic = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX};
const std::vector<MPI_Op> kBitwise = {MPI_BAND, MPI_BOR, MPI_BXOR};
const std::vector<MPI_Op> kTruth = {MPI_LAND, MPI_LOR, MPI_LXOR};
constexpr int kMost = 67;  // not a multiple of any vector's length

/// Compares MPI_Reduce_local with `model`, element by element, for all counts up to kMost.
template <class T>
void expect_model(MPI_Op op, MPI_Datatype type, const std::function<T()>& draw,
                  const std::function<T(T, T)>& model) {
  char name[MPI_MAX_OBJECT_NAME];
  int length = 0;
  ASSERT_EQ(MPI_Type_get_name(type, name, &length), MPI_SUCCESS);
  for (int count = 0; count <= kMost; ++count) {
    std::vector<T> in(kMost + 1);
    std::vector<T> inout(kMost + 1);
    for (T& value : in) value = draw();
    for (T& value : inout) value = draw();
    std::vector<T> expected = inout;
    for (int i = 0; i < count; ++i) {
      const auto place = static_cast<std::size_t>(i);
      expected[place] = model(in[place], inout[place]);
    }
    ASSERT_EQ(MPI_Reduce_local(in.data(), inout.data(), count, type, op), MPI_SUCCESS) << name;
    for (std::size_t i = 0; i <= kMost; ++i) {
      ASSERT_TRUE(inout[i] == expected[i]) << name << ", operator " << MPI_Op_toint(op) << ", element " << i;
    }
  }
}

/// The models of the operators on an integer type, by arithmetic modulo 2^128.
template <class T>
T integer_model(MPI_Op op, T a, T b) {
  const auto wide_a = static_cast<Uint128>(a);
  const auto wide_b = static_cast<Uint128>(b);
  if (op == MPI_SUM) return static_cast<T>(wide_a + wide_b);
  if (op == MPI_PROD) return static_cast<T>(wide_a * wide_b);
  if (op == MPI_MIN) return b < a ? b : a;
  if (op == MPI_MAX) return b < a ? a : b;
  if (op == MPI_BAND) return static_cast<T>(wide_a & wide_b);
  if (op == MPI_BOR) return static_cast<T>(wide_a | wide_b);
  if (op == MPI_BXOR) return static_cast<T>(wide_a ^ wide_b);
  if (op == MPI_LAND) return static_cast<T>(a != 0 && b != 0 ? 1 : 0);
  if (op == MPI_LOR) return static_cast<T>(a != 0 || b != 0 ? 1 : 0);
  return static_cast<T>((a != 0) != (b != 0) ? 1 : 0);
}

class MpiOperators : public testing::Test {
 protected:
  std::mt19937_64 random{test_seed()};

  template <class T>
  void check_integer(MPI_Datatype type, const std::vector<std::vector<MPI_Op>>& groups) {
    // Every fourth value is 0, for the truth values.
    const auto draw = [this] {
      return static_cast<T>(random() % 4 == 0 ? 0 : static_cast<Uint128>(random()) * random());
    };
    for (const auto& group : groups) {
      for (const MPI_Op op : group) {
        expect_model<T>(op, type, draw, [op](T a, T b) { return integer_model(op, a, b); });
      }
    }
  }

  template <class T>
  void check_floating(MPI_Datatype type) {
    const auto draw = [this] { return static_cast<T>(static_cast<double>(random() % 4096) / 64.0 - 32.0); };
    expect_model<T>(MPI_SUM, type, draw, [](T a, T b) { return static_cast<T>(a + b); });
    expect_model<T>(MPI_PROD, type, draw, [](T a, T b) { return static_cast<T>(a * b); });
    expect_model<T>(MPI_MIN, type, draw, [](T a, T b) { return b < a ? b : a; });
    expect_model<T>(MPI_MAX, type, draw, [](T a, T b) { return b < a ? a : b; });
  }

  template <class T>
  struct Parts {
    T real, imaginary;
    bool operator==(const Parts&) const = default;
  };
  template <class T>
  void check_complex(MPI_Datatype type) {
    // Small integers, so that the products are exact in every order.
    const auto part = [this] { return static_cast<T>(static_cast<int>(random() % 16) - 8); };
    const std::function<Parts<T>()> draw = [part] { return Parts<T>{part(), part()}; };
    expect_model<Parts<T>>(MPI_SUM, type, draw, [](Parts<T> a, Parts<T> b) {
      return Parts<T>{static_cast<T>(a.real + b.real), static_cast<T>(a.imaginary + b.imaginary)};
    });
    expect_model<Parts<T>>(MPI_PROD, type, draw, [](Parts<T> a, Parts<T> b) {
      return Parts<T>{static_cast<T>(a.real * b.real - a.imaginary * b.imaginary),
                      static_cast<T>(a.real * b.imaginary + a.imaginary * b.real)};
    });
  }

  template <class Value, class Index>
  void check_pair(MPI_Datatype type) {
    struct Located {
      Value value;
      Index index;
      bool operator==(const Located& other) const { return value == other.value && index == other.index; }
    };
    const std::function<Located()> draw = [this] {
      return Located{static_cast<Value>(static_cast<int>(random() % 8) - 4),
                     static_cast<Index>(random() % 100)};
    };
    const auto model = [](bool least) {
      return [least](Located a, Located b) {
        if (a.value == b.value) return a.index < b.index ? a : b;
        return (a.value < b.value) == least ? a : b;
      };
    };
    expect_model<Located>(MPI_MINLOC, type, draw, model(true));
    expect_model<Located>(MPI_MAXLOC, type, draw, model(false));
  }
};

TEST_F(MpiOperators, IntegersOfC) {
  const std::vector<std::vector<MPI_Op>> all = {kArithmetic, kBitwise, kTruth};
  check_integer<short>(MPI_SHORT, all);
  check_integer<int>(MPI_INT, all);
  check_integer<long>(MPI_LONG, all);
  check_integer<long long>(MPI_LONG_LONG, all);
  check_integer<unsigned short>(MPI_UNSIGNED_SHORT, all);
  check_integer<unsigned>(MPI_UNSIGNED, all);
  check_integer<unsigned long>(MPI_UNSIGNED_LONG, all);
  check_integer<unsigned long long>(MPI_UNSIGNED_LONG_LONG, all);
  check_integer<signed char>(MPI_SIGNED_CHAR, all);
  check_integer<unsigned char>(MPI_UNSIGNED_CHAR, all);
  check_integer<std::int8_t>(MPI_INT8_T, all);
  check_integer<std::int16_t>(MPI_INT16_T, all);
  check_integer<std::int32_t>(MPI_INT32_T, all);
  check_integer<std::int64_t>(MPI_INT64_T, all);
  check_integer<std::uint8_t>(MPI_UINT8_T, all);
  check_integer<std::uint16_t>(MPI_UINT16_T, all);
  check_integer<std::uint32_t>(MPI_UINT32_T, all);
  check_integer<std::uint64_t>(MPI_UINT64_T, all);
}

TEST_F(MpiOperators, OtherIntegers) {
  const std::vector<std::vector<MPI_Op>> groups = {kArithmetic, kBitwise};
  check_integer<int>(MPI_INTEGER, groups);
  check_integer<std::int8_t>(MPI_INTEGER1, groups);
  check_integer<std::int16_t>(MPI_INTEGER2, groups);
  check_integer<std::int32_t>(MPI_INTEGER4, groups);
  check_integer<std::int64_t>(MPI_INTEGER8, groups);
  check_integer<Int128>(MPI_INTEGER16, groups);
  const std::vector<std::vector<MPI_Op>> all = {kArithmetic, kBitwise, kTruth};
  check_integer<MPI_Aint>(MPI_AINT, all);
  check_integer<MPI_Count>(MPI_COUNT, all);
  check_integer<MPI_Offset>(MPI_OFFSET, all);
  check_integer<std::uint8_t>(MPI_BYTE, {kBitwise});
}

TEST_F(MpiOperators, TruthValues) {
  check_integer<std::uint8_t>(MPI_C_BOOL, {kTruth});
  check_integer<std::uint8_t>(MPI_CXX_BOOL, {kTruth});
  check_integer<std::uint32_t>(MPI_LOGICAL, {kTruth});
  check_integer<std::uint8_t>(MPI_LOGICAL1, {kTruth});
  check_integer<std::uint16_t>(MPI_LOGICAL2, {kTruth});
  check_integer<std::uint32_t>(MPI_LOGICAL4, {kTruth});
  check_integer<std::uint64_t>(MPI_LOGICAL8, {kTruth});
  check_integer<Uint128>(MPI_LOGICAL16, {kTruth});
}

TEST_F(MpiOperators, FloatingPoint) {
  check_floating<float>(MPI_FLOAT);
  check_floating<double>(MPI_DOUBLE);
  check_floating<long double>(MPI_LONG_DOUBLE);
  check_floating<float>(MPI_REAL);
  check_floating<double>(MPI_DOUBLE_PRECISION);
  check_floating<float>(MPI_REAL4);
  check_floating<double>(MPI_REAL8);
#ifdef __FLT16_MANT_DIG__
  check_floating<_Float16>(MPI_REAL2);
#endif
#ifdef __SIZEOF_FLOAT128__
  check_floating<__float128>(MPI_REAL16);
#endif
}

TEST_F(MpiOperators, ComplexNumbers) {
  check_complex<float>(MPI_C_FLOAT_COMPLEX);
  check_complex<double>(MPI_C_DOUBLE_COMPLEX);
  check_complex<long double>(MPI_C_LONG_DOUBLE_COMPLEX);
  check_complex<float>(MPI_CXX_FLOAT_COMPLEX);
  check_complex<double>(MPI_CXX_DOUBLE_COMPLEX);
  check_complex<long double>(MPI_CXX_LONG_DOUBLE_COMPLEX);
  check_complex<float>(MPI_COMPLEX);
  check_complex<double>(MPI_DOUBLE_COMPLEX);
  check_complex<float>(MPI_COMPLEX8);
  check_complex<double>(MPI_COMPLEX16);
#ifdef __FLT16_MANT_DIG__
  check_complex<_Float16>(MPI_COMPLEX4);
#endif
#ifdef __SIZEOF_FLOAT128__
  check_complex<__float128>(MPI_COMPLEX32);
#endif
}

TEST_F(MpiOperators, Pairs) {
  check_pair<float, int>(MPI_FLOAT_INT);
  check_pair<double, int>(MPI_DOUBLE_INT);
  check_pair<long, int>(MPI_LONG_INT);
  check_pair<int, int>(MPI_2INT);
  check_pair<short, int>(MPI_SHORT_INT);
  check_pair<long double, int>(MPI_LONG_DOUBLE_INT);
  check_pair<float, float>(MPI_2REAL);
  check_pair<double, double>(MPI_2DOUBLE_PRECISION);
  check_pair<int, int>(MPI_2INTEGER);
}

}  // namespace
