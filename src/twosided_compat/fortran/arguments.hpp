#pragma once

#include "mpi.h"
#include "twosided_compat/fortran/handles.hpp"
#include "twosided_compat/fortran/sentinels.hpp"

/// Defines mpi_x_ as a weak alias of pmpi_x_, which the including file defines. A profiler may define its own
/// mpi_x_.
#define RMA_MPI_FORTRAN_WEAK(name) [[gnu::weak, gnu::alias("p" #name)]] decltype(p##name) name

// Open MPI's and MPICH's modules mpi_f08 call procedures of names of their own, with the arguments that
// mpif.h has: a handle of the module has one INTEGER in it, and a buffer's address stands for the buffer.
// So do the procedures of the module mpi that return a C pointer. Only where MPICH's procedures have
// buffers, they get the compiler's description of each (sections.hpp).
#if defined(RMA_MPI_OPENMPI) || defined(RMA_MPI_MPICH)
/// Defines mpi_x_ as RMA_MPI_FORTRAN_WEAK does, and mpi_x_f08_ as another name of it.
#define RMA_MPI_FORTRAN_NAMES(name) \
  RMA_MPI_FORTRAN_WEAK(name);       \
  [[gnu::weak, gnu::alias("p" #name)]] decltype(p##name) name##f08_, p##name##f08_
/// Defines mpi_x_cptr_ as another name of mpi_x_.
#define RMA_MPI_FORTRAN_POINTER(name) \
  [[gnu::weak, gnu::alias("p" #name)]] decltype(p##name) name##cptr_, p##name##cptr_
#else
#define RMA_MPI_FORTRAN_NAMES(name) RMA_MPI_FORTRAN_WEAK(name)
#define RMA_MPI_FORTRAN_POINTER(name) static_assert(true)
#endif

namespace librma::mpi_fortran {

/// Stores the result of a call. The module mpi lets a program leave ierror out, which makes it null.
inline void store(MPI_Fint* ierror, int code) {
  if (ierror != nullptr) *ierror = code;
}

/// An output that the C function gets a place for, and Fortran has no use for.
class UnusedPointer {
 public:
  operator void*() {
    return &pointer_;
  }  // NOLINT(google-explicit-constructor): an argument of the C function

 private:
  void* pointer_ = nullptr;
};

/// Returns an array of ranges of ranks: Fortran's (3, n) is C's [n][3].
inline int (*triples(MPI_Fint* ranges))[3] { return reinterpret_cast<int(*)[3]>(ranges); }

/// A place for an integer that is converted at the end of the call, unless the C function has set nothing.
template <class Convert>
class IntegerOut {
 public:
  explicit IntegerOut(MPI_Fint* out) : out_(out) {}
  IntegerOut(const IntegerOut&) = delete;
  IntegerOut& operator=(const IntegerOut&) = delete;
  ~IntegerOut() {
    if (value_ != kUnset) *out_ = Convert{}(value_);
  }
  operator int*() { return &value_; }  // NOLINT(google-explicit-constructor): an argument of the C function

 private:
  static constexpr int kUnset = -0x7fffffff;  // no flag, and no index
  MPI_Fint* out_;
  int value_ = kUnset;
};

struct ToLogical {
  MPI_Fint operator()(int flag) const { return flag != 0 ? 1 : 0; }
};
struct ToIndex {
  MPI_Fint operator()(int index) const { return index == MPI_UNDEFINED ? index : index + 1; }
};
/// gfortran's .true. is 1.
using LogicalOut = IntegerOut<ToLogical>;
/// Fortran's first index is 1.
using IndexOut = IntegerOut<ToIndex>;

/// The indices of an array, of which the C function says in `count` how many it has set.
class IndicesOut {
 public:
  IndicesOut(MPI_Fint* indices, MPI_Fint* count) : indices_(indices), count_(count) {
    *count_ = MPI_UNDEFINED;
  }
  IndicesOut(const IndicesOut&) = delete;
  IndicesOut& operator=(const IndicesOut&) = delete;
  ~IndicesOut() {
    for (MPI_Fint i = 0; i < *count_; ++i) ++indices_[i];  // MPI_UNDEFINED is negative
  }
  operator int*() { return indices_; }  // NOLINT(google-explicit-constructor): an argument of the C function

 private:
  MPI_Fint* indices_;
  MPI_Fint* count_;
};

/// How many datatypes the arrays of MPI_Alltoallw have.
class Peers {
 public:
  explicit Peers(const MPI_Fint* comm);
  /// None are read where the data is in place.
  MPI_Fint sent(const void* sendbuf) const { return is_in_place(sendbuf) ? 0 : count_; }
  MPI_Fint received() const { return count_; }

 private:
  int count_ = 0;
};

/// How many datatypes the arrays of MPI_Neighbor_alltoallw have.
class Neighbors {
 public:
  explicit Neighbors(const MPI_Fint* comm);
  MPI_Fint sent(const void* /*sendbuf*/) const { return out_; }
  MPI_Fint received() const { return in_; }

 private:
  int in_ = 0;
  int out_ = 0;
};

}  // namespace librma::mpi_fortran
