// The procedures of MPI that MPI 3.0 has removed (MPI 4.1, table 17.1). Their addresses and extents are
// default INTEGERs, which have the low bits of addresses: differences of addresses are right as far as they
// fit.

#include <algorithm>
#include <vector>

#include "twosided_compat/binding/removed.hpp"
#include "twosided_compat/fortran/arguments.hpp"
#include "twosided_compat/fortran/handles.hpp"

using namespace librma::mpi_fortran;

namespace librma::mpi_fortran {
namespace {

/// Calls a function that gives an address or an extent, and stores that.
template <class Call>
int give_address(MPI_Fint* place, const Call& call) {
  MPI_Aint value = 0;
  const int code = call(&value);
  if (code == MPI_SUCCESS) *place = static_cast<MPI_Fint>(value);
  return code;
}

std::vector<MPI_Aint> addresses(const MPI_Fint* numbers, MPI_Fint count) {
  return {numbers, numbers + std::max(count, 0)};
}

}  // namespace
}  // namespace librma::mpi_fortran

extern "C" {
// NOLINTBEGIN(readability-identifier-naming): these are the names that gfortran gives them

using ErrorProcedure = void(MPI_Fint* comm, MPI_Fint* code);
void pmpi_comm_create_errhandler_(ErrorProcedure* function, MPI_Fint* errhandler, MPI_Fint* ierror);
void pmpi_errhandler_create_(ErrorProcedure* function, MPI_Fint* errhandler, MPI_Fint* ierror) {
  pmpi_comm_create_errhandler_(function, errhandler, ierror);
}
RMA_MPI_FORTRAN_WEAK(mpi_errhandler_create_);

void pmpi_errhandler_get_(const MPI_Fint* comm, MPI_Fint* errhandler, MPI_Fint* ierror) {
  store(ierror, PMPI_Errhandler_get(handle<MPI_Comm>(*comm), HandleOut<MPI_Errhandler>(errhandler)));
}
RMA_MPI_FORTRAN_WEAK(mpi_errhandler_get_);

void pmpi_errhandler_set_(const MPI_Fint* comm, const MPI_Fint* errhandler, MPI_Fint* ierror) {
  store(ierror, PMPI_Errhandler_set(handle<MPI_Comm>(*comm), handle<MPI_Errhandler>(*errhandler)));
}
RMA_MPI_FORTRAN_WEAK(mpi_errhandler_set_);

void pmpi_address_(void* location, MPI_Fint* address, MPI_Fint* ierror) {
  store(ierror, give_address(address, [&](MPI_Aint* place) { return PMPI_Address(location, place); }));
}
RMA_MPI_FORTRAN_WEAK(mpi_address_);

#define RMA_MPI_TYPE_QUERY(name)                                                                           \
  void pmpi_type_##name##_(const MPI_Fint* datatype, MPI_Fint* value, MPI_Fint* ierror) {                  \
    const auto call = [&](MPI_Aint* at) { return PMPI_Type_##name(handle<MPI_Datatype>(*datatype), at); }; \
    store(ierror, give_address(value, call));                                                              \
  }                                                                                                        \
  RMA_MPI_FORTRAN_WEAK(mpi_type_##name##_)
RMA_MPI_TYPE_QUERY(extent);
RMA_MPI_TYPE_QUERY(lb);
RMA_MPI_TYPE_QUERY(ub);
#undef RMA_MPI_TYPE_QUERY

void pmpi_type_hvector_(const MPI_Fint* count, const MPI_Fint* length, const MPI_Fint* stride,
                        const MPI_Fint* oldtype, MPI_Fint* newtype, MPI_Fint* ierror) {
  store(ierror, PMPI_Type_hvector(*count, *length, *stride, handle<MPI_Datatype>(*oldtype),
                                  HandleOut<MPI_Datatype>(newtype)));
}
RMA_MPI_FORTRAN_WEAK(mpi_type_hvector_);

void pmpi_type_hindexed_(const MPI_Fint* count, const MPI_Fint* lengths, const MPI_Fint* displacements,
                         const MPI_Fint* oldtype, MPI_Fint* newtype, MPI_Fint* ierror) {
  store(ierror, PMPI_Type_hindexed(*count, lengths, addresses(displacements, *count).data(),
                                   handle<MPI_Datatype>(*oldtype), HandleOut<MPI_Datatype>(newtype)));
}
RMA_MPI_FORTRAN_WEAK(mpi_type_hindexed_);

void pmpi_type_struct_(const MPI_Fint* count, const MPI_Fint* lengths, const MPI_Fint* displacements,
                       const MPI_Fint* types, MPI_Fint* newtype, MPI_Fint* ierror) {
  store(ierror, PMPI_Type_struct(*count, lengths, addresses(displacements, *count).data(),
                                 HandlesIn<MPI_Datatype>(types, *count), HandleOut<MPI_Datatype>(newtype)));
}
RMA_MPI_FORTRAN_WEAK(mpi_type_struct_);

// NOLINTEND(readability-identifier-naming)
}  // extern "C"
