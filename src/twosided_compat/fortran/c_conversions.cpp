// The conversions to and from Fortran, which are functions in Open MPI's interface and inline in the
// standard's.

#include <cstring>

#include "twosided_compat/binding/entry.hpp"
#include "twosided_compat/fortran/sentinels.hpp"

using namespace librma::mpi;

extern "C" {

// Fortran's statuses that mean MPI_STATUS_IGNORE: a program in Fortran has its own copies of these blocks.
MPI_Fint* MPI_F_STATUS_IGNORE = RMA_MPI_COMMON(status_ignore);
MPI_Fint* MPI_F_STATUSES_IGNORE = RMA_MPI_COMMON(statuses_ignore);

#include "twosided_compat/conversions.inc"

// A status in Fortran is an array of INTEGERs with the bytes of a status in C.
static_assert(sizeof(MPI_Status) == MPI_F_STATUS_SIZE * sizeof(MPI_Fint));

int PMPI_Status_c2f(const MPI_Status* status, MPI_Fint* f_status) {
  return invoke<AnyTime>("MPI_Status_c2f", NoOwner{}, [&] {
    if (status == nullptr || f_status == nullptr)
      return failure(MPI_ERR_IN_STATUS, "a status is null or ignored");
    std::memcpy(f_status, status, sizeof *status);
    return MPI_SUCCESS;
  });
}
RMA_MPI_WEAK(MPI_Status_c2f);

int PMPI_Status_f2c(const MPI_Fint* f_status, MPI_Status* status) {
  return invoke<AnyTime>("MPI_Status_f2c", NoOwner{}, [&] {
    const bool ignored = f_status == MPI_F_STATUS_IGNORE || f_status == MPI_F_STATUSES_IGNORE;
    if (status == nullptr || f_status == nullptr || ignored)
      return failure(MPI_ERR_IN_STATUS, "a status is null or ignored");
    std::memcpy(status, f_status, sizeof *status);
    return MPI_SUCCESS;
  });
}
RMA_MPI_WEAK(MPI_Status_f2c);

}  // extern "C"
