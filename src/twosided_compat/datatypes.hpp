#pragma once

#include <mutex>
#include <string>

#include "twosided_compat/object.hpp"
#include "twosided_compat/predefined_types.hpp"

namespace rma::mpi {

/// The bounds of a datatype, in bytes.
struct Bounds {
  MPI_Count lower = 0;        ///< where an element begins, from the address that a call gets
  MPI_Count extent = 0;       ///< the distance of the elements of an array
  MPI_Count true_lower = 0;   ///< where the first byte of data is
  MPI_Count true_extent = 0;  ///< the distance from the first byte of data to the end of the last one
};

/// A datatype. A derived type is a class that adds the layout; everything that moves no data works with this
/// one. An operation that uses a type of the program after its call has returned holds a reference.
class Datatype : public Counted<Datatype> {
 public:
  /// Makes a predefined type.
  explicit Datatype(const PredefinedType& type);
  /// Makes a copy of `original` for MPI_Type_dup: as committed as it is, and without a name.
  explicit Datatype(const Datatype& original);
  virtual ~Datatype() = default;

  /// Returns the bytes of data in one element.
  [[nodiscard]] MPI_Count size() const { return size_; }
  [[nodiscard]] const Bounds& bounds() const { return bounds_; }
  /// Returns whether any number of elements is one piece of data that begins at the address that a call gets.
  [[nodiscard]] bool is_contiguous() const { return contiguous_; }
  [[nodiscard]] bool is_committed() const { return committed_; }
  void commit() { committed_ = true; }

  /// Returns the predefined type that this is, or null for a derived one, copies included.
  [[nodiscard]] const PredefinedType* predefined() const { return predefined_; }
  /// Returns the number of basic elements in one element: those that MPI_Get_elements counts.
  [[nodiscard]] MPI_Count elements() const { return elements_; }

  [[nodiscard]] std::string name() const;
  void set_name(std::string name);

 protected:
  /// Makes a derived type.
  Datatype(MPI_Count size, MPI_Count elements, const Bounds& bounds, bool contiguous)
      : Counted(Kind::kDatatype),
        size_(size),
        elements_(elements),
        bounds_(bounds),
        contiguous_(contiguous) {}

 private:
  const PredefinedType* predefined_ = nullptr;
  MPI_Count size_;
  MPI_Count elements_ = 1;
  Bounds bounds_;
  bool contiguous_;
  bool committed_ = false;
  mutable std::mutex name_lock_;  // guards the name
  std::string name_;
};

/// Returns the size of a predefined datatype without holes. Returns 0 for every other handle: then
/// find<Datatype>() knows more. This is the fast way for a call that moves data: such types are committed and
/// contiguous.
[[nodiscard]] inline std::size_t dense_size(MPI_Datatype datatype) {
  const std::uintptr_t place =
      bits(datatype) - kFirstType;  // wraps for smaller handles, which makes it large
  return place < kTypeHandles ? kDenseSizes[place] : 0;
}

/// Makes the predefined datatypes, once.
void open_predefined_types();

}  // namespace rma::mpi
