#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "mpi.h"

namespace librma::mpi {

// The entry points treat MPI_Aint and MPI_Count as one type, as they are on every 64-bit system.
static_assert(std::is_same_v<MPI_Aint, MPI_Count>, "this library needs a system with addresses of 64 bits");

/// The form of a call: with int for counts, or with 64-bit integers (MPI_X_c).
enum class Form : std::uint8_t { kPlain, kLarge };

/// A view of an array of the program: of int in a call of the plain form, of 64-bit integers in one of the
/// large form. The array must outlive the view, as MPI requires of the arrays of a nonblocking call until it
/// completes.
template <class Meaning>
class IntegerView {
 public:
  IntegerView(const int* narrow) : narrow_(narrow) {}  // NOLINT: an entry passes the array as it is
  IntegerView(const MPI_Count* wide) : wide_(wide) {}  // NOLINT
  IntegerView(std::nullptr_t) {}                       // NOLINT

  [[nodiscard]] MPI_Count operator[](std::size_t index) const {
    return wide_ != nullptr ? wide_[index] : narrow_[index];
  }
  [[nodiscard]] MPI_Count operator[](int index) const { return (*this)[static_cast<std::size_t>(index)]; }

  /// Returns whether the program passed a null pointer.
  [[nodiscard]] bool is_null() const { return wide_ == nullptr && narrow_ == nullptr; }

  /// Returns whether an integer of the array may be an address.
  [[nodiscard]] bool can_hold_addresses() const { return wide_ != nullptr; }

 private:
  const int* narrow_ = nullptr;
  const MPI_Count* wide_ = nullptr;
};

/// Numbers of elements, or displacements in elements of the types whose large form has MPI_Count.
using Counts = IntegerView<struct CountMeaning>;
/// Displacements, in elements or bytes, whose large form has MPI_Aint or MPI_Count.
using Displacements = IntegerView<struct DisplacementMeaning>;

/// Returns `value` as an int, or MPI_UNDEFINED if an int cannot hold it.
[[nodiscard]] inline int narrowed(MPI_Count value) {
  const bool fits = value >= std::numeric_limits<int>::min() && value <= std::numeric_limits<int>::max();
  return fits ? static_cast<int>(value) : MPI_UNDEFINED;
}

/// An int that the plain form of a call returns, and the wider one that the library stores in its place.
class NarrowOut {
 public:
  explicit NarrowOut(int* target) : target_(target) {}

  /// Returns where the library stores the value: null if the program passed null.
  [[nodiscard]] MPI_Count* wide() { return target_ != nullptr ? &wide_ : nullptr; }
  /// Gives the value to the program. It gets MPI_UNDEFINED if an int cannot hold the value.
  void store() {
    if (target_ != nullptr) *target_ = narrowed(wide_);
  }

 protected:
  int* target_;
  MPI_Count wide_ = 0;
};

/// Stands for an int that the call reads and changes.
class NarrowInOut : public NarrowOut {
 public:
  explicit NarrowInOut(int* target) : NarrowOut(target) {
    if (target != nullptr) wide_ = *target;
  }
};

}  // namespace librma::mpi
