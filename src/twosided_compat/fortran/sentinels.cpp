// The library's own copies of the common blocks of sentinels.hpp, for programs that have none.

#include "twosided_compat/fortran/sentinels.hpp"

extern "C" {
// NOLINTBEGIN(readability-identifier-naming): these are the names that gfortran gives them

alignas(librma::mpi_fortran::kCommonAlignment) MPI_Fint mpi_abi_bottom_;
alignas(librma::mpi_fortran::kCommonAlignment) MPI_Fint mpi_abi_in_place_;
alignas(librma::mpi_fortran::kCommonAlignment) MPI_Fint mpi_abi_buffer_automatic_;
alignas(librma::mpi_fortran::kCommonAlignment) MPI_Fint mpi_abi_status_ignore_[MPI_F_STATUS_SIZE];
alignas(librma::mpi_fortran::kCommonAlignment) MPI_Fint mpi_abi_statuses_ignore_[MPI_F_STATUS_SIZE];
alignas(librma::mpi_fortran::kCommonAlignment) MPI_Fint mpi_abi_errcodes_ignore_;
alignas(librma::mpi_fortran::kCommonAlignment) MPI_Fint mpi_abi_unweighted_;
alignas(librma::mpi_fortran::kCommonAlignment) MPI_Fint mpi_abi_weights_empty_;
alignas(librma::mpi_fortran::kCommonAlignment) char mpi_abi_argv_null_;
alignas(librma::mpi_fortran::kCommonAlignment) char mpi_abi_argvs_null_;

/// MPI_F_sync_reg: the compiler must take `buf` for changed by this call.
void pmpi_f_sync_reg_(void* /*buf*/) {}
[[gnu::weak, gnu::alias("pmpi_f_sync_reg_")]] void mpi_f_sync_reg_(void* buf);

// NOLINTEND(readability-identifier-naming)
}  // extern "C"
