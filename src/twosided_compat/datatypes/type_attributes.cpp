// The calls on the attributes of datatypes.

#include "twosided_compat/calls.hpp"
#include "twosided_compat/datatypes/datatypes.hpp"
#include "twosided_compat/objects/attributes.hpp"
#include "util/try.hpp"

namespace rma::mpi {

int type_create_keyval(MPI_Type_copy_attr_function* copy, MPI_Type_delete_attr_function* remove, int* keyval,
                       void* extra) {
  return create_key<MPI_Datatype>(copy, remove, keyval, extra);
}

int type_free_keyval(int* keyval) { return free_key<MPI_Datatype>(keyval); }

int type_set_attr(MPI_Datatype handle, int keyval, void* value) {
  Datatype* type = nullptr;
  RMA_TRY(find_datatype(handle, type));
  return type->attributes.set(handle, keyval, value);
}

int type_get_attr(MPI_Datatype handle, int keyval, void* value, int* flag) {
  Datatype* type = nullptr;
  RMA_TRY(find_datatype(handle, type));
  if (value == nullptr || flag == nullptr) return failure(MPI_ERR_ARG, "attribute_val or flag is null");
  return type->attributes.get(keyval, value, flag);
}

int type_delete_attr(MPI_Datatype handle, int keyval) {
  Datatype* type = nullptr;
  RMA_TRY(find_datatype(handle, type));
  return type->attributes.remove(handle, keyval);
}

}  // namespace rma::mpi
