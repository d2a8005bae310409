// The hints of communicators. This library knows none, so it may ignore those of the program.

#include "twosided_compat/calls.hpp"
#include "twosided_compat/communicator.hpp"
#include "twosided_compat/info.hpp"

namespace rma::mpi {
namespace {

int check_hints(MPI_Info info) {
  if (info != MPI_INFO_NULL && find_info(info) == nullptr)
    return failure(MPI_ERR_INFO, "the info was freed, or is no info");
  return MPI_SUCCESS;
}

}  // namespace

int comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made) {
  if (const int code = check_hints(info); code != MPI_SUCCESS) return code;
  return comm_dup(comm, made);
}

int comm_set_info(MPI_Comm handle, MPI_Info info) {
  Communicator* comm = nullptr;
  if (const int code = find_communicator(handle, comm); code != MPI_SUCCESS) return code;
  return check_hints(info);
}

int comm_get_info(MPI_Comm handle, MPI_Info* used) {
  Communicator* comm = nullptr;
  if (const int code = find_communicator(handle, comm); code != MPI_SUCCESS) return code;
  return info_create(used);
}

}  // namespace rma::mpi
