// Open MPI's C++ bindings, as far as installed programs use them. Their header has almost everything
// inline, so every program that includes it imports three member functions and two of C, and hardly any
// program calls one. The names here are those that the compiler gives to the members of namespace MPI.

#include "mpi.h"
#include "twosided_compat/objects/errors.hpp"
#include "twosided_compat/operators/operators.hpp"

namespace librma::mpi {

/// An object of the C++ bindings: its table of virtual functions, which the program's constructor sets, and
/// the handle.
template <class Handle>
struct CxxObject {
  const void* table = nullptr;
  Handle handle;
};

}  // namespace librma::mpi

using librma::mpi::CxxObject;

extern "C" {
// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier): the names are Open MPI's

/// MPI::Comm::Comm()
void _ZN3MPI4CommC2Ev(CxxObject<MPI_Comm>* comm) { comm->handle = MPI_COMM_NULL; }

/// MPI::Win::Free()
void _ZN3MPI3Win4FreeEv(CxxObject<MPI_Win>* win) { static_cast<void>(PMPI_Win_free(&win->handle)); }

/// MPI::Datatype::Free()
void _ZN3MPI8Datatype4FreeEv(CxxObject<MPI_Datatype>* type) {
  static_cast<void>(PMPI_Type_free(&type->handle));
}

/// MPI::InitializeIntercepts(), which MPI::Init() calls. There is nothing to prepare.
void _ZN3MPI20InitializeInterceptsEv() {}

/// The function of every operator that MPI::Op::Init() makes. `function` is the program's.
void ompi_mpi_cxx_op_intercept(void* in, void* inout, int* length, MPI_Datatype* datatype,
                               void (*function)()) {
  using CxxFunction = void(const void* in, void* inout, int length, const CxxObject<MPI_Datatype>& datatype);
  const CxxObject<MPI_Datatype> type = {.handle = *datatype};
  reinterpret_cast<CxxFunction*>(function)(in, inout, *length, type);
}

/// Tells an operator of MPI::Op::Init() the program's function.
void ompi_op_set_cxx_callback(MPI_Op op, void (*function)()) {
  if (auto* const found = librma::mpi::find<librma::mpi::Operator>(op); found != nullptr)
    found->set_context(function);
}

CxxObject<MPI_Comm> _ZN3MPI10COMM_WORLDE = {.handle = MPI_COMM_WORLD};
CxxObject<MPI_Comm> _ZN3MPI9COMM_NULLE = {.handle = MPI_COMM_NULL};
CxxObject<MPI_Group> _ZN3MPI11GROUP_EMPTYE = {.handle = MPI_GROUP_EMPTY};
CxxObject<MPI_Datatype> _ZN3MPI13DATATYPE_NULLE = {.handle = MPI_DATATYPE_NULL};
CxxObject<MPI_Datatype> _ZN3MPI13UNSIGNED_LONGE = {.handle = MPI_UNSIGNED_LONG};
CxxObject<MPI_Datatype> _ZN3MPI3INTE = {.handle = MPI_INT};
CxxObject<MPI_Datatype> _ZN3MPI4BYTEE = {.handle = MPI_BYTE};
CxxObject<MPI_Datatype> _ZN3MPI4LONGE = {.handle = MPI_LONG};
CxxObject<MPI_Datatype> _ZN3MPI5FLOATE = {.handle = MPI_FLOAT};
CxxObject<MPI_Datatype> _ZN3MPI6DOUBLEE = {.handle = MPI_DOUBLE};
CxxObject<MPI_Datatype> _ZN3MPI8UNSIGNEDE = {.handle = MPI_UNSIGNED};
CxxObject<MPI_Op> _ZN3MPI3MAXE = {.handle = MPI_MAX};
/// MPI::IN_PLACE
void* _ZN3MPI8IN_PLACEE = MPI_IN_PLACE;

// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)
}  // extern "C"
