#pragma once

#include <vector>

#include "mpi.h"

namespace rma::mpi {

/// The attributes that a program has attached to one communicator (MPI 4.1, section 7.7), in the order in which it
/// first set them. The communicator's user does not set and read them at the same time.
class Attributes {
 public:
  Attributes() = default;
  ~Attributes();
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;

  /// Returns the value of an attribute, or null if it is not set.
  [[nodiscard]] void** find(int keyval);
  /// Sets an attribute. Deletes the value that it had.
  [[nodiscard]] int set(MPI_Comm comm, int keyval, void* value);
  /// Calls the delete function of an attribute and takes it out. MPI_ERR_KEYVAL if it is not set; the code of a
  /// delete function that fails, which keeps the attribute.
  [[nodiscard]] int remove(MPI_Comm comm, int keyval);
  /// Removes all, the last one first. Stops at the first failure.
  [[nodiscard]] int remove_all(MPI_Comm comm);
  /// Copies the attributes of `parent` as their copy functions say. Stops at the first failure.
  [[nodiscard]] int copy_from(const Attributes& parent, MPI_Comm comm);

 private:
  struct Attribute {
    int keyval = MPI_KEYVAL_INVALID;
    void* value = nullptr;
  };
  std::vector<Attribute> all_;
};

}  // namespace rma::mpi
