// Barrier, and the blocking collective calls that move data: broadcast, gather, scatter, allgather, alltoall.

#include "twosided_compat/calls.hpp"
#include "twosided_compat/collectives/collective_call.hpp"

namespace rma::mpi {

int barrier(MPI_Comm handle) {
  return executed([&](CollectiveCall& call) { return call.barrier(handle); });
}

int bcast(void* address, MPI_Count count, MPI_Datatype type, int root, MPI_Comm handle) {
  return executed([&](CollectiveCall& call) { return call.bcast(address, count, type, root, handle); });
}

int gather(const void* out, MPI_Count out_count, MPI_Datatype out_type, void* in, MPI_Count in_count,
           MPI_Datatype in_type, int root, MPI_Comm handle) {
  return executed([&](CollectiveCall& call) {
    return call.gather(out, out_count, out_type, in, in_count, in_type, root, handle);
  });
}

int gatherv(const void* out, MPI_Count out_count, MPI_Datatype out_type, void* in, Counts in_counts,
            Displacements displacements, MPI_Datatype in_type, int root, MPI_Comm handle) {
  return executed([&](CollectiveCall& call) {
    return call.gatherv(out, out_count, out_type, in, in_counts, displacements, in_type, root, handle);
  });
}

int scatter(const void* out, MPI_Count out_count, MPI_Datatype out_type, void* in, MPI_Count in_count,
            MPI_Datatype in_type, int root, MPI_Comm handle) {
  return executed([&](CollectiveCall& call) {
    return call.scatter(out, out_count, out_type, in, in_count, in_type, root, handle);
  });
}

int scatterv(const void* out, Counts out_counts, Displacements displacements, MPI_Datatype out_type, void* in,
             MPI_Count in_count, MPI_Datatype in_type, int root, MPI_Comm handle) {
  return executed([&](CollectiveCall& call) {
    return call.scatterv(out, out_counts, displacements, out_type, in, in_count, in_type, root, handle);
  });
}

int allgather(const void* out, MPI_Count out_count, MPI_Datatype out_type, void* in, MPI_Count in_count,
              MPI_Datatype in_type, MPI_Comm handle) {
  return executed([&](CollectiveCall& call) {
    return call.allgather(out, out_count, out_type, in, in_count, in_type, handle);
  });
}

int allgatherv(const void* out, MPI_Count out_count, MPI_Datatype out_type, void* in, Counts in_counts,
               Displacements displacements, MPI_Datatype in_type, MPI_Comm handle) {
  return executed([&](CollectiveCall& call) {
    return call.allgatherv(out, out_count, out_type, in, in_counts, displacements, in_type, handle);
  });
}

int alltoall(const void* out, MPI_Count out_count, MPI_Datatype out_type, void* in, MPI_Count in_count,
             MPI_Datatype in_type, MPI_Comm handle) {
  return executed([&](CollectiveCall& call) {
    return call.alltoall(out, out_count, out_type, in, in_count, in_type, handle);
  });
}

int alltoallv(const void* out, Counts out_counts, Displacements out_displacements, MPI_Datatype out_type,
              void* in, Counts in_counts, Displacements in_displacements, MPI_Datatype in_type,
              MPI_Comm handle) {
  return executed([&](CollectiveCall& call) {
    return call.alltoallv(out, out_counts, out_displacements, out_type, in, in_counts, in_displacements,
                          in_type, handle);
  });
}

int alltoallw(const void* out, Counts out_counts, Displacements out_displacements,
              const MPI_Datatype out_types[], void* in, Counts in_counts, Displacements in_displacements,
              const MPI_Datatype in_types[], MPI_Comm handle) {
  return executed([&](CollectiveCall& call) {
    return call.alltoallw(out, out_counts, out_displacements, out_types, in, in_counts, in_displacements,
                          in_types, handle);
  });
}

}  // namespace rma::mpi
