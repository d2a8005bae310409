#pragma once

namespace librma::mpi {

/// Asks librma to share the program's static data with the other ranks of the host from rma_init on, so that
/// messages from Fortran's COMMON blocks and C's static arrays are copied once. Does nothing unless that
/// costs nothing that a program would notice: see the rule in docs/using-mpi.md. Called before rma_init.
void share_static_data();

}  // namespace librma::mpi
