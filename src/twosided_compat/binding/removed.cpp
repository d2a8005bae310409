// The functions of MPI that MPI 3.0 has removed (MPI 4.1, table 17.1), and those by which programs ask for
// graphics processors. The libraries of Open MPI and MPICH have both. Their headers do not declare all of
// them.

#include "twosided_compat/binding/removed.hpp"

#include "twosided_compat/binding/entry.hpp"
#include "util/try.hpp"

extern "C" {

int PMPI_Address(void* location, MPI_Aint* address) { return PMPI_Get_address(location, address); }
RMA_MPI_WEAK(MPI_Address);

int PMPI_Errhandler_create(MPI_Comm_errhandler_function* function, MPI_Errhandler* errhandler) {
  return PMPI_Comm_create_errhandler(function, errhandler);
}
RMA_MPI_WEAK(MPI_Errhandler_create);

int PMPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler* errhandler) {
  return PMPI_Comm_get_errhandler(comm, errhandler);
}
RMA_MPI_WEAK(MPI_Errhandler_get);

int PMPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler) {
  return PMPI_Comm_set_errhandler(comm, errhandler);
}
RMA_MPI_WEAK(MPI_Errhandler_set);

int PMPI_Type_extent(MPI_Datatype datatype, MPI_Aint* extent) {
  MPI_Aint lower = 0;
  return PMPI_Type_get_extent(datatype, &lower, extent);
}
RMA_MPI_WEAK(MPI_Type_extent);

int PMPI_Type_lb(MPI_Datatype datatype, MPI_Aint* displacement) {
  MPI_Aint extent = 0;
  return PMPI_Type_get_extent(datatype, displacement, &extent);
}
RMA_MPI_WEAK(MPI_Type_lb);

int PMPI_Type_ub(MPI_Datatype datatype, MPI_Aint* displacement) {
  MPI_Aint lower = 0;
  const int code = PMPI_Type_get_extent(datatype, &lower, displacement);
  if (code == MPI_SUCCESS) *displacement += lower;
  return code;
}
RMA_MPI_WEAK(MPI_Type_ub);

int PMPI_Type_hindexed(int count, const int lengths[], const MPI_Aint displacements[], MPI_Datatype oldtype,
                       MPI_Datatype* newtype) {
  return PMPI_Type_create_hindexed(count, lengths, displacements, oldtype, newtype);
}
RMA_MPI_WEAK(MPI_Type_hindexed);

int PMPI_Type_hvector(int count, int length, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return PMPI_Type_create_hvector(count, length, stride, oldtype, newtype);
}
RMA_MPI_WEAK(MPI_Type_hvector);

int PMPI_Type_struct(int count, const int lengths[], const MPI_Aint displacements[],
                     const MPI_Datatype types[], MPI_Datatype* newtype) {
  return PMPI_Type_create_struct(count, lengths, displacements, types, newtype);
}
RMA_MPI_WEAK(MPI_Type_struct);

// Memory of graphics processors is not supported. Programs then copy it themselves.
int PMPIX_Query_cuda_support() { return 0; }
RMA_MPI_WEAK(MPIX_Query_cuda_support);
#ifdef RMA_MPI_MPICH
int PMPIX_Query_hip_support() { return 0; }
RMA_MPI_WEAK(MPIX_Query_hip_support);
int PMPIX_Query_ze_support() { return 0; }
RMA_MPI_WEAK(MPIX_Query_ze_support);

int PMPIX_GPU_query_support(int /*gpu_type*/, int* is_supported) {
  return librma::mpi::invoke<librma::mpi::AnyTime>("MPIX_GPU_query_support", librma::mpi::NoOwner{}, [&] {
    RMA_TRY(librma::mpi::check_place(is_supported, "is_supported"));
    *is_supported = 0;
    return MPI_SUCCESS;
  });
}
RMA_MPI_WEAK(MPIX_GPU_query_support);
#endif

}  // extern "C"
