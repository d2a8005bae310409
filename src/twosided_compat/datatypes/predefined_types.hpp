#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/elements.hpp"
#include "twosided_compat/numbers.hpp"
#include "twosided_compat/objects/handles.hpp"

namespace librma::mpi {

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
  kPair,         ///< a value and an index, for MPI_MINLOC and MPI_MAXLOC
  kLowerMarker,  ///< no data: the beginning of a type that has it as a part (MPI_LB)
  kUpperMarker,  ///< no data: the end (MPI_UB)
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
constexpr PredefinedType lower_marker(std::uintptr_t handle, const char* name) {
  return {handle, name, 0, 0, TypeClass::kLowerMarker, Element::kNone};
}
constexpr PredefinedType upper_marker(std::uintptr_t handle, const char* name) {
  return {handle, name, 0, 0, TypeClass::kUpperMarker, Element::kNone};
}

/// Every predefined datatype, by constants.txt. The sizes of Fortran's types are gfortran's (abi.cpp reports
/// them).
inline constexpr std::array kPredefinedTypes = {
#include "twosided_compat/predefined_types.inc"
};

/// The sizes of the predefined datatypes without holes, by handle. All other predefined objects have 0.
inline constexpr std::array<std::uint8_t, kPredefinedSize> kDenseSizes = [] {
  std::array<std::uint8_t, kPredefinedSize> sizes = {};
  for (const PredefinedType& type : kPredefinedTypes) {
    if (type.size == type.extent) sizes[type.handle] = type.size;
  }
  return sizes;
}();

}  // namespace librma::mpi
