// The groups of communicators, and how two communicators compare.

#include <algorithm>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/communicators/communicator.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {
namespace {

/// Compares two groups: MPI_CONGRUENT if the members are the same in the same order.
int compare(const Members& one, const Members& other) {
  if (one == other) return MPI_CONGRUENT;
  return one.has_same(other) ? MPI_SIMILAR : MPI_UNEQUAL;
}

Found<Communicator> find_intercommunicator(MPI_Comm handle) {
  RMA_TRY_ASSIGN(comm, find_communicator(handle));
  if (!comm->is_inter()) return failure(MPI_ERR_COMM, "the communicator is no intercommunicator");
  return comm;
}

}  // namespace

int comm_group(MPI_Comm handle, MPI_Group* made) {
  RMA_TRY_ASSIGN(comm, find_communicator(handle));
  *made = (new Group(comm->members(), comm->session()))->handle<MPI_Group>();
  return MPI_SUCCESS;
}

int comm_remote_group(MPI_Comm handle, MPI_Group* made) {
  RMA_TRY_ASSIGN(comm, find_intercommunicator(handle));
  *made = (new Group(comm->remote(), comm->session()))->handle<MPI_Group>();
  return MPI_SUCCESS;
}

int comm_remote_size(MPI_Comm handle, int* size) {
  RMA_TRY_ASSIGN(comm, find_intercommunicator(handle));
  *size = comm->remote()->size();
  return MPI_SUCCESS;
}

int comm_test_inter(MPI_Comm handle, int* flag) {
  RMA_TRY_ASSIGN(comm, find_communicator(handle));
  *flag = comm->is_inter() ? 1 : 0;
  return MPI_SUCCESS;
}

// The groups of two intercommunicators compare pairwise, and the weaker result counts.
int comm_compare(MPI_Comm first, MPI_Comm second, int* result) {
  Communicator* other = nullptr;
  RMA_TRY_ASSIGN(one, find_communicator(first));
  RMA_TRY(find_communicator(second).store(other));
  static_assert(MPI_CONGRUENT < MPI_SIMILAR && MPI_SIMILAR < MPI_UNEQUAL);
  if (one == other) {
    *result = MPI_IDENT;
  } else if (one->is_inter() != other->is_inter()) {
    *result = MPI_UNEQUAL;
  } else {
    *result = compare(*one->members(), *other->members());
    if (one->is_inter()) *result = std::max(*result, compare(*one->remote(), *other->remote()));
  }
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
