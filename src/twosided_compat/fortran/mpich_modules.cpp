// Procedures of MPICH's modules mpi and mpi_f08 that MPI does not have: comparisons of handles, MPI_SIZEOF
// and functions that are constants. Only libmpifort.so.12 has this file.

#include "twosided_compat/fortran/arguments.hpp"

using librma::mpi_fortran::store;

extern "C" {
// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier,bugprone-macro-parentheses): these
// are the names that gfortran gives them

// A variable of such a type has one INTEGER in it. .true. is 1.
#define RMA_MPI_COMPARISONS(kind)                                                        \
  MPI_Fint __mpi_constants_MOD_##kind##eq(const MPI_Fint* one, const MPI_Fint* other) {  \
    return *one == *other ? 1 : 0;                                                       \
  }                                                                                      \
  MPI_Fint __mpi_constants_MOD_##kind##neq(const MPI_Fint* one, const MPI_Fint* other) { \
    return *one != *other ? 1 : 0;                                                       \
  }
#include "twosided_compat/fortran/handle_kinds.inc"
#undef RMA_MPI_COMPARISONS

// The procedure's name has the type of the variable, and a v if it is an array.
#define RMA_MPI_SIZEOF_ONE(name, bytes)                                                                  \
  void __mpi_sizeofs_MOD_mpi_sizeof_##name(const void* /*variable*/, MPI_Fint* size, MPI_Fint* ierror) { \
    *size = bytes;                                                                                       \
    store(ierror, MPI_SUCCESS);                                                                          \
  }
#define RMA_MPI_SIZEOF(type, bytes) RMA_MPI_SIZEOF_ONE(type, bytes) RMA_MPI_SIZEOF_ONE(type##v, bytes)
RMA_MPI_SIZEOF(ch, 1)
RMA_MPI_SIZEOF(l, 4)
RMA_MPI_SIZEOF(i1, 1)
RMA_MPI_SIZEOF(i2, 2)
RMA_MPI_SIZEOF(i, 4)
RMA_MPI_SIZEOF(i8, 8)
RMA_MPI_SIZEOF(r, 4)
RMA_MPI_SIZEOF(d, 8)
RMA_MPI_SIZEOF(cx, 8)
#undef RMA_MPI_SIZEOF
#undef RMA_MPI_SIZEOF_ONE

// The comparisons of the module mpi_f08. It compares its handles with INTEGERs, too.
#define RMA_MPI_COMPARISON(name, operation)                                             \
  MPI_Fint __mpi_f08_types_MOD_mpi_##name(const MPI_Fint* one, const MPI_Fint* other) { \
    return *one operation * other ? 1 : 0;                                              \
  }
#define RMA_MPI_COMPARISONS(kind)          \
  RMA_MPI_COMPARISON(kind##_eq, ==)        \
  RMA_MPI_COMPARISON(kind##_neq, !=)       \
  RMA_MPI_COMPARISON(kind##_f08_eq_f, ==)  \
  RMA_MPI_COMPARISON(kind##_f08_neq_f, !=) \
  RMA_MPI_COMPARISON(kind##_f_eq_f08, ==)  \
  RMA_MPI_COMPARISON(kind##_f_neq_f08, !=)
#include "twosided_compat/fortran/handle_kinds.inc"
RMA_MPI_COMPARISONS(session)
#undef RMA_MPI_COMPARISONS
#undef RMA_MPI_COMPARISON

#define RMA_MPI_SIZEOF(name, bytes)                                                                        \
  void __mpi_f08_types_MOD_mpi_sizeof_##name(const void* /*variable*/, MPI_Fint* size, MPI_Fint* ierror) { \
    *size = bytes;                                                                                         \
    store(ierror, MPI_SUCCESS);                                                                            \
  }
RMA_MPI_SIZEOF(character, 1)
RMA_MPI_SIZEOF(logical, 4)
RMA_MPI_SIZEOF(xint8, 1)
RMA_MPI_SIZEOF(xint16, 2)
RMA_MPI_SIZEOF(xint32, 4)
RMA_MPI_SIZEOF(xint64, 8)
RMA_MPI_SIZEOF(xreal32, 4)
RMA_MPI_SIZEOF(xreal64, 8)
RMA_MPI_SIZEOF(xreal128, 16)
RMA_MPI_SIZEOF(xcomplex32, 8)
RMA_MPI_SIZEOF(xcomplex64, 16)
RMA_MPI_SIZEOF(xcomplex128, 32)
#undef RMA_MPI_SIZEOF

/// MPI_F_sync_reg: the compiler must take the variable for changed by this call.
void mpi_f_sync_reg_f08ts_(void* /*buf*/) {}

// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier,bugprone-macro-parentheses)
}  // extern "C"
