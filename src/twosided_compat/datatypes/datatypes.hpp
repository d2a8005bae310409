#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "twosided_compat/datatypes/predefined_types.hpp"
#include "twosided_compat/datatypes/type_contents.hpp"
#include "twosided_compat/datatypes/type_layout.hpp"
#include "twosided_compat/objects/attributes.hpp"
#include "twosided_compat/objects/found.hpp"
#include "twosided_compat/objects/object.hpp"

namespace librma::mpi {

/// A datatype. It never changes, except for its name, its attributes and MPI_Type_commit. An operation that
/// uses a type of the program after its call has returned holds a reference, and so does a type that was made
/// of it.
class Datatype : public Counted<Datatype> {
 public:
  /// Makes a predefined type.
  explicit Datatype(const PredefinedType& type);
  /// Makes a predefined type that has no name and is the same as `base`, which has one: those of Fortran that
  /// are chosen by precision and range. `contents` are the arguments that chose it.
  Datatype(const Datatype& base, TypeContents contents);
  /// Makes a derived type. Its numbers do not overflow.
  Datatype(TypeLayout layout, TypeContents contents);

  /// Returns the bytes of data in one element.
  [[nodiscard]] MPI_Count size() const { return layout_.bytes().size(); }
  [[nodiscard]] const Bounds& bounds() const { return bounds_; }
  [[nodiscard]] const TypeLayout& layout() const { return layout_; }
  /// Returns the map of the bytes of `count` elements.
  [[nodiscard]] TypeMap map_of(MPI_Count count) const {
    return layout_.bytes().repeated(count, bounds_.extent);
  }
  [[nodiscard]] bool is_committed() const { return committed_.load(std::memory_order_relaxed); }
  void commit() { committed_.store(true, std::memory_order_relaxed); }

  /// Returns the predefined type that this is, or null for a derived one, copies included.
  [[nodiscard]] const PredefinedType* predefined() const { return predefined_; }
  /// Returns the number of basic elements in one element: those that MPI_Get_elements counts.
  [[nodiscard]] MPI_Count elements() const { return layout_.elements().elements(); }
  /// Returns the arguments that made a derived type, or chose one of Fortran; null for the other predefined
  /// ones.
  [[nodiscard]] const TypeContents* contents() const { return contents_ ? &*contents_ : nullptr; }

  /// Gives the program one more handle: it frees each.
  void add_handle() {
    handles_.fetch_add(1, std::memory_order_relaxed);
    add_reference();
  }
  /// Takes a handle from the program. The last one ends the attributes. Returns the failure of a delete
  /// function, which leaves the handle to the program.
  [[nodiscard]] int remove_handle();

  [[nodiscard]] std::string name() const;
  void set_name(std::string name);

  TypeAttributes attributes;

 private:
  const PredefinedType* predefined_ = nullptr;
  const TypeLayout layout_;
  const Bounds bounds_;
  const std::optional<TypeContents> contents_;
  std::atomic<bool> committed_ = false;  // relaxed: the program orders its calls
  std::atomic<int> handles_ = 1;
  mutable std::mutex name_lock_;  // guards the name
  std::string name_;
};

/// Finds the datatype of a handle. MPI_ERR_TYPE.
[[nodiscard]] inline Found<Datatype> find_datatype(MPI_Datatype handle) {
  return find_or_fail<Datatype>(handle, MPI_ERR_TYPE, "the handle is null, was freed, or is no datatype");
}

/// Makes a datatype. MPI_ERR_ARG if the numbers of its layout do not fit into an MPI_Count.
[[nodiscard]] int make_datatype(TypeLayout layout, TypeContents contents, MPI_Datatype* newtype);

/// Returns the size of a predefined datatype without holes. Returns 0 for every other handle: then
/// find<Datatype>() knows more. This is the fast way for a call that moves data: such types are committed and
/// contiguous.
[[nodiscard]] inline std::size_t dense_size(MPI_Datatype datatype) {
  const std::uintptr_t number = predefined_number(datatype);
  if (number >= kPredefinedSize) [[unlikely]]
    return 0;
  return kDenseSizes[number];
}

/// Makes the predefined datatypes, once.
void open_predefined_types();

}  // namespace librma::mpi
