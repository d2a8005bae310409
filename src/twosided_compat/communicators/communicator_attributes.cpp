// The calls on the attributes of communicators.

#include <climits>

#include "rma/rma.h"
#include "twosided_compat/calls.hpp"
#include "twosided_compat/communicators/communicator.hpp"
#include "twosided_compat/objects/error_codes.hpp"
#include "util/try.hpp"

namespace rma::mpi {
namespace {

/// Returns the value of a predefined attribute, or null if `keyval` names no predefined attribute. The values
/// never change during a job, except that of MPI_LASTUSEDCODE.
int* predefined_attribute(int keyval) {
  static int tag_limit = INT_MAX;
  static int every_process = MPI_ANY_SOURCE;  // each may do input and output
  static int no_process = MPI_PROC_NULL;      // no process has a host process
  static int no = 0;
  switch (keyval) {
    case MPI_TAG_UB:
      return &tag_limit;
    case MPI_IO:
      return &every_process;
    case MPI_HOST:
      return &no_process;
    case MPI_WTIME_IS_GLOBAL:
      return &no;
    case MPI_APPNUM: {
      static thread_local int program = 0;
      program = rma_program();
      return &program;
    }
    case MPI_UNIVERSE_SIZE: {
      static thread_local int size = 0;
      size = rma_size();
      return &size;
    }
    case MPI_LASTUSEDCODE: {
      static thread_local int code = 0;
      code = last_used_code();
      return &code;
    }
    default:
      return nullptr;
  }
}

}  // namespace

int comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* remove, int* keyval,
                       void* extra) {
  return create_key<MPI_Comm>(copy, remove, keyval, extra);
}

int comm_free_keyval(int* keyval) { return free_key<MPI_Comm>(keyval); }

int comm_set_attr(MPI_Comm handle, int keyval, void* value) {
  Communicator* comm = nullptr;
  RMA_TRY(find_communicator(handle, comm));
  return comm->attributes.set(handle, keyval, value);
}

int comm_get_attr(MPI_Comm handle, int keyval, void* value, int* flag) {
  Communicator* comm = nullptr;
  RMA_TRY(find_communicator(handle, comm));
  if (value == nullptr || flag == nullptr) return failure(MPI_ERR_ARG, "attribute_val or flag is null");
  if (int* const predefined = predefined_attribute(keyval); predefined != nullptr) {
    *static_cast<void**>(value) = predefined;
    *flag = 1;
    return MPI_SUCCESS;
  }
  return comm->attributes.get(keyval, value, flag);
}

int comm_delete_attr(MPI_Comm handle, int keyval) {
  Communicator* comm = nullptr;
  RMA_TRY(find_communicator(handle, comm));
  return comm->attributes.remove(handle, keyval);
}

// The names of MPI 1.

int keyval_create(MPI_Copy_function* copy, MPI_Delete_function* remove, int* keyval, void* extra) {
  return comm_create_keyval(copy, remove, keyval, extra);
}
int keyval_free(int* keyval) { return comm_free_keyval(keyval); }
int attr_put(MPI_Comm comm, int keyval, void* value) { return comm_set_attr(comm, keyval, value); }
int attr_get(MPI_Comm comm, int keyval, void* value, int* flag) {
  return comm_get_attr(comm, keyval, value, flag);
}
int attr_delete(MPI_Comm comm, int keyval) { return comm_delete_attr(comm, keyval); }

}  // namespace rma::mpi
