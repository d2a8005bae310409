#pragma once

#include <cstddef>

#include "mpi.h"

namespace librma::mpi_fortran {
/// No compiler aligns a common block of this size more.
constexpr std::size_t kCommonAlignment = 32;
}  // namespace librma::mpi_fortran

/// The name that gfortran gives to one of the common blocks of mpif.h: of this library's, or of Open MPI's.
/// MPICH's blocks have several variables each.
#ifdef RMA_MPI_MPICH
#define RMA_MPI_COMMON(block) RMA_MPI_COMMON_##block
#define RMA_MPI_COMMON_bottom mpipriv1_.bottom
#define RMA_MPI_COMMON_in_place mpipriv1_.in_place
#define RMA_MPI_COMMON_status_ignore mpipriv1_.status_ignore
#define RMA_MPI_COMMON_statuses_ignore mpipriv2_.statuses_ignore
#define RMA_MPI_COMMON_errcodes_ignore mpipriv2_.errcodes_ignore
#define RMA_MPI_COMMON_argvs_null mpiprivc_.argvs_null
#define RMA_MPI_COMMON_argv_null mpiprivc_.argv_null
#define RMA_MPI_COMMON_unweighted mpifcmb5_
#define RMA_MPI_COMMON_weights_empty mpifcmb9_
#define RMA_MPI_COMMON_buffer_automatic rma_mpi_buffer_automatic_
#define RMA_MPI_F08_bottom MPIR_F08_MPI_BOTTOM
#define RMA_MPI_F08_in_place MPIR_F08_MPI_IN_PLACE
#define RMA_MPI_F08_status_ignore MPIR_F08_MPI_STATUS_IGNORE_OBJ
#define RMA_MPI_F08_statuses_ignore MPIR_F08_MPI_STATUSES_IGNORE_OBJ
#define RMA_MPI_F08_unweighted __mpi_f08_link_constants_MOD_mpi_unweighted
#define RMA_MPI_F08_weights_empty __mpi_f08_link_constants_MOD_mpi_weights_empty
#define RMA_MPI_F08_errcodes_ignore __mpi_f08_link_constants_MOD_mpi_errcodes_ignore
#define RMA_MPI_F08_argv_null __mpi_f08_link_constants_MOD_mpi_argv_null
#define RMA_MPI_F08_argvs_null __mpi_f08_link_constants_MOD_mpi_argvs_null
#elif defined(RMA_MPI_OPENMPI)
#define RMA_MPI_COMMON(block) mpi_fortran_##block##_
#else
#define RMA_MPI_COMMON(block) mpi_abi_##block##_
#endif

