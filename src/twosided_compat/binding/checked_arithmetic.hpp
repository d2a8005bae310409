#pragma once

#include "mpi.h"

namespace librma::mpi {

/// These add and multiply, and set `overflows` if an MPI_Count cannot hold the result. They never clear it.
[[nodiscard]] inline MPI_Count plus(MPI_Count a, MPI_Count b, bool& overflows) {
  MPI_Count sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) overflows = true;
  return sum;
}
[[nodiscard]] inline MPI_Count minus(MPI_Count a, MPI_Count b, bool& overflows) {
  MPI_Count difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) overflows = true;
  return difference;
}
[[nodiscard]] inline MPI_Count times(MPI_Count a, MPI_Count b, bool& overflows) {
  MPI_Count product = 0;
  if (__builtin_mul_overflow(a, b, &product)) overflows = true;
  return product;
}

}  // namespace librma::mpi
