#pragma once
#include <complex>
#include <cstddef>
#include "mpi.h"
#include "twosided_compat/errors.hpp"
namespace rma::mpi {
[[nodiscard]] inline int find_extent(MPI_Datatype type, std::size_t& extent) {
  const auto number = bits(type);
  if ((number & ~0x3fU) == 0x240 || (number & ~0x3fU) == 0x2c0) { extent = std::size_t{1} << ((number >> 3) & 7); return MPI_SUCCESS; }
  switch (number) {
    case 0x201: case 0x202: case 0x203: extent = 8; break;
    case 0x207: extent = 1; break;
    case 0x208: case 0x20c: extent = 2; break;
    case 0x209: case 0x20d: case 0x210: case 0x218: case 0x219: case 0x21a: extent = 4; break;
    case 0x20a: case 0x20b: case 0x20e: case 0x20f: case 0x214: case 0x21c: case 0x21b: case 0x212: extent = 8; break;
    case 0x216: case 0x21d: case 0x220: extent = 16; break;
    case 0x21e: extent = 1; break;
    default: return failure(MPI_ERR_TYPE, "unknown type");
  }
  return MPI_SUCCESS;
}
}
