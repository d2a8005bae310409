#pragma once

#include <cstddef>

#include "mpi.h"

namespace librma::mpi_fortran {
/// No compiler aligns a common block of this size more.
constexpr std::size_t kCommonAlignment = 32;
}  // namespace librma::mpi_fortran

/// The common blocks of mpif.h whose addresses have a meaning. A program that includes mpif.h allocates them,
/// and the dynamic linker makes these names mean the program's blocks, so an entry point compares the address
/// of an argument.
extern "C" {
// NOLINTBEGIN(readability-identifier-naming): these are the names that gfortran gives them
alignas(librma::mpi_fortran::kCommonAlignment) extern MPI_Fint mpi_abi_bottom_;
alignas(librma::mpi_fortran::kCommonAlignment) extern MPI_Fint mpi_abi_in_place_;
alignas(librma::mpi_fortran::kCommonAlignment) extern MPI_Fint mpi_abi_buffer_automatic_;
alignas(librma::mpi_fortran::kCommonAlignment) extern MPI_Fint mpi_abi_status_ignore_[MPI_F_STATUS_SIZE];
alignas(librma::mpi_fortran::kCommonAlignment) extern MPI_Fint mpi_abi_statuses_ignore_[MPI_F_STATUS_SIZE];
alignas(librma::mpi_fortran::kCommonAlignment) extern MPI_Fint mpi_abi_errcodes_ignore_;
alignas(librma::mpi_fortran::kCommonAlignment) extern MPI_Fint mpi_abi_unweighted_;
alignas(librma::mpi_fortran::kCommonAlignment) extern MPI_Fint mpi_abi_weights_empty_;
alignas(librma::mpi_fortran::kCommonAlignment) extern char mpi_abi_argv_null_;
alignas(librma::mpi_fortran::kCommonAlignment) extern char mpi_abi_argvs_null_;
// NOLINTEND(readability-identifier-naming)
}

namespace librma::mpi_fortran {

/// Returns the C address of a choice buffer.
inline const void* c_buffer(const void* given) {
  if (given == &mpi_abi_bottom_) return MPI_BOTTOM;
  if (given == &mpi_abi_in_place_) return MPI_IN_PLACE;
  if (given == &mpi_abi_buffer_automatic_) return MPI_BUFFER_AUTOMATIC;
  return given;
}
inline void* c_buffer(void* given) { return const_cast<void*>(c_buffer(const_cast<const void*>(given))); }

/// Returns the C address of one status or of an array of them. An INTEGER array of 8 has the layout of an
/// MPI_Status.
inline MPI_Status* c_status(MPI_Fint* given) {
  static_assert(sizeof(MPI_Status) == MPI_F_STATUS_SIZE * sizeof(MPI_Fint));
  if (given == mpi_abi_status_ignore_ || given == mpi_abi_statuses_ignore_) return MPI_STATUS_IGNORE;
  return reinterpret_cast<MPI_Status*>(given);
}

/// Returns the C address of an array of weights.
template <class Int>
Int* c_weights(Int* given) {
  if (given == &mpi_abi_unweighted_) return MPI_UNWEIGHTED;
  if (given == &mpi_abi_weights_empty_) return MPI_WEIGHTS_EMPTY;
  return given;
}

/// Returns the C address of the array that gets an error code for each process.
inline MPI_Fint* c_errcodes(MPI_Fint* given) {
  return given == &mpi_abi_errcodes_ignore_ ? MPI_ERRCODES_IGNORE : given;
}

}  // namespace librma::mpi_fortran
