#pragma once

#include "mpi.h"

// The functions of MPI that MPI 3.0 has removed, and those by which programs ask for graphics processors.
#pragma GCC visibility push(default)
extern "C" {
#define RMA_MPI_REMOVED(name, ...) \
  int MPI##name(__VA_ARGS__);      \
  int PMPI##name(__VA_ARGS__)
RMA_MPI_REMOVED(_Address, void* location, MPI_Aint* address);
RMA_MPI_REMOVED(_Errhandler_create, MPI_Comm_errhandler_function* function, MPI_Errhandler* errhandler);
RMA_MPI_REMOVED(_Errhandler_get, MPI_Comm comm, MPI_Errhandler* errhandler);
RMA_MPI_REMOVED(_Errhandler_set, MPI_Comm comm, MPI_Errhandler errhandler);
RMA_MPI_REMOVED(_Type_extent, MPI_Datatype datatype, MPI_Aint* extent);
RMA_MPI_REMOVED(_Type_lb, MPI_Datatype datatype, MPI_Aint* displacement);
RMA_MPI_REMOVED(_Type_ub, MPI_Datatype datatype, MPI_Aint* displacement);
RMA_MPI_REMOVED(_Type_hindexed, int count, const int lengths[], const MPI_Aint displacements[],
                MPI_Datatype oldtype, MPI_Datatype* newtype);
RMA_MPI_REMOVED(_Type_hvector, int count, int length, MPI_Aint stride, MPI_Datatype oldtype,
                MPI_Datatype* newtype);
RMA_MPI_REMOVED(_Type_struct, int count, const int lengths[], const MPI_Aint displacements[],
                const MPI_Datatype types[], MPI_Datatype* newtype);
RMA_MPI_REMOVED(X_Query_cuda_support, );
#ifdef RMA_MPI_MPICH
RMA_MPI_REMOVED(X_Query_hip_support, );
RMA_MPI_REMOVED(X_Query_ze_support, );
RMA_MPI_REMOVED(X_GPU_query_support, int gpu_type, int* is_supported);
#endif
#undef RMA_MPI_REMOVED
}
#pragma GCC visibility pop
