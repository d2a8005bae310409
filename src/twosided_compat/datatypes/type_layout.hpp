#pragma once

#include <optional>
#include <vector>

#include "twosided_compat/datatypes/type_map.hpp"

namespace librma::mpi {

/// The bounds of a datatype, in bytes.
struct Bounds {
  MPI_Count lower = 0;        ///< where an element begins, from the address that a call gets
  MPI_Count extent = 0;       ///< the distance of the elements of an array
  MPI_Count true_lower = 0;   ///< where the first byte of data is
  MPI_Count true_extent = 0;  ///< the distance from the first byte of data to the end of the last one
};

/// All that decides how a datatype lies in memory. The constructors of datatypes combine layouts.
class TypeLayout {
 public:
  TypeLayout() = default;
  explicit TypeLayout(const PredefinedType& type);
  [[nodiscard]] TypeLayout moved(MPI_Count distance) const;
  /// `stride` is in bytes.
  [[nodiscard]] TypeLayout repeated(MPI_Count count, MPI_Count stride) const;
  [[nodiscard]] static TypeLayout joined(std::vector<TypeLayout> parts);
  /// Returns the layout with these bounds instead of its own (MPI_Type_create_resized).
  [[nodiscard]] TypeLayout resized(MPI_Count lower, MPI_Count extent) const;
  /// Returns a layout that overflows: a number from which it was to be made does not fit.
  [[nodiscard]] TypeLayout overflown() const;

  /// Returns the map with the basic elements as they are.
  [[nodiscard]] const TypeMap& elements() const { return elements_; }
  /// Returns the map of the same data as bytes, in which neighbours of different types are one block.
  [[nodiscard]] const TypeMap& bytes() const { return bytes_; }
  [[nodiscard]] Bounds bounds() const;
  /// Returns whether a number does not fit into an MPI_Count. Then the layout must not be used.
  [[nodiscard]] bool overflows() const;

 private:
  /// Bounds that the program has set. They replace those that follow from the data, also in types that are
  /// made of this one (MPI 4.1, section 5.1.7: the lb and ub markers). Only the types MPI_LB and MPI_UB,
  /// which MPI has removed, set one alone.
  struct Markers {
    std::optional<MPI_Count> lower;
    std::optional<MPI_Count> upper;
  };
  [[nodiscard]] static Markers markers_of(const PredefinedType& type);

  TypeMap elements_;
  TypeMap bytes_;
  Markers markers_;
  MPI_Count alignment_ = 1;  // the strictest of the basic elements
  bool overflows_ = false;
};

}  // namespace librma::mpi
