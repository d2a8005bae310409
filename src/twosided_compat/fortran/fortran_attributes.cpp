// Attributes for the library of MPI's Fortran interface.

#include "twosided_compat/fortran/fortran_attributes.hpp"

#include "twosided_compat/binding/entry.hpp"
#include "twosided_compat/calls.hpp"
#include "twosided_compat/communicators/communicator.hpp"
#include "twosided_compat/datatypes/datatypes.hpp"
#include "twosided_compat/windows/window.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {
namespace {

/// Returns what Fortran sees of a predefined attribute. C gets the address of it, except that MPI_WIN_BASE is
/// an address itself.
MPI_Aint predefined_in_fortran(int keyval, void* seen_by_c) {
  if (keyval == MPI_WIN_BASE) return reinterpret_cast<MPI_Aint>(seen_by_c);
  if (keyval == MPI_WIN_SIZE) return *static_cast<const MPI_Aint*>(seen_by_c);
  return *static_cast<const int*>(seen_by_c);
}

/// Fortran's number of a predefined key is this much larger than C's.
#ifdef RMA_MPI_MPICH
constexpr int kKeyDistance = 1;
#else
constexpr int kKeyDistance = 0;
#endif

/// Looks an attribute up in an object that `find` finds. `get` is C's function, which knows the predefined
/// ones.
template <class Owner, class Get, class Handle>
int get_attribute(Found<Owner> (&find)(Handle), Get get, Handle handle, int keyval, MPI_Aint* value,
                  int* flag) {
  RMA_TRY_ASSIGN(found, find(handle));
  if (!is_predefined_key(keyval)) return found->attributes.get_in_fortran(keyval, value, flag);
  keyval -= kKeyDistance;
  void* seen_by_c = nullptr;
  const int code = get(handle, keyval, &seen_by_c, flag);
  if (code == MPI_SUCCESS && *flag != 0) *value = predefined_in_fortran(keyval, seen_by_c);
  return code;
}

}  // namespace
}  // namespace librma::mpi

using namespace librma::mpi;

extern "C" {
// NOLINTBEGIN(bugprone-macro-parentheses): types are no expressions

#define RMA_MPI_FORTRAN_ATTRIBUTES(kind, Kind, Handle, find, owner)                                         \
  int rma_mpi_fortran_##kind##_create_keyval(AnyFunction copy, AnyFunction remove, int* keyval,             \
                                             MPI_Aint extra, KeyLanguage language) {                        \
    return invoke<WhileRunning>("MPI_" #Kind "_create_keyval", NoOwner{},                                   \
                                [&] { return create_key<Handle>(copy, remove, keyval, extra, language); }); \
  }                                                                                                         \
  int rma_mpi_fortran_##kind##_set_attr(Handle object, int keyval, const AttributeValue& value) {           \
    return invoke<WhileRunning>("MPI_" #Kind "_set_attr", owner, [&] {                                      \
      RMA_TRY_ASSIGN(found, find(object));                                                                  \
      return found->attributes.set(object, keyval, value);                                                  \
    });                                                                                                     \
  }                                                                                                         \
  int rma_mpi_fortran_##kind##_get_attr(Handle object, int keyval, MPI_Aint* value, int* flag) {            \
    return invoke<WhileRunning>("MPI_" #Kind "_get_attr", owner, [&] {                                      \
      return get_attribute(find, kind##_get_attr, object, keyval, value, flag);                             \
    });                                                                                                     \
  }
RMA_MPI_FORTRAN_ATTRIBUTES(comm, Comm, MPI_Comm, find_communicator, object)
RMA_MPI_FORTRAN_ATTRIBUTES(win, Win, MPI_Win, find_window, object)
RMA_MPI_FORTRAN_ATTRIBUTES(type, Type, MPI_Datatype, find_datatype, NoOwner{})
#undef RMA_MPI_FORTRAN_ATTRIBUTES

// NOLINTEND(bugprone-macro-parentheses)
}  // extern "C"
