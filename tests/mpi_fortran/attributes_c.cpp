// The C half of attributes.f90: keys, callbacks and calls in C, which Fortran calls by numbers.

#include <mpi.h>

#include <cstdint>
#include <cstdlib>

namespace {

enum Kind { kComm = 1, kType = 2, kWin = 3 };

// How a callback reads the value: 0 is the pointer itself, otherwise it points to an integer of so many
// bytes.
int width = 0;
int calls = 0;
MPI_Aint seen = 0;

MPI_Aint read(void* value, int bytes) {
  if (bytes == 0) return reinterpret_cast<MPI_Aint>(value);
  return bytes == 4 ? *static_cast<int*>(value) : *static_cast<MPI_Aint*>(value);
}

template <class Handle>
int copy(Handle /*object*/, int /*keyval*/, void* /*extra*/, void* in, void* out, int* flag) {
  ++calls;
  seen = read(in, width);
  *static_cast<void**>(out) = in;
  *flag = 1;
  return MPI_SUCCESS;
}

template <class Handle>
int remove(Handle /*object*/, int /*keyval*/, void* value, void* /*extra*/) {
  ++calls;
  seen = read(value, width);
  return MPI_SUCCESS;
}

void check(int code) {
  if (code != MPI_SUCCESS) std::abort();
}

}  // namespace

extern "C" {

void c_create_key_(const int* kind, int* keyval) {
  if (*kind == kComm) check(MPI_Comm_create_keyval(copy<MPI_Comm>, remove<MPI_Comm>, keyval, nullptr));
  if (*kind == kType)
    check(MPI_Type_create_keyval(copy<MPI_Datatype>, remove<MPI_Datatype>, keyval, nullptr));
  if (*kind == kWin) check(MPI_Win_create_keyval(copy<MPI_Win>, remove<MPI_Win>, keyval, nullptr));
}

void c_set_(const int* kind, const int* object, const int* keyval, const MPI_Aint* bits) {
  auto* const value = reinterpret_cast<void*>(*bits);
  if (*kind == kComm) check(MPI_Comm_set_attr(MPI_Comm_f2c(*object), *keyval, value));
  if (*kind == kType) check(MPI_Type_set_attr(MPI_Type_f2c(*object), *keyval, value));
  if (*kind == kWin) check(MPI_Win_set_attr(MPI_Win_f2c(*object), *keyval, value));
}

void c_get_(const int* kind, const int* object, const int* keyval, const int* bytes, MPI_Aint* value,
            int* found) {
  void* pointer = nullptr;
  *found = 0;
  if (*kind == kComm) check(MPI_Comm_get_attr(MPI_Comm_f2c(*object), *keyval, &pointer, found));
  if (*kind == kType) check(MPI_Type_get_attr(MPI_Type_f2c(*object), *keyval, &pointer, found));
  if (*kind == kWin) check(MPI_Win_get_attr(MPI_Win_f2c(*object), *keyval, &pointer, found));
  *value = *found != 0 ? read(pointer, *bytes) : 0;
}

void c_delete_(const int* kind, const int* object, const int* keyval) {
  if (*kind == kComm) check(MPI_Comm_delete_attr(MPI_Comm_f2c(*object), *keyval));
  if (*kind == kType) check(MPI_Type_delete_attr(MPI_Type_f2c(*object), *keyval));
  if (*kind == kWin) check(MPI_Win_delete_attr(MPI_Win_f2c(*object), *keyval));
}

void c_expect_width_(const int* bytes) { width = *bytes; }

// How often a callback has been called since the last question, and what it has seen.
void c_seen_(int* count, MPI_Aint* value) {
  *count = calls;
  *value = seen;
  calls = 0;
}
}
