#pragma once

#include <cstddef>

#include "mpi.h"

namespace librma::mpi_fortran {
/// No compiler aligns a common block of this size more.
constexpr std::size_t kCommonAlignment = 32;
}  // namespace librma::mpi_fortran

/// The name that gfortran gives to one of the common blocks of mpif.h: of this library's, or of Open MPI's.
#ifdef RMA_MPI_OPENMPI
#define RMA_MPI_COMMON(block) mpi_fortran_##block##_
#else
#define RMA_MPI_COMMON(block) mpi_abi_##block##_
#endif

/// The common blocks of mpif.h whose addresses have a meaning. A program that includes mpif.h allocates them,
/// and the dynamic linker makes these names mean the program's blocks, so an entry point compares the address
/// of an argument.
extern "C" {
// NOLINTBEGIN(readability-identifier-naming): these are the names that gfortran gives them
alignas(librma::mpi_fortran::kCommonAlignment) extern MPI_Fint RMA_MPI_COMMON(bottom);
alignas(librma::mpi_fortran::kCommonAlignment) extern MPI_Fint RMA_MPI_COMMON(in_place);
alignas(librma::mpi_fortran::kCommonAlignment) extern MPI_Fint RMA_MPI_COMMON(buffer_automatic);
alignas(librma::mpi_fortran::kCommonAlignment) extern MPI_Fint
    RMA_MPI_COMMON(status_ignore)[MPI_F_STATUS_SIZE];
alignas(librma::mpi_fortran::kCommonAlignment) extern MPI_Fint
    RMA_MPI_COMMON(statuses_ignore)[MPI_F_STATUS_SIZE];
alignas(librma::mpi_fortran::kCommonAlignment) extern MPI_Fint RMA_MPI_COMMON(errcodes_ignore);
alignas(librma::mpi_fortran::kCommonAlignment) extern MPI_Fint RMA_MPI_COMMON(unweighted);
alignas(librma::mpi_fortran::kCommonAlignment) extern MPI_Fint RMA_MPI_COMMON(weights_empty);
alignas(librma::mpi_fortran::kCommonAlignment) extern char RMA_MPI_COMMON(argv_null);
alignas(librma::mpi_fortran::kCommonAlignment) extern char RMA_MPI_COMMON(argvs_null);
// NOLINTEND(readability-identifier-naming)
}

namespace librma::mpi_fortran {

/// Returns the C address of a choice buffer.
inline const void* c_buffer(const void* given) {
  if (given == &RMA_MPI_COMMON(bottom)) return MPI_BOTTOM;
  if (given == &RMA_MPI_COMMON(in_place)) return MPI_IN_PLACE;
  if (given == &RMA_MPI_COMMON(buffer_automatic)) return MPI_BUFFER_AUTOMATIC;
  return given;
}
inline void* c_buffer(void* given) { return const_cast<void*>(c_buffer(const_cast<const void*>(given))); }

/// Returns the C address of one status or of an array of them. An INTEGER array of 8 has the layout of an
/// MPI_Status.
inline MPI_Status* c_status(MPI_Fint* given) {
  static_assert(sizeof(MPI_Status) == MPI_F_STATUS_SIZE * sizeof(MPI_Fint));
  if (given == RMA_MPI_COMMON(status_ignore) || given == RMA_MPI_COMMON(statuses_ignore))
    return MPI_STATUS_IGNORE;
  return reinterpret_cast<MPI_Status*>(given);
}

/// Returns the C address of an array of weights.
template <class Int>
Int* c_weights(Int* given) {
  if (given == &RMA_MPI_COMMON(unweighted)) return MPI_UNWEIGHTED;
  if (given == &RMA_MPI_COMMON(weights_empty)) return MPI_WEIGHTS_EMPTY;
  return given;
}

/// Returns the C address of the array that gets an error code for each process.
inline MPI_Fint* c_errcodes(MPI_Fint* given) {
  return given == &RMA_MPI_COMMON(errcodes_ignore) ? MPI_ERRCODES_IGNORE : given;
}

}  // namespace librma::mpi_fortran
