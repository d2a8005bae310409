// Attributes: their keys with Fortran's copy and delete procedures, and their values. An attribute that
// Fortran sets is an integer, which C keeps in the place of its pointer.

#include <algorithm>

#include "twosided_fortran/arguments.hpp"

extern "C" {
// NOLINTBEGIN(readability-identifier-naming,bugprone-macro-parentheses): these are the names that gfortran gives them

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

namespace rma::mpi_fortran {
namespace {

/// Fortran's procedures. Int is what an attribute's value is: an integer of address kind, or a plain one in
/// the calls of MPI-1.
template <class Int>
using CopyProcedure = void(MPI_Fint* object, MPI_Fint* keyval, Int* extra, Int* in, Int* out, MPI_Fint* flag,
                           MPI_Fint* ierror);
template <class Int>
using DeleteProcedure = void(MPI_Fint* object, MPI_Fint* keyval, Int* value, Int* extra, MPI_Fint* ierror);

/// What a key's C functions get as extra state. It lives until the program ends, because attributes may
/// outlive the key.
template <class Int>
struct Key {
  CopyProcedure<Int>* copy;
  DeleteProcedure<Int>* remove;
  Int extra;
};

template <class Handle, class Int>
int copy_attribute(Handle object, int keyval, void* state, void* value_in, void* value_out, int* flag) {
  auto* const key = static_cast<Key<Int>*>(state);
  MPI_Fint number = number_of(object);
  auto in = static_cast<Int>(reinterpret_cast<MPI_Aint>(value_in));
  Int out = 0;
  MPI_Fint ierror = MPI_SUCCESS;
  key->copy(&number, &keyval, &key->extra, &in, &out, flag, &ierror);
  if (ierror == MPI_SUCCESS && *flag != 0) *static_cast<void**>(value_out) = value_as_pointer(out);
  return ierror;
}

template <class Handle, class Int>
int delete_attribute(Handle object, int keyval, void* value, void* state) {
  auto* const key = static_cast<Key<Int>*>(state);
  MPI_Fint number = number_of(object);
  auto in = static_cast<Int>(reinterpret_cast<MPI_Aint>(value));
  MPI_Fint ierror = MPI_SUCCESS;
  key->remove(&number, &keyval, &in, &key->extra, &ierror);
  return ierror;
}

/// The predefined procedures of one kind of object.
template <class Int>
struct Predefined {
  CopyProcedure<Int>* null_copy;
  CopyProcedure<Int>* duplicate;
  DeleteProcedure<Int>* null_delete;
};

/// Makes a key: `create` is the C function.
template <class Handle, class Int, class Create>
int create_key(Create create, const Predefined<Int>& predefined, CopyProcedure<Int>* copy,
               DeleteProcedure<Int>* remove, MPI_Fint* keyval, Int extra) {
  using Copy = int(Handle, int, void*, void*, void*, int*);
  using Delete = int(Handle, int, void*, void*);
  Copy* c_copy = &copy_attribute<Handle, Int>;
  if (copy == predefined.null_copy) c_copy = nullptr;                                   // MPI_X_NULL_COPY_FN
  if (copy == predefined.duplicate) c_copy = reinterpret_cast<Copy*>(MPI_COMM_DUP_FN);  // 1 for every kind
  Delete* const c_delete = remove == predefined.null_delete ? nullptr : &delete_attribute<Handle, Int>;
  return create(c_copy, c_delete, keyval, new Key<Int>{copy, remove, extra});
}

/// Returns an attribute's value in Fortran. C gives the address of a predefined one.
MPI_Aint value_in_fortran(MPI_Fint keyval, void* value) {
  constexpr MPI_Fint kInts[] = {MPI_TAG_UB,
                                MPI_IO,
                                MPI_HOST,
                                MPI_WTIME_IS_GLOBAL,
                                MPI_APPNUM,
                                MPI_LASTUSEDCODE,
                                MPI_UNIVERSE_SIZE,
                                MPI_WIN_DISP_UNIT,
                                MPI_WIN_CREATE_FLAVOR,
                                MPI_WIN_MODEL};
  if (std::ranges::find(kInts, keyval) != std::end(kInts)) return *static_cast<const int*>(value);
  if (keyval == MPI_WIN_SIZE) return *static_cast<const MPI_Aint*>(value);
  return reinterpret_cast<MPI_Aint>(value);
}

/// Looks an attribute up: `get` is the C function.
template <class Handle, class Int, class Get>
int get_attribute(Get get, const MPI_Fint* object, const MPI_Fint* keyval, Int* value, MPI_Fint* flag) {
  void* c_value = nullptr;
  int found = 0;
  const int code = get(handle<Handle>(*object), *keyval, &c_value, &found);
  if (code != MPI_SUCCESS) return code;
  if (found != 0) *value = static_cast<Int>(value_in_fortran(*keyval, c_value));
  *flag = found != 0 ? 1 : 0;
  return code;
}

}  // namespace
}  // namespace rma::mpi_fortran

using namespace rma::mpi_fortran;

extern "C" {
// NOLINTBEGIN(readability-identifier-naming,bugprone-macro-parentheses): these are the names that gfortran gives them

#define RMA_MPI_ATTRIBUTES(kind, Kind, Handle)                                                        \
  void pmpi_##kind##_create_keyval_(CopyProcedure<MPI_Aint>* copy, DeleteProcedure<MPI_Aint>* remove, \
                                    MPI_Fint* keyval, const MPI_Aint* extra, MPI_Fint* ierror) {      \
    const Predefined<MPI_Aint> predefined{mpi_##kind##_null_copy_fn_, mpi_##kind##_dup_fn_,           \
                                          mpi_##kind##_null_delete_fn_};                              \
    store(ierror,                                                                                     \
          create_key<Handle>(PMPI_##Kind##_create_keyval, predefined, copy, remove, keyval, *extra)); \
  }                                                                                                   \
  RMA_MPI_FORTRAN_WEAK(mpi_##kind##_create_keyval_);                                                  \
  void pmpi_##kind##_get_attr_(const MPI_Fint* object, const MPI_Fint* keyval, MPI_Aint* value,       \
                               MPI_Fint* flag, MPI_Fint* ierror) {                                    \
    store(ierror, get_attribute<Handle>(PMPI_##Kind##_get_attr, object, keyval, value, flag));        \
  }                                                                                                   \
  RMA_MPI_FORTRAN_WEAK(mpi_##kind##_get_attr_);
RMA_MPI_ATTRIBUTES(comm, Comm, MPI_Comm)
RMA_MPI_ATTRIBUTES(type, Type, MPI_Datatype)
RMA_MPI_ATTRIBUTES(win, Win, MPI_Win)
#undef RMA_MPI_ATTRIBUTES

void pmpi_keyval_create_(CopyProcedure<MPI_Fint>* copy, DeleteProcedure<MPI_Fint>* remove, MPI_Fint* keyval,
                         const MPI_Fint* extra, MPI_Fint* ierror) {
  const Predefined<MPI_Fint> predefined{mpi_null_copy_fn_, mpi_dup_fn_, mpi_null_delete_fn_};
  store(ierror, create_key<MPI_Comm>(PMPI_Keyval_create, predefined, copy, remove, keyval, *extra));
}
RMA_MPI_FORTRAN_WEAK(mpi_keyval_create_);

void pmpi_attr_get_(const MPI_Fint* comm, const MPI_Fint* keyval, MPI_Fint* value, MPI_Fint* flag,
                    MPI_Fint* ierror) {
  store(ierror, get_attribute<MPI_Comm>(PMPI_Attr_get, comm, keyval, value, flag));
}
RMA_MPI_FORTRAN_WEAK(mpi_attr_get_);

// NOLINTEND(readability-identifier-naming,bugprone-macro-parentheses)
}  // extern "C"
