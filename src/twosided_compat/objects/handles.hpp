#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "mpi.h"

// Handles: what kind of object each type of handle means, and how a handle means an object. The second is all
// that tells the personalities of this library apart, beside the constants of mpi.h: the one with the
// standard's binary interface, the one with Open MPI's, which defines RMA_MPI_OPENMPI, and the one with
// MPICH's, which defines RMA_MPI_MPICH.

namespace librma::mpi {

/// The kinds of objects that a program has handles of.
enum class Kind : std::uint32_t {
  kPredefined = 0x4d504900,  // "MPI" and a number, so that foreign memory is rarely taken for an object
  kComm,
  kGroup,
  kWin,
  kFile,
  kSession,
  kMessage,
  kInfo,
  kErrhandler,
  kRequest,
  kOp,
  kDatatype,
};

/// Returns the kind of the objects behind a type of handle.
[[nodiscard]] constexpr Kind kind_of(MPI_Comm /*handle*/) { return Kind::kComm; }
[[nodiscard]] constexpr Kind kind_of(MPI_Group /*handle*/) { return Kind::kGroup; }
[[nodiscard]] constexpr Kind kind_of(MPI_Win /*handle*/) { return Kind::kWin; }
[[nodiscard]] constexpr Kind kind_of(MPI_File /*handle*/) { return Kind::kFile; }
[[nodiscard]] constexpr Kind kind_of(MPI_Session /*handle*/) { return Kind::kSession; }
[[nodiscard]] constexpr Kind kind_of(MPI_Message /*handle*/) { return Kind::kMessage; }
[[nodiscard]] constexpr Kind kind_of(MPI_Info /*handle*/) { return Kind::kInfo; }
[[nodiscard]] constexpr Kind kind_of(MPI_Errhandler /*handle*/) { return Kind::kErrhandler; }
[[nodiscard]] constexpr Kind kind_of(MPI_Request /*handle*/) { return Kind::kRequest; }
[[nodiscard]] constexpr Kind kind_of(MPI_Op /*handle*/) { return Kind::kOp; }
[[nodiscard]] constexpr Kind kind_of(MPI_Datatype /*handle*/) { return Kind::kDatatype; }

/// The numbers of predefined objects are below this one. The zero page ends there, so no object has such an
/// address.
inline constexpr std::uintptr_t kPredefinedEnd = 0x1000;
/// The numbers that constants.txt gives to predefined objects are below this one.
inline constexpr std::uintptr_t kPredefinedSize = 0x400;

/// Whether handles of this type are addresses of objects. In MPICH's interface they are integers, which mean
/// the same in C and Fortran; only a file's handle is an address there, too.
template <class Handle>
inline constexpr bool kIsAddress = std::is_pointer_v<Handle>;

/// Returns the handle of an object that the program has made, by the number that the object has drawn. Only
/// for handles that are integers.
template <class Handle>
[[nodiscard]] Handle integer_handle(int number);

/// Returns the bits of a handle.
template <class Handle>
[[nodiscard]] std::uintptr_t bits(Handle handle) {
  return reinterpret_cast<std::uintptr_t>(handle);
}

#ifdef RMA_MPI_OPENMPI

/// Where the handle of a predefined object is the address of a data symbol. A program that is not compiled as
/// a shared library has the symbol's memory in its own data, and a copy of the library's value in it.
inline constexpr bool kHandlesAreNumbers = false;

/// The first words of the memory behind every handle: those of Object, and of the data symbols.
struct HandleWords {
  Kind kind;
  int number;
};

/// The data symbols of the predefined objects, by number; null for a number that has none.
extern const std::array<void*, kPredefinedSize> predefined_symbols;

/// Returns the number of a predefined object by its handle. Returns a number of kPredefinedEnd or more for
/// the handle of an object that the program has made, and 0 for a null pointer, which is no handle.
template <class Handle>
[[nodiscard]] std::uintptr_t predefined_number(Handle handle) {
  if (bits(handle) < kPredefinedEnd) return 0;
  const auto* const words = reinterpret_cast<const HandleWords*>(handle);
  return words->kind == Kind::kPredefined ? static_cast<std::uintptr_t>(words->number) : bits(handle);
}

/// Returns the handle of the predefined object with this number.
template <class Handle>
[[nodiscard]] Handle predefined_handle(std::uintptr_t number) {
  return number < kPredefinedSize ? static_cast<Handle>(predefined_symbols[number]) : nullptr;
}

/// Returns the INTEGER that stands for a predefined object in Fortran.
[[nodiscard]] int fortran_number(std::uintptr_t number);
/// Returns the number of the predefined object of this kind that the INTEGER stands for, or 0.
[[nodiscard]] std::uintptr_t number_in_fortran(Kind kind, int fortran);

#elif defined(RMA_MPI_MPICH)

inline constexpr bool kHandlesAreNumbers = false;
/// The number of the null handle of files.
inline constexpr std::uintptr_t kFileNull = 0x118;

// Handles are integers of 32 bits, except that the handle of a file is a pointer. Bits 26 to 29 say which
// type of object it is.

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

#else

/// Where the handle of a predefined object is its number.
inline constexpr bool kHandlesAreNumbers = true;

/// Returns the number of a predefined object by its handle, and a number of kPredefinedEnd or more for the
/// handle of an object that the program has made.
template <class Handle>
[[nodiscard]] std::uintptr_t predefined_number(Handle handle) {
  return bits(handle);
}

/// Returns the handle of the predefined object with this number.
template <class Handle>
[[nodiscard]] Handle predefined_handle(std::uintptr_t number) {
  return reinterpret_cast<Handle>(number);
}

/// Returns the INTEGER that stands for a predefined object in Fortran.
[[nodiscard]] inline int fortran_number(std::uintptr_t number) { return static_cast<int>(number); }
/// Returns the number of the predefined object that the INTEGER stands for.
[[nodiscard]] inline std::uintptr_t number_in_fortran(Kind /*kind*/, int fortran) {
  return static_cast<std::uintptr_t>(fortran);
}

#endif

template <class Handle>
[[nodiscard]] bool is_predefined(Handle handle) {
  return predefined_number(handle) < kPredefinedEnd;
}

}  // namespace librma::mpi
