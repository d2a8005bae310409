// The procedures of the module mpi_f08 of Open MPI and MPICH that stand for a constant of C.

#include "mpi.h"

extern "C" {
// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier,bugprone-macro-parentheses): these
// are the names that gfortran gives them

// A key that is made with them calls them as it calls those of a program.
#define RMA_MPI_PREDEFINED(kind)                                                                            \
  void __mpi_f08_callbacks_MOD_mpi_##kind##_null_copy_fn(                                                   \
      MPI_Fint* /*object*/, MPI_Fint* /*keyval*/, MPI_Aint* /*extra*/, MPI_Aint* /*in*/, MPI_Aint* /*out*/, \
      MPI_Fint* flag, MPI_Fint* ierror) {                                                                   \
    *flag = 0;                                                                                              \
    *ierror = MPI_SUCCESS;                                                                                  \
  }                                                                                                         \
  void __mpi_f08_callbacks_MOD_mpi_##kind##_dup_fn(MPI_Fint* /*object*/, MPI_Fint* /*keyval*/,              \
                                                   MPI_Aint* /*extra*/, MPI_Aint* in, MPI_Aint* out,        \
                                                   MPI_Fint* flag, MPI_Fint* ierror) {                      \
    *out = *in;                                                                                             \
    *flag = 1;                                                                                              \
    *ierror = MPI_SUCCESS;                                                                                  \
  }                                                                                                         \
  void __mpi_f08_callbacks_MOD_mpi_##kind##_null_delete_fn(MPI_Fint* /*object*/, MPI_Fint* /*keyval*/,      \
                                                           MPI_Aint* /*value*/, MPI_Aint* /*extra*/,        \
                                                           MPI_Fint* ierror) {                              \
    *ierror = MPI_SUCCESS;                                                                                  \
  }
RMA_MPI_PREDEFINED(comm)
RMA_MPI_PREDEFINED(type)
RMA_MPI_PREDEFINED(win)
#undef RMA_MPI_PREDEFINED

// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier,bugprone-macro-parentheses)
}  // extern "C"
