// Attributes: their keys with Fortran's copy and delete procedures, and their values.

#include "twosided_compat/fortran/arguments.hpp"
#include "twosided_compat/fortran/fortran_attributes.hpp"
#include "util/try.hpp"

extern "C" {
// NOLINTBEGIN(readability-identifier-naming,bugprone-macro-parentheses): gfortran gives them these names

// The procedures that stand for a constant of C. They do what they stand for when a program calls them
// itself.
#define RMA_MPI_PREDEFINED(kind, Int)                                                                     \
  void mpi_##kind##null_copy_fn_(MPI_Fint* /*object*/, MPI_Fint* /*keyval*/, Int* /*extra*/, Int* /*in*/, \
                                 Int* /*out*/, MPI_Fint* flag, MPI_Fint* ierror) {                        \
    *flag = 0;                                                                                            \
    *ierror = MPI_SUCCESS;                                                                                \
  }                                                                                                       \
  void mpi_##kind##dup_fn_(MPI_Fint* /*object*/, MPI_Fint* /*keyval*/, Int* /*extra*/, Int* in, Int* out, \
                           MPI_Fint* flag, MPI_Fint* ierror) {                                            \
    *out = *in;                                                                                           \
    *flag = 1;                                                                                            \
    *ierror = MPI_SUCCESS;                                                                                \
  }                                                                                                       \
  void mpi_##kind##null_delete_fn_(MPI_Fint* /*object*/, MPI_Fint* /*keyval*/, Int* /*value*/,            \
                                   Int* /*extra*/, MPI_Fint* ierror) {                                    \
    *ierror = MPI_SUCCESS;                                                                                \
  }
RMA_MPI_PREDEFINED(comm_, MPI_Aint)
RMA_MPI_PREDEFINED(type_, MPI_Aint)
RMA_MPI_PREDEFINED(win_, MPI_Aint)
RMA_MPI_PREDEFINED(, MPI_Fint)
#undef RMA_MPI_PREDEFINED

// NOLINTEND(readability-identifier-naming,bugprone-macro-parentheses)
}  // extern "C"

namespace librma::mpi_fortran {
namespace {

using mpi::AnyFunction;
using mpi::FortranCopy;
using mpi::FortranDelete;
using mpi::KeyLanguage;

/// The predefined procedures of one kind of object.
template <class Int>
struct Predefined {
  FortranCopy<Int>* null_copy;
  FortranCopy<Int>* duplicate;
  FortranDelete<Int>* null_delete;
};

/// Makes a key: `create` is the C function, which gets null and 1 for the predefined procedures.
template <class Int, class Create>
int create_key(Create create, const Predefined<Int>& predefined, FortranCopy<Int>* copy,
               FortranDelete<Int>* remove, MPI_Fint* keyval, Int extra) {
  auto* c_copy = reinterpret_cast<AnyFunction>(copy);
  if (copy == predefined.null_copy) c_copy = nullptr;
  if (copy == predefined.duplicate) c_copy = reinterpret_cast<AnyFunction>(MPI_COMM_DUP_FN);
  auto* const c_remove = reinterpret_cast<AnyFunction>(remove == predefined.null_delete ? nullptr : remove);
  constexpr bool kIsInteger = std::is_same_v<Int, MPI_Fint>;
  return create(c_copy, c_remove, keyval, extra,
                kIsInteger ? KeyLanguage::kFortranInteger : KeyLanguage::kFortranAddress);
}

/// Looks an attribute up: `get` is the C function. An INTEGER gets the low bits of the value.
template <class Handle, class Int, class Get>
int get_attribute(Get get, const MPI_Fint* object, const MPI_Fint* keyval, Int* value, MPI_Fint* flag) {
  MPI_Aint found = 0;
  int is_found = 0;
  RMA_TRY(get(handle<Handle>(*object), *keyval, &found, &is_found));
  if (is_found != 0) *value = static_cast<Int>(found);
  *flag = is_found != 0 ? 1 : 0;
  return MPI_SUCCESS;
}

}  // namespace
}  // namespace librma::mpi_fortran

