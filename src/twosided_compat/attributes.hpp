#pragma once

#include <vector>

#include "mpi.h"

namespace rma::mpi {

/// The types of the functions that a program gives to an attribute key, for each kind of object.
template <class Handle>
struct AttributeFunctions;
template <>
struct AttributeFunctions<MPI_Comm> {
  using Copy = MPI_Comm_copy_attr_function;
  using Delete = MPI_Comm_delete_attr_function;
};
template <>
struct AttributeFunctions<MPI_Datatype> {
  using Copy = MPI_Type_copy_attr_function;
  using Delete = MPI_Type_delete_attr_function;
};
template <>
struct AttributeFunctions<MPI_Win> {
  using Copy = MPI_Win_copy_attr_function;
  using Delete = MPI_Win_delete_attr_function;
};

/// The attributes that a program has attached to one object (MPI 4.1, section 7.7), in the order in which it
/// first set them. `Handle` is the type of the object's handle. The object's user does not set and read them
/// at the same time.
template <class Handle>
class AttributesOf {
 public:
  AttributesOf() = default;
  ~AttributesOf();
  AttributesOf(const AttributesOf&) = delete;
  AttributesOf& operator=(const AttributesOf&) = delete;

  /// Returns the value of an attribute, or null if it is not set.
  [[nodiscard]] void** find(int keyval);
  /// Sets an attribute. Deletes the value that it had.
  [[nodiscard]] int set(Handle object, int keyval, void* value);
  /// Does what MPI_X_get_attr does for attributes that the program has set.
  [[nodiscard]] int get(int keyval, void* value, int* flag);
  /// Calls the delete function of an attribute and takes it out. MPI_ERR_KEYVAL if it is not set; the code of
  /// a delete function that fails, which keeps the attribute.
  [[nodiscard]] int remove(Handle object, int keyval);
  /// Removes all, the last one first. Stops at the first failure.
  [[nodiscard]] int remove_all(Handle object);
  /// Copies the attributes of `parent` as their copy functions say. Stops at the first failure.
  [[nodiscard]] int copy_from(const AttributesOf& parent, Handle object);

 private:
  struct Attribute {
    int keyval = MPI_KEYVAL_INVALID;
    void* value = nullptr;
  };
  std::vector<Attribute> all_;
};

/// The attributes of a communicator.
using Attributes = AttributesOf<MPI_Comm>;
/// The attributes of a datatype.
using TypeAttributes = AttributesOf<MPI_Datatype>;

/// Makes a key for attributes of one kind of object. The key is no key for other kinds.
template <class Handle>
[[nodiscard]] int create_key(typename AttributeFunctions<Handle>::Copy* copy,
                             typename AttributeFunctions<Handle>::Delete* remove, int* keyval, void* extra);
/// Frees a key. Attributes with it stay.
template <class Handle>
[[nodiscard]] int free_key(int* keyval);

}  // namespace rma::mpi
