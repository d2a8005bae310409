#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/elements.hpp"
#include "twosided_compat/numbers.hpp"

namespace rma::mpi {

/// The groups of datatypes by which the standard says which operators are defined for a datatype.
enum class TypeClass : std::uint8_t {
  kNone,  ///< no operator is: characters, MPI_PACKED, and every derived type
  kCInteger,
  kFortranInteger,
  kMultiLanguage,
  kFloating,
  kComplex,
  kLogical,
  kByte,
  kPair,  ///< a value and an index, for MPI_MINLOC and MPI_MAXLOC
};

using kernels::Element;
using kernels::integer_element;
using kernels::Pair;

/// A predefined datatype. `element` is that of the parts of a complex type.
struct PredefinedType {
  std::uintptr_t handle;
  const char* name;
  std::uint8_t size;    ///< bytes of data
  std::uint8_t extent;  ///< bytes from one element of an array to the next
  TypeClass type_class;
  Element element;
};

template <std::size_t kSize>
constexpr PredefinedType integer(std::uintptr_t handle, const char* name, TypeClass type_class,
                                 bool is_signed = true) {
  return {handle, name, kSize, kSize, type_class, integer_element(kSize, is_signed)};
}
/// A truth value: operators look at whether its integer is 0.
template <std::size_t kSize>
constexpr PredefinedType logical(std::uintptr_t handle, const char* name) {
  return integer<kSize>(handle, name, TypeClass::kLogical, false);
}
constexpr PredefinedType floating(std::uintptr_t handle, const char* name, std::uint8_t size,
                                  Element element) {
  return {handle, name, size, size, TypeClass::kFloating, element};
}
/// `size` is that of both parts.
constexpr PredefinedType complex(std::uintptr_t handle, const char* name, std::uint8_t size,
                                 Element element) {
  return {handle, name, size, size, TypeClass::kComplex, element};
}
template <class Value, class Index>
constexpr PredefinedType pair(std::uintptr_t handle, const char* name, Element element) {
  return {handle, name, sizeof(Value) + sizeof(Index), sizeof(Pair<Value, Index>), TypeClass::kPair, element};
}
constexpr PredefinedType opaque(std::uintptr_t handle, const char* name, std::uint8_t size) {
  return {handle, name, size, size, TypeClass::kNone, Element::kNone};
}

/// Every predefined datatype. The sizes of Fortran's types are gfortran's (abi.cpp reports them).
inline constexpr std::array kPredefinedTypes = {
    integer<8>(number::kAint, "MPI_AINT", TypeClass::kMultiLanguage),
    integer<8>(number::kCount, "MPI_COUNT", TypeClass::kMultiLanguage),
    integer<8>(number::kOffset, "MPI_OFFSET", TypeClass::kMultiLanguage),
    opaque(number::kPacked, "MPI_PACKED", 1),
    integer<sizeof(short)>(number::kShort, "MPI_SHORT", TypeClass::kCInteger),
    integer<sizeof(int)>(number::kInt, "MPI_INT", TypeClass::kCInteger),
    integer<sizeof(long)>(number::kLong, "MPI_LONG", TypeClass::kCInteger),
    integer<sizeof(long long)>(number::kLongLong, "MPI_LONG_LONG", TypeClass::kCInteger),
    integer<sizeof(short)>(number::kUnsignedShort, "MPI_UNSIGNED_SHORT", TypeClass::kCInteger, false),
    integer<sizeof(int)>(number::kUnsigned, "MPI_UNSIGNED", TypeClass::kCInteger, false),
    integer<sizeof(long)>(number::kUnsignedLong, "MPI_UNSIGNED_LONG", TypeClass::kCInteger, false),
    integer<sizeof(long long)>(number::kUnsignedLongLong, "MPI_UNSIGNED_LONG_LONG", TypeClass::kCInteger,
                               false),
    floating(number::kFloat, "MPI_FLOAT", sizeof(float), Element::kFloat32),
    complex(number::kCFloatComplex, "MPI_C_FLOAT_COMPLEX", 2 * sizeof(float), Element::kFloat32),
    complex(number::kCxxFloatComplex, "MPI_CXX_FLOAT_COMPLEX", 2 * sizeof(float), Element::kFloat32),
    floating(number::kDouble, "MPI_DOUBLE", sizeof(double), Element::kFloat64),
    complex(number::kCDoubleComplex, "MPI_C_DOUBLE_COMPLEX", 2 * sizeof(double), Element::kFloat64),
    complex(number::kCxxDoubleComplex, "MPI_CXX_DOUBLE_COMPLEX", 2 * sizeof(double), Element::kFloat64),
    logical<4>(number::kLogical, "MPI_LOGICAL"),
    integer<4>(number::kInteger, "MPI_INTEGER", TypeClass::kFortranInteger),
    floating(number::kReal, "MPI_REAL", 4, Element::kFloat32),
    complex(number::kComplex, "MPI_COMPLEX", 8, Element::kFloat32),
    floating(number::kDoublePrecision, "MPI_DOUBLE_PRECISION", 8, Element::kFloat64),
    complex(number::kDoubleComplex, "MPI_DOUBLE_COMPLEX", 16, Element::kFloat64),
    opaque(number::kCharacter, "MPI_CHARACTER", 1),
    floating(number::kLongDouble, "MPI_LONG_DOUBLE", sizeof(long double), Element::kLongDouble),
    complex(number::kCLongDoubleComplex, "MPI_C_LONG_DOUBLE_COMPLEX", 2 * sizeof(long double),
            Element::kLongDouble),
    complex(number::kCxxLongDoubleComplex, "MPI_CXX_LONG_DOUBLE_COMPLEX", 2 * sizeof(long double),
            Element::kLongDouble),
    pair<float, int>(number::kFloatInt, "MPI_FLOAT_INT", Element::kFloatInt),
    pair<double, int>(number::kDoubleInt, "MPI_DOUBLE_INT", Element::kDoubleInt),
    pair<long, int>(number::kLongInt, "MPI_LONG_INT", Element::kLongInt),
    pair<int, int>(number::kTwoInt, "MPI_2INT", Element::kTwoInt),
    pair<short, int>(number::kShortInt, "MPI_SHORT_INT", Element::kShortInt),
    pair<long double, int>(number::kLongDoubleInt, "MPI_LONG_DOUBLE_INT", Element::kLongDoubleInt),
    pair<float, float>(number::kTwoReal, "MPI_2REAL", Element::kTwoFloat),
    pair<double, double>(number::kTwoDoublePrecision, "MPI_2DOUBLE_PRECISION", Element::kTwoDouble),
    pair<int, int>(number::kTwoInteger, "MPI_2INTEGER", Element::kTwoInt),
    logical<sizeof(bool)>(number::kCBool, "MPI_C_BOOL"),
    logical<sizeof(bool)>(number::kCxxBool, "MPI_CXX_BOOL"),
    opaque(number::kWchar, "MPI_WCHAR", sizeof(wchar_t)),
    integer<1>(number::kInt8T, "MPI_INT8_T", TypeClass::kCInteger),
    integer<1>(number::kUint8T, "MPI_UINT8_T", TypeClass::kCInteger, false),
    // The standard reserves MPI_CHAR for text. MPICH and Open MPI combine it as an integer, and programs rely
    // on that, for example OSU's accumulates.
    integer<1>(number::kChar, "MPI_CHAR", TypeClass::kCInteger, std::is_signed_v<char>),
    integer<1>(number::kSignedChar, "MPI_SIGNED_CHAR", TypeClass::kCInteger),
    integer<1>(number::kUnsignedChar, "MPI_UNSIGNED_CHAR", TypeClass::kCInteger, false),
    integer<1>(number::kByte, "MPI_BYTE", TypeClass::kByte, false),
    integer<2>(number::kInt16T, "MPI_INT16_T", TypeClass::kCInteger),
    integer<2>(number::kUint16T, "MPI_UINT16_T", TypeClass::kCInteger, false),
    integer<4>(number::kInt32T, "MPI_INT32_T", TypeClass::kCInteger),
    integer<4>(number::kUint32T, "MPI_UINT32_T", TypeClass::kCInteger, false),
    integer<8>(number::kInt64T, "MPI_INT64_T", TypeClass::kCInteger),
    integer<8>(number::kUint64T, "MPI_UINT64_T", TypeClass::kCInteger, false),
    logical<1>(number::kLogical1, "MPI_LOGICAL1"),
    integer<1>(number::kInteger1, "MPI_INTEGER1", TypeClass::kFortranInteger),
    logical<2>(number::kLogical2, "MPI_LOGICAL2"),
    integer<2>(number::kInteger2, "MPI_INTEGER2", TypeClass::kFortranInteger),
    floating(number::kReal2, "MPI_REAL2", 2, Element::kFloat16),
    logical<4>(number::kLogical4, "MPI_LOGICAL4"),
    integer<4>(number::kInteger4, "MPI_INTEGER4", TypeClass::kFortranInteger),
    floating(number::kReal4, "MPI_REAL4", 4, Element::kFloat32),
    complex(number::kComplex4, "MPI_COMPLEX4", 4, Element::kFloat16),
    logical<8>(number::kLogical8, "MPI_LOGICAL8"),
    integer<8>(number::kInteger8, "MPI_INTEGER8", TypeClass::kFortranInteger),
    floating(number::kReal8, "MPI_REAL8", 8, Element::kFloat64),
    complex(number::kComplex8, "MPI_COMPLEX8", 8, Element::kFloat32),
    logical<16>(number::kLogical16, "MPI_LOGICAL16"),
    integer<16>(number::kInteger16, "MPI_INTEGER16", TypeClass::kFortranInteger),
    floating(number::kReal16, "MPI_REAL16", 16, Element::kFloat128),
    complex(number::kComplex16, "MPI_COMPLEX16", 16, Element::kFloat64),
    complex(number::kComplex32, "MPI_COMPLEX32", 32, Element::kFloat128),
};

/// The handles of the datatypes are 0x200 .. 0x3ff.
inline constexpr std::uintptr_t kFirstType = 0x200;
inline constexpr std::size_t kTypeHandles = 0x200;

/// The sizes of the predefined datatypes without holes, by handle - kFirstType. The others have 0.
inline constexpr std::array<std::uint8_t, kTypeHandles> kDenseSizes = [] {
  std::array<std::uint8_t, kTypeHandles> sizes = {};
  for (const PredefinedType& type : kPredefinedTypes) {
    if (type.size == type.extent) sizes[type.handle - kFirstType] = type.size;
  }
  return sizes;
}();

}  // namespace rma::mpi
