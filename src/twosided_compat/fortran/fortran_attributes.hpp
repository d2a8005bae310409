#pragma once

#include "mpi.h"
#include "twosided_compat/objects/attributes.hpp"

/// The attributes of one kind of object for libmpi_abi_fortran.so. The functions of the ABI cannot serve it:
/// an attribute that Fortran sets is an integer, and C gets the address of it. Each reports failures as the
/// MPI function of its name does.
#define RMA_MPI_FORTRAN_ATTRIBUTES(kind, Handle)                                                             \
  int rma_mpi_fortran_##kind##_create_keyval(librma::mpi::AnyFunction copy, librma::mpi::AnyFunction remove, \
                                             int* keyval, MPI_Aint extra,                                    \
                                             librma::mpi::KeyLanguage language);                             \
  int rma_mpi_fortran_##kind##_set_attr(Handle object, int keyval,                                           \
                                        const librma::mpi::AttributeValue& value);                           \
  int rma_mpi_fortran_##kind##_get_attr(Handle object, int keyval, MPI_Aint* value, int* flag)

#pragma GCC visibility push(default)
extern "C" {
RMA_MPI_FORTRAN_ATTRIBUTES(comm, MPI_Comm);
RMA_MPI_FORTRAN_ATTRIBUTES(type, MPI_Datatype);
RMA_MPI_FORTRAN_ATTRIBUTES(win, MPI_Win);
}
#pragma GCC visibility pop

#undef RMA_MPI_FORTRAN_ATTRIBUTES
