#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

// The handles of MPICH's interface: integers of 32 bits, except that the handle of a file is a pointer. Bits
// 26 to 29 say which type of object it is. handles.hpp includes this file, in the middle.

namespace librma::mpi {

/// The handle of a predefined object. `number` is that of constants.txt.
struct IntegerHandle {
  Kind kind;
  std::uintptr_t number;
  std::uint32_t handle;
};
inline constexpr std::array kIntegerHandles = {
#include "twosided_compat/integer_handles.inc"
};

inline constexpr std::size_t kHandleKinds =
    static_cast<std::size_t>(Kind::kDatatype) - static_cast<std::size_t>(Kind::kPredefined) + 1;
[[nodiscard]] constexpr std::size_t place_of_kind(Kind kind) {
  return static_cast<std::size_t>(kind) - static_cast<std::size_t>(Kind::kPredefined);
}

/// The type of object in a handle.
inline constexpr std::uint32_t kTypeBits = 0x3c000000;
/// The handles of the program's objects have this bit, and their number (Object::to_number) in the bits below
/// those of the type. Handles of MPICH's pairs of types, such as MPI_FLOAT_INT, have the bit too, and numbers
/// below kPredefinedEnd.
inline constexpr std::uint32_t kMadeBit = 0x80000000;
/// The numbers of objects are below this one.
inline constexpr std::uint32_t kNumberEnd = 0x04000000;

/// The bits beside the number in the handle of an object that the program has made, by kind.
inline constexpr auto kMadeHandles = [] {
  std::array<std::uint32_t, kHandleKinds> all = {};
  for (const IntegerHandle& each : kIntegerHandles)
    all[place_of_kind(each.kind)] = kMadeBit | (each.handle & kTypeBits);
  return all;
}();

/// Predefined handles of one kind differ in their two highest bits and their seven lowest ones.
[[nodiscard]] constexpr std::size_t predefined_place(std::uint32_t handle) {
  return (handle & 0x7f) | handle >> 30 << 7;
}

/// The number of each predefined object, by its kind and handle. 0 stands for a handle that no object has.
inline constexpr auto kNumbersOfHandles = [] {
  std::array<std::array<std::uint16_t, 0x200>, kHandleKinds> all = {};
  for (const IntegerHandle& each : kIntegerHandles)
    all[place_of_kind(each.kind)][predefined_place(each.handle)] = static_cast<std::uint16_t>(each.number);
  return all;
}();

/// The handle of each predefined object, by its number.
inline constexpr auto kHandlesOfNumbers = [] {
  std::array<std::uint32_t, kPredefinedSize> all = {};
  for (const IntegerHandle& each : kIntegerHandles) all[each.number] = each.handle;
  return all;
}();

/// Returns the number of a predefined object by its handle, and 0 for an integer that is no handle. Returns
/// the number of the object, which is kPredefinedEnd or more, for the handle of one that the program has
/// made.
template <class Handle>
[[nodiscard]] std::uintptr_t predefined_number(Handle handle) {
  constexpr std::size_t kPlace = place_of_kind(kind_of(Handle{}));
  const auto integer = static_cast<std::uint32_t>(handle);
  const std::uint32_t number = integer ^ kMadeHandles[kPlace];
  if (number >= kPredefinedEnd && number < kNumberEnd) return number;
  const std::uintptr_t predefined = kNumbersOfHandles[kPlace][predefined_place(integer)];
  return kHandlesOfNumbers[predefined] == integer ? predefined : 0;
}
[[nodiscard]] inline std::uintptr_t predefined_number(MPI_File file) {
  return file == MPI_FILE_NULL ? kFileNull : bits(file);
}

/// Returns the handle of the predefined object with this number.
template <class Handle>
[[nodiscard]] Handle predefined_handle(std::uintptr_t number) {
  if constexpr (std::is_pointer_v<Handle>) {
    return MPI_FILE_NULL;
  } else {
    return static_cast<Handle>(number < kPredefinedSize ? kHandlesOfNumbers[number] : 0);
  }
}

template <class Handle>
[[nodiscard]] Handle integer_handle(int number) {
  return static_cast<Handle>(kMadeHandles[place_of_kind(kind_of(Handle{}))] |
                             static_cast<std::uint32_t>(number));
}

/// Returns the INTEGER that stands for a file's null handle in Fortran. Other handles are the same in both
/// languages.
[[nodiscard]] inline int fortran_number(std::uintptr_t /*number*/) { return 0; }
/// Returns the number of the file's null handle, for every INTEGER of a predefined object.
[[nodiscard]] inline std::uintptr_t number_in_fortran(Kind /*kind*/, int /*fortran*/) { return kFileNull; }

}  // namespace librma::mpi
