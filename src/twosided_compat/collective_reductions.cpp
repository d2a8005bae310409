// The blocking collective calls that combine data: reduce, allreduce, reduce_scatter, scan. Those of an
// intracommunicator are librma's collective operations.

#include <vector>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/collective_call.hpp"
#include "twosided_compat/intercollectives.hpp"

namespace rma::mpi {

int reduce(const void* out, void* in, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
           MPI_Comm handle) {
  Communicator* comm = nullptr;
  if (const int code = find_communicator(handle, comm); code != MPI_SUCCESS) return code;
  if (comm->is_inter()) {
    return inter_reduce(*comm, out, in, count, type, op, root);
  }
  return executed([&](CollectiveCall& call) { return call.reduce(out, in, count, type, op, root, handle); });
}

int allreduce(const void* out, void* in, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm handle) {
  Communicator* comm = nullptr;
  if (const int code = find_communicator(handle, comm); code != MPI_SUCCESS) return code;
  if (comm->is_inter()) {
    return inter_allreduce(*comm, out, in, count, type, op);
  }
  return executed([&](CollectiveCall& call) { return call.allreduce(out, in, count, type, op, handle); });
}

int reduce_scatter(const void* out, void* in, Counts counts, MPI_Datatype type, MPI_Op op, MPI_Comm handle) {
  Communicator* comm = nullptr;
  if (const int code = find_communicator(handle, comm); code != MPI_SUCCESS) return code;
  if (comm->is_inter()) {
    return inter_reduce_scatter(*comm, out, in, counts, type, op);
  }
  return executed(
      [&](CollectiveCall& call) { return call.reduce_scatter(out, in, counts, type, op, handle); });
}

int reduce_scatter_block(const void* out, void* in, MPI_Count count, MPI_Datatype type, MPI_Op op,
                         MPI_Comm handle) {
  Communicator* comm = nullptr;
  if (const int code = find_communicator(handle, comm); code != MPI_SUCCESS) return code;
  if (comm->is_inter()) {
    if (count < 0) return failure(MPI_ERR_COUNT, "recvcount is negative");
    const std::vector<MPI_Count> counts(static_cast<std::size_t>(comm->size()), count);
    return inter_reduce_scatter(*comm, out, in, Counts(counts.data()), type, op);
  }
  return executed(
      [&](CollectiveCall& call) { return call.reduce_scatter_block(out, in, count, type, op, handle); });
}

int scan(const void* out, void* in, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm handle) {
  return executed([&](CollectiveCall& call) { return call.scan(out, in, count, type, op, handle); });
}

int exscan(const void* out, void* in, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm handle) {
  return executed([&](CollectiveCall& call) { return call.exscan(out, in, count, type, op, handle); });
}

}  // namespace rma::mpi
