#pragma once

#include <functional>
#include <utility>

#include "twosided_compat/datatypes/datatypes.hpp"

namespace librma::mpi {

/// A datatype that somebody holds a reference to.
class HeldType {
 public:
  HeldType() = default;
  /// Adds a reference.
  explicit HeldType(Datatype& type) : type_(&type) { type.add_reference(); }
  HeldType(HeldType&& other) noexcept : type_(std::exchange(other.type_, nullptr)) {}
  HeldType& operator=(HeldType&& other) noexcept {
    std::swap(type_, other.type_);
    return *this;
  }
  HeldType(const HeldType&) = delete;
  HeldType& operator=(const HeldType&) = delete;
  ~HeldType() {
    if (type_ != nullptr) type_->remove_reference();
  }

  [[nodiscard]] Datatype* get() const { return type_; }
  Datatype* operator->() const { return type_; }
  Datatype& operator*() const { return *type_; }

 private:
  Datatype* type_ = nullptr;
};

/// Stores the bytes that a predefined datatype has in the files of a representation. Returns MPI_SUCCESS or
/// an error code.
using BytesInFile = std::function<int(Datatype& predefined, MPI_Count& bytes)>;

/// Makes the datatype that describes how `type` lies in files of a representation. Sizes and extents of
/// predefined types are those that the representation has; displacements in bytes are taken as they are (MPI
/// 4.1, section 14.5). The result is `type` itself if all sizes are those of the memory.
[[nodiscard]] int make_type_in_file(Datatype& type, const BytesInFile& bytes_in_file, HeldType& made);

}  // namespace librma::mpi
