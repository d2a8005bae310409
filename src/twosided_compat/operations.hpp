#pragma once
#include <complex>
#include <algorithm>
#include "twosided_compat/datatypes.hpp"
namespace rma::mpi {
class Operation {
 public:
  MPI_Op op = MPI_SUM; MPI_Datatype type = MPI_INT;
  template <class T> static void run(MPI_Op op, const void* in, void* inout, MPI_Count n) {
    auto* a = static_cast<const T*>(in); auto* b = static_cast<T*>(inout);
    for (MPI_Count i = 0; i < n; ++i) {
      if (op == MPI_SUM) b[i] = a[i] + b[i];
      else if (op == MPI_PROD) b[i] = a[i] * b[i];
      if constexpr (!std::is_same_v<T, std::complex<double>>) {
      if (op == MPI_MAX) b[i] = std::max(a[i], b[i]);
      else if (op == MPI_MIN) b[i] = std::min(a[i], b[i]);
      }
      if constexpr (std::is_integral_v<T>) { if (op == MPI_LOR) b[i] = (a[i] || b[i]); if (op == MPI_LAND) b[i] = (a[i] && b[i]); }
    }
  }
  [[nodiscard]] int apply(const void* in, void* inout, MPI_Count n) const {
    switch (bits(type)) {
      case 0x209: case 0x219: case 0x218: run<int>(op, in, inout, n); break;
      case 0x20a: case 0x20b: case 0x258: run<long>(op, in, inout, n); break;
      case 0x210: case 0x21a: run<float>(op, in, inout, n); break;
      case 0x214: case 0x21c: run<double>(op, in, inout, n); break;
      case 0x21d: case 0x216: run<std::complex<double>>(op, in, inout, n); break;
      default: return failure(MPI_ERR_OP, "op");
    }
    return MPI_SUCCESS;
  }
};
[[nodiscard]] inline int find_operation(MPI_Op op, MPI_Datatype type, Operation& o) { o.op = op; o.type = type; return MPI_SUCCESS; }
}
