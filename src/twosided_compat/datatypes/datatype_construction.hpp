#pragma once

#include "twosided_compat/datatypes/datatypes.hpp"

// The steps of the calls that make datatypes of others.

namespace rma::mpi {

/// Finds the datatype that a new one is made of, and checks the place of the new handle. MPI_ERR_TYPE,
/// MPI_ERR_ARG.
[[nodiscard]] int find_old_type(MPI_Datatype handle, MPI_Datatype* newtype, Datatype*& type);
/// Makes a datatype. MPI_ERR_ARG if the numbers of its layout do not fit into an MPI_Count.
[[nodiscard]] int make_datatype(TypeLayout layout, TypeContents contents, MPI_Datatype* newtype);

}  // namespace rma::mpi
