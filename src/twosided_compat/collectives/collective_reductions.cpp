// The blocking collective calls that combine data: reduce, allreduce, reduce_scatter, scan.

#include "twosided_compat/calls.hpp"
#include "twosided_compat/collectives/collective_call.hpp"

namespace rma::mpi {

int reduce(const void* out, void* in, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
           MPI_Comm handle) {
  return executed([&](CollectiveCall& call) { return call.reduce(out, in, count, type, op, root, handle); });
}

int allreduce(const void* out, void* in, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm handle) {
  return executed([&](CollectiveCall& call) { return call.allreduce(out, in, count, type, op, handle); });
}

int reduce_scatter(const void* out, void* in, Counts counts, MPI_Datatype type, MPI_Op op, MPI_Comm handle) {
  return executed(
      [&](CollectiveCall& call) { return call.reduce_scatter(out, in, counts, type, op, handle); });
}

int reduce_scatter_block(const void* out, void* in, MPI_Count count, MPI_Datatype type, MPI_Op op,
                         MPI_Comm handle) {
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