/// The common blocks of mpif.h whose addresses have a meaning. A program that includes mpif.h allocates them,
/// and the dynamic linker makes these names mean the program's blocks, so an entry point compares the address
/// of an argument.
extern "C" {
// NOLINTBEGIN(readability-identifier-naming): these are the names that gfortran gives them
#ifdef RMA_MPI_MPICH
struct MpichBlock1 {
  MPI_Fint bottom;
  MPI_Fint in_place;
  MPI_Fint status_ignore[MPI_F_STATUS_SIZE];
};
struct MpichBlock2 {
  MPI_Fint statuses_ignore[MPI_F_STATUS_SIZE];
  MPI_Fint errcodes_ignore;
};
struct MpichTexts {
  char argvs_null;
  char argv_null;
};
alignas(librma::mpi_fortran::kCommonAlignment) extern MpichBlock1 mpipriv1_;
alignas(librma::mpi_fortran::kCommonAlignment) extern MpichBlock2 mpipriv2_;
alignas(librma::mpi_fortran::kCommonAlignment) extern MpichTexts mpiprivc_;
extern MPI_Fint RMA_MPI_F08_bottom;
extern MPI_Fint RMA_MPI_F08_in_place;
extern MPI_Fint RMA_MPI_F08_status_ignore[MPI_F_STATUS_SIZE];
extern MPI_Fint RMA_MPI_F08_statuses_ignore[MPI_F_STATUS_SIZE];
extern MPI_Fint RMA_MPI_F08_unweighted;
extern MPI_Fint RMA_MPI_F08_weights_empty;
extern MPI_Fint RMA_MPI_F08_errcodes_ignore;
extern char RMA_MPI_F08_argv_null;
extern char RMA_MPI_F08_argvs_null;
#else
alignas(librma::mpi_fortran::kCommonAlignment) extern MPI_Fint RMA_MPI_COMMON(bottom);
alignas(librma::mpi_fortran::kCommonAlignment) extern MPI_Fint RMA_MPI_COMMON(in_place);
alignas(librma::mpi_fortran::kCommonAlignment) extern MPI_Fint
    RMA_MPI_COMMON(status_ignore)[MPI_F_STATUS_SIZE];
alignas(librma::mpi_fortran::kCommonAlignment) extern MPI_Fint
    RMA_MPI_COMMON(statuses_ignore)[MPI_F_STATUS_SIZE];
alignas(librma::mpi_fortran::kCommonAlignment) extern MPI_Fint RMA_MPI_COMMON(errcodes_ignore);
alignas(librma::mpi_fortran::kCommonAlignment) extern char RMA_MPI_COMMON(argv_null);
alignas(librma::mpi_fortran::kCommonAlignment) extern char RMA_MPI_COMMON(argvs_null);
#endif
alignas(librma::mpi_fortran::kCommonAlignment) extern MPI_Fint RMA_MPI_COMMON(buffer_automatic);
alignas(librma::mpi_fortran::kCommonAlignment) extern MPI_Fint RMA_MPI_COMMON(unweighted);
alignas(librma::mpi_fortran::kCommonAlignment) extern MPI_Fint RMA_MPI_COMMON(weights_empty);
// NOLINTEND(readability-identifier-naming)
}

/// Whether an argument is one of these blocks, or the variable that MPICH's module mpi_f08 has in its
/// place.
#ifdef RMA_MPI_MPICH
#define RMA_MPI_IS(given, block)                                                          \
  (static_cast<const void*>(given) == static_cast<const void*>(&RMA_MPI_COMMON(block)) || \
   static_cast<const void*>(given) == static_cast<const void*>(&RMA_MPI_F08_##block))
#else
#define RMA_MPI_IS(given, block) \
  (static_cast<const void*>(given) == static_cast<const void*>(&RMA_MPI_COMMON(block)))
#endif

namespace librma::mpi_fortran {

[[nodiscard]] inline bool is_in_place(const void* given) { return RMA_MPI_IS(given, in_place); }

/// Returns the C address of a choice buffer.
inline const void* c_buffer(const void* given) {
  if (RMA_MPI_IS(given, bottom)) return MPI_BOTTOM;
  if (is_in_place(given)) return MPI_IN_PLACE;
  if (given == &RMA_MPI_COMMON(buffer_automatic)) return MPI_BUFFER_AUTOMATIC;
  return given;
}
inline void* c_buffer(void* given) { return const_cast<void*>(c_buffer(const_cast<const void*>(given))); }

/// Returns the C address of one status or of an array of them. An INTEGER array has the layout of an
/// MPI_Status.
inline MPI_Status* c_status(MPI_Fint* given) {
  static_assert(sizeof(MPI_Status) == MPI_F_STATUS_SIZE * sizeof(MPI_Fint));
  if (RMA_MPI_IS(given, status_ignore) || RMA_MPI_IS(given, statuses_ignore)) return MPI_STATUS_IGNORE;
  return reinterpret_cast<MPI_Status*>(given);
}

/// Returns the C address of an array of weights.
template <class Int>
Int* c_weights(Int* given) {
  if (RMA_MPI_IS(given, unweighted)) return MPI_UNWEIGHTED;
  if (RMA_MPI_IS(given, weights_empty)) return MPI_WEIGHTS_EMPTY;
  return given;
}

/// Returns the C address of the array that gets an error code for each process.
inline MPI_Fint* c_errcodes(MPI_Fint* given) {
  return RMA_MPI_IS(given, errcodes_ignore) ? MPI_ERRCODES_IGNORE : given;
}

}  // namespace librma::mpi_fortran
