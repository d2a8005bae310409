#pragma once
#include <cstdint>
#include <cstring>
#include "mpi.h"
namespace rma::mpi {
inline void set_bytes(MPI_Status& s, std::uint64_t n) { std::memcpy(s.MPI_internal, &n, sizeof n); }
inline void set_cancelled(MPI_Status& s, bool c) { s.MPI_internal[2] = c; }
}
