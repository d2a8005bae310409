#pragma once

namespace librma::mpi {

/// Tells librma of this library's calls and places, so that a report of a wait names them (rma/waits.h). May
/// be called again.
void explain_waits();

}  // namespace librma::mpi
