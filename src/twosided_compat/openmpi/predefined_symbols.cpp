// The data symbols of Open MPI's predefined objects, and Fortran's numbers of them.

#include <cstddef>

#include "twosided_compat/objects/handles.hpp"

namespace librma::mpi {

/// A predefined object of as many bytes as Open MPI's has: the dynamic linker warns of a program whose copy
/// has another size. Nothing is in it but the words that say which object it is.
template <std::size_t kBytes>
struct PredefinedObject : HandleWords {
  constexpr explicit PredefinedObject(int which) : HandleWords{Kind::kPredefined, which} {}
  std::array<std::byte, kBytes - sizeof(HandleWords)> unused = {};
};

}  // namespace librma::mpi

using librma::mpi::PredefinedObject;

#include "twosided_compat/predefined_symbols.inc"

namespace librma::mpi {
namespace {

struct Row {
  Kind kind;
  std::uintptr_t number;
  int fortran;
  void* symbol;
};

constexpr std::array kRows = {
#include "twosided_compat/fortran_numbers.inc"
};

/// Open MPI's own numbers in Fortran are below this one. An object that Open MPI does not have keeps its
/// number, which is larger.
constexpr int kFortranEnd = 0x80;

constexpr std::size_t place_of(Kind kind) {
  return static_cast<std::size_t>(kind) - static_cast<std::size_t>(Kind::kPredefined);
}
constexpr std::size_t kKinds = place_of(Kind::kDatatype) + 1;

/// Fortran's number of each object, by its number. 0 also stands for a number that no object has.
constexpr auto kFortranNumbers = [] {
  std::array<std::uint16_t, kPredefinedSize> all = {};
  for (const Row& row : kRows) all[row.number] = static_cast<std::uint16_t>(row.fortran);
  return all;
}();

/// The number of each object, by its kind and Fortran's number.
constexpr auto kNumbers = [] {
  std::array<std::array<std::uint16_t, kFortranEnd>, kKinds> all = {};
  for (const Row& row : kRows) {
    if (row.fortran < kFortranEnd)
      all[place_of(row.kind)][static_cast<std::size_t>(row.fortran)] = static_cast<std::uint16_t>(row.number);
  }
  return all;
}();

}  // namespace

constinit const std::array<void*, kPredefinedSize> predefined_symbols = [] {
  std::array<void*, kPredefinedSize> all = {};
  for (const Row& row : kRows) all[row.number] = row.symbol;
  return all;
}();

int fortran_number(std::uintptr_t number) { return number < kPredefinedSize ? kFortranNumbers[number] : 0; }

std::uintptr_t number_in_fortran(Kind kind, int fortran) {
  const auto place = static_cast<std::size_t>(fortran);
  if (fortran >= 0 && fortran < kFortranEnd) return kNumbers[place_of(kind)][place];
  return place < kPredefinedSize && kFortranNumbers[place] == fortran ? place : 0;
}

}  // namespace librma::mpi
