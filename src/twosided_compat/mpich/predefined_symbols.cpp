// The constants of MPICH's mpi.h that are data symbols of the library.

#include <cstdint>

#include "mpi.h"

#pragma GCC visibility push(default)
extern "C" {
// NOLINTBEGIN(readability-identifier-naming): MPICH's names

/// The addresses of these two are MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY.
int MPIR_C_MPI_UNWEIGHTED = 0;
int MPIR_C_MPI_WEIGHTS_EMPTY = 0;
int* const MPI_UNWEIGHTED = &MPIR_C_MPI_UNWEIGHTED;
int* const MPI_WEIGHTS_EMPTY = &MPIR_C_MPI_WEIGHTS_EMPTY;

/// MPI_COMM_DUP_FN and the like. A key that is made with it copies values without a call of it.
int MPIR_Dup_fn(MPI_Comm /*object*/, int /*keyval*/, void* /*extra*/, void* in, void* out, int* flag) {
  *static_cast<void**>(out) = in;
  *flag = 1;
  return MPI_SUCCESS;
}

/// The library's own header has the value of this one as a macro.
constexpr std::uintptr_t kAllHandles = 1;
#undef MPI_T_PVAR_ALL_HANDLES
extern const std::uintptr_t MPI_T_PVAR_ALL_HANDLES = kAllHandles;

// NOLINTEND(readability-identifier-naming)
}  // extern "C"
#pragma GCC visibility pop
