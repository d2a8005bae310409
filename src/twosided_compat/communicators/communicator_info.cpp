// The hints and names of communicators. This library knows no hint, so it may ignore those of the program.

#include <cstring>
#include <mutex>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/communicators/communicator.hpp"
#include "twosided_compat/objects/info.hpp"
#include "twosided_compat/objects/object_names.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {

int comm_set_info(MPI_Comm handle, MPI_Info info) {
  RMA_TRY(find_communicator(handle).failure());
  return check_hints(info);
}

int comm_get_info(MPI_Comm handle, MPI_Info* used) {
  RMA_TRY(find_communicator(handle).failure());
  return info_create(used);
}

int comm_set_name(MPI_Comm handle, const char* name) {
  RMA_TRY_ASSIGN(comm, find_communicator(handle));
  if (name == nullptr) return failure(MPI_ERR_ARG, "comm_name is null");
  const std::lock_guard guard(places_lock());  // the name is read there
  comm->name.assign(name, strnlen(name, MPI_MAX_OBJECT_NAME - 1));
  return MPI_SUCCESS;
}

int comm_get_name(MPI_Comm handle, char* name, int* length) {
  if (handle == MPI_COMM_NULL) return give_name("MPI_COMM_NULL", name, length);
  RMA_TRY_ASSIGN(comm, find_communicator(handle));
  return give_name(comm->name, name, length);
}

}  // namespace librma::mpi
