// Procedures of Open MPI's modules mpi and mpi_f08 that MPI does not have, comparisons of handles and the
// handles that are constants; and MPI_SIZEOF and MPI_F_sync_reg, which MPI has in Fortran only. Only
// libmpi_mpifh.so.40 has this file.

#include "twosided_compat/fortran/arguments.hpp"

using librma::mpi_fortran::store;

extern "C" {
// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier,bugprone-macro-parentheses): these
// are the names that gfortran gives them

// A handle of mpi_f08 has one INTEGER in it. .true. is 1.
#define RMA_MPI_COMPARISONS(kind)                                                                \
  MPI_Fint __mpi_f08_types_MOD_ompi_##kind##_op_eq(const MPI_Fint* one, const MPI_Fint* other) { \
    return *one == *other ? 1 : 0;                                                               \
  }                                                                                              \
  MPI_Fint __mpi_f08_types_MOD_ompi_##kind##_op_ne(const MPI_Fint* one, const MPI_Fint* other) { \
    return *one != *other ? 1 : 0;                                                               \
  }
#include "twosided_compat/fortran/handle_kinds.inc"
#undef RMA_MPI_COMPARISONS

#define RMA_MPI_CONSTANT(name, value) extern const MPI_Fint __mpi_f08_types_MOD_mpi_##name = value;
#include "twosided_compat/f08_constants.inc"
#undef RMA_MPI_CONSTANT

/// MPI_F_sync_reg of mpi_f08: the compiler must take the variable for changed by this call.
void pmpi_f_sync_reg_f08_(void* /*buf*/) {}
[[gnu::weak, gnu::alias("pmpi_f_sync_reg_f08_")]] void mpi_f_sync_reg_f08_(void* buf);

// The module knows the type and the rank of the variable: the procedure's name has them.
#define RMA_MPI_SIZEOF(type, shape, bytes)                                                            \
  void pmpi_sizeof_##type##_##shape##_(const void* /*variable*/, MPI_Fint* size, MPI_Fint* ierror) {  \
    *size = bytes;                                                                                    \
    store(ierror, MPI_SUCCESS);                                                                       \
  }                                                                                                   \
  [[gnu::weak, gnu::alias("pmpi_sizeof_" #type "_" #shape "_")]] void mpi_sizeof_##type##_##shape##_( \
      const void* variable, MPI_Fint* size, MPI_Fint* ierror);
#define RMA_MPI_SIZEOF_ALL(type, bytes) \
  RMA_MPI_SIZEOF(type, scalar, bytes)   \
  RMA_MPI_SIZEOF(type, r1, bytes)       \
  RMA_MPI_SIZEOF(type, r2, bytes)       \
  RMA_MPI_SIZEOF(type, r3, bytes)       \
  RMA_MPI_SIZEOF(type, r4, bytes)       \
  RMA_MPI_SIZEOF(type, r5, bytes)       \
  RMA_MPI_SIZEOF(type, r6, bytes)       \
  RMA_MPI_SIZEOF(type, r7, bytes)       \
  RMA_MPI_SIZEOF(type, r8, bytes)       \
  RMA_MPI_SIZEOF(type, r9, bytes)       \
  RMA_MPI_SIZEOF(type, r10, bytes)      \
  RMA_MPI_SIZEOF(type, r11, bytes)      \
  RMA_MPI_SIZEOF(type, r12, bytes)      \
  RMA_MPI_SIZEOF(type, r13, bytes) RMA_MPI_SIZEOF(type, r14, bytes) RMA_MPI_SIZEOF(type, r15, bytes)
RMA_MPI_SIZEOF_ALL(character, 1)
RMA_MPI_SIZEOF_ALL(logical, 4)
RMA_MPI_SIZEOF_ALL(int8, 1)
RMA_MPI_SIZEOF_ALL(int16, 2)
RMA_MPI_SIZEOF_ALL(int32, 4)
RMA_MPI_SIZEOF_ALL(int64, 8)
RMA_MPI_SIZEOF_ALL(real32, 4)
RMA_MPI_SIZEOF_ALL(real64, 8)
RMA_MPI_SIZEOF_ALL(real128, 16)
RMA_MPI_SIZEOF_ALL(complex32, 8)
RMA_MPI_SIZEOF_ALL(complex64, 16)
RMA_MPI_SIZEOF_ALL(complex128, 32)
#undef RMA_MPI_SIZEOF_ALL
#undef RMA_MPI_SIZEOF

// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier,bugprone-macro-parentheses)
}  // extern "C"