using namespace librma::mpi_fortran;

extern "C" {
// NOLINTBEGIN(readability-identifier-naming,bugprone-macro-parentheses): gfortran gives them these names

#define RMA_MPI_ATTRIBUTES(kind, Handle)                                                                  \
  void pmpi_##kind##_create_keyval_(FortranCopy<MPI_Aint>* copy, FortranDelete<MPI_Aint>* remove,         \
                                    MPI_Fint* keyval, const MPI_Aint* extra, MPI_Fint* ierror) {          \
    const Predefined<MPI_Aint> predefined{mpi_##kind##_null_copy_fn_, mpi_##kind##_dup_fn_,               \
                                          mpi_##kind##_null_delete_fn_};                                  \
    store(ierror,                                                                                         \
          create_key(rma_mpi_fortran_##kind##_create_keyval, predefined, copy, remove, keyval, *extra));  \
  }                                                                                                       \
  RMA_MPI_FORTRAN_NAMES(mpi_##kind##_create_keyval_);                                                     \
  void pmpi_##kind##_set_attr_(const MPI_Fint* object, const MPI_Fint* keyval, const MPI_Aint* value,     \
                               MPI_Fint* ierror) {                                                        \
    store(ierror, rma_mpi_fortran_##kind##_set_attr(handle<Handle>(*object), *keyval, *value));           \
  }                                                                                                       \
  RMA_MPI_FORTRAN_NAMES(mpi_##kind##_set_attr_);                                                          \
  void pmpi_##kind##_get_attr_(const MPI_Fint* object, const MPI_Fint* keyval, MPI_Aint* value,           \
                               MPI_Fint* flag, MPI_Fint* ierror) {                                        \
    store(ierror, get_attribute<Handle>(rma_mpi_fortran_##kind##_get_attr, object, keyval, value, flag)); \
  }                                                                                                       \
  RMA_MPI_FORTRAN_NAMES(mpi_##kind##_get_attr_);
RMA_MPI_ATTRIBUTES(comm, MPI_Comm)
RMA_MPI_ATTRIBUTES(type, MPI_Datatype)
RMA_MPI_ATTRIBUTES(win, MPI_Win)
#undef RMA_MPI_ATTRIBUTES

void pmpi_keyval_create_(FortranCopy<MPI_Fint>* copy, FortranDelete<MPI_Fint>* remove, MPI_Fint* keyval,
                         const MPI_Fint* extra, MPI_Fint* ierror) {
  const Predefined<MPI_Fint> predefined{mpi_null_copy_fn_, mpi_dup_fn_, mpi_null_delete_fn_};
  store(ierror, create_key(rma_mpi_fortran_comm_create_keyval, predefined, copy, remove, keyval, *extra));
}
RMA_MPI_FORTRAN_NAMES(mpi_keyval_create_);

void pmpi_attr_put_(const MPI_Fint* comm, const MPI_Fint* keyval, const MPI_Fint* value, MPI_Fint* ierror) {
  store(ierror, rma_mpi_fortran_comm_set_attr(handle<MPI_Comm>(*comm), *keyval, *value));
}
RMA_MPI_FORTRAN_NAMES(mpi_attr_put_);

void pmpi_attr_get_(const MPI_Fint* comm, const MPI_Fint* keyval, MPI_Fint* value, MPI_Fint* flag,
                    MPI_Fint* ierror) {
  store(ierror, get_attribute<MPI_Comm>(rma_mpi_fortran_comm_get_attr, comm, keyval, value, flag));
}
RMA_MPI_FORTRAN_NAMES(mpi_attr_get_);

// NOLINTEND(readability-identifier-naming,bugprone-macro-parentheses)
}  // extern "C"
