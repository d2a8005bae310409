#pragma once

#include <vector>

#include "mpi.h"
#include "twosided_compat/objects/views.hpp"

namespace librma::mpi {

class Datatype;

/// The arguments that made a derived datatype, as MPI_Type_get_contents returns them. It holds references to
/// the types among them.
class TypeContents {
 public:
  /// `form` is that of the call: the large form has its own array for numbers of 64 bits.
  TypeContents(int combiner, Form form) : combiner_(combiner), form_(form) {}
  TypeContents(TypeContents&&) noexcept = default;
  TypeContents& operator=(TypeContents&&) = delete;
  ~TypeContents();

  // The arguments are added in the order of the call.
  TypeContents& add_int(int value);
  TypeContents& add_ints(const int* values, int count);
  TypeContents& add_count(MPI_Count value);
  TypeContents& add_counts(const Counts& values, MPI_Count count);
  TypeContents& add_address(MPI_Count value);
  TypeContents& add_addresses(const Displacements& values, MPI_Count count);
  TypeContents& add_type(Datatype& type);

  [[nodiscard]] int combiner() const { return combiner_; }
  [[nodiscard]] const std::vector<int>& integers() const { return integers_; }
  [[nodiscard]] const std::vector<MPI_Aint>& addresses() const { return addresses_; }
  [[nodiscard]] const std::vector<MPI_Count>& large_counts() const { return large_counts_; }
  [[nodiscard]] const std::vector<Datatype*>& types() const { return types_; }

 private:
  int combiner_;
  Form form_;
  std::vector<int> integers_;
  std::vector<MPI_Aint> addresses_;
  std::vector<MPI_Count> large_counts_;
  std::vector<Datatype*> types_;
};

}  // namespace librma::mpi
