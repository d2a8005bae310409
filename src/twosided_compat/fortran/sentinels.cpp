// The library's own copies of the common blocks of sentinels.hpp, for programs that have none.

#include "twosided_compat/fortran/sentinels.hpp"

extern "C" {
// NOLINTBEGIN(readability-identifier-naming): these are the names that gfortran gives them

#ifdef RMA_MPI_MPICH
alignas(librma::mpi_fortran::kCommonAlignment) MpichBlock1 mpipriv1_;
alignas(librma::mpi_fortran::kCommonAlignment) MpichBlock2 mpipriv2_;
alignas(librma::mpi_fortran::kCommonAlignment) MpichTexts mpiprivc_;
MPI_Fint RMA_MPI_F08_bottom;
MPI_Fint RMA_MPI_F08_in_place;
MPI_Fint RMA_MPI_F08_status_ignore[MPI_F_STATUS_SIZE];
MPI_Fint RMA_MPI_F08_statuses_ignore[MPI_F_STATUS_SIZE];
MPI_Fint RMA_MPI_F08_unweighted;
MPI_Fint RMA_MPI_F08_weights_empty;
MPI_Fint RMA_MPI_F08_errcodes_ignore;
char RMA_MPI_F08_argv_null;
char RMA_MPI_F08_argvs_null;
#else
alignas(librma::mpi_fortran::kCommonAlignment) MPI_Fint RMA_MPI_COMMON(bottom);
alignas(librma::mpi_fortran::kCommonAlignment) MPI_Fint RMA_MPI_COMMON(in_place);
alignas(librma::mpi_fortran::kCommonAlignment) MPI_Fint RMA_MPI_COMMON(status_ignore)[MPI_F_STATUS_SIZE];
alignas(librma::mpi_fortran::kCommonAlignment) MPI_Fint RMA_MPI_COMMON(statuses_ignore)[MPI_F_STATUS_SIZE];
alignas(librma::mpi_fortran::kCommonAlignment) MPI_Fint RMA_MPI_COMMON(errcodes_ignore);
alignas(librma::mpi_fortran::kCommonAlignment) char RMA_MPI_COMMON(argv_null);
alignas(librma::mpi_fortran::kCommonAlignment) char RMA_MPI_COMMON(argvs_null);
#endif
alignas(librma::mpi_fortran::kCommonAlignment) MPI_Fint RMA_MPI_COMMON(buffer_automatic);
alignas(librma::mpi_fortran::kCommonAlignment) MPI_Fint RMA_MPI_COMMON(unweighted);
alignas(librma::mpi_fortran::kCommonAlignment) MPI_Fint RMA_MPI_COMMON(weights_empty);

/// MPI_F_sync_reg: the compiler must take `buf` for changed by this call.
void pmpi_f_sync_reg_(void* /*buf*/) {}
[[gnu::weak, gnu::alias("pmpi_f_sync_reg_")]] void mpi_f_sync_reg_(void* buf);

// NOLINTEND(readability-identifier-naming)
}  // extern "C"
