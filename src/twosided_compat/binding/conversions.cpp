// Handles as integers, and back: what Fortran programs hold.

#include "twosided_compat/calls.hpp"
#include "twosided_compat/objects/object.hpp"

namespace rma::mpi {
namespace {

/// Returns the ABI's number of a predefined handle, or the number that the object has drawn. A handle that is
/// not valid becomes `null`.
template <class Handle>
int number_of(Handle handle, Handle null) {
  if (is_predefined(handle)) return static_cast<int>(bits(handle));
  Object* const object = find<Object>(handle);
  return object != nullptr ? object->to_number() : static_cast<int>(bits(null));
}

/// Returns the handle that has this number, or `null` if there is none of this kind.
template <class Handle>
Handle handle_of(int number, Handle null) {
  if (number >= 0 && static_cast<std::uintptr_t>(number) < kPredefinedEnd) {
    return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(number));
  }
  const Object* const object = Object::from_number(number);
  return object != nullptr && object->kind() == KindOf<Handle>::kValue ? object->handle<Handle>() : null;
}

}  // namespace

int comm_toint(MPI_Comm comm) { return number_of(comm, MPI_COMM_NULL); }
MPI_Comm comm_fromint(int comm) { return handle_of(comm, MPI_COMM_NULL); }
int errhandler_toint(MPI_Errhandler errhandler) { return number_of(errhandler, MPI_ERRHANDLER_NULL); }
MPI_Errhandler errhandler_fromint(int errhandler) { return handle_of(errhandler, MPI_ERRHANDLER_NULL); }
int file_toint(MPI_File file) { return number_of(file, MPI_FILE_NULL); }
MPI_File file_fromint(int file) { return handle_of(file, MPI_FILE_NULL); }
int group_toint(MPI_Group group) { return number_of(group, MPI_GROUP_NULL); }
MPI_Group group_fromint(int group) { return handle_of(group, MPI_GROUP_NULL); }
int info_toint(MPI_Info info) { return number_of(info, MPI_INFO_NULL); }
MPI_Info info_fromint(int info) { return handle_of(info, MPI_INFO_NULL); }
int message_toint(MPI_Message message) { return number_of(message, MPI_MESSAGE_NULL); }
MPI_Message message_fromint(int message) { return handle_of(message, MPI_MESSAGE_NULL); }
int op_toint(MPI_Op op) { return number_of(op, MPI_OP_NULL); }
MPI_Op op_fromint(int op) { return handle_of(op, MPI_OP_NULL); }
int request_toint(MPI_Request request) { return number_of(request, MPI_REQUEST_NULL); }
MPI_Request request_fromint(int request) { return handle_of(request, MPI_REQUEST_NULL); }
int session_toint(MPI_Session session) { return number_of(session, MPI_SESSION_NULL); }
MPI_Session session_fromint(int session) { return handle_of(session, MPI_SESSION_NULL); }
int type_toint(MPI_Datatype datatype) { return number_of(datatype, MPI_DATATYPE_NULL); }
MPI_Datatype type_fromint(int datatype) { return handle_of(datatype, MPI_DATATYPE_NULL); }
int win_toint(MPI_Win win) { return number_of(win, MPI_WIN_NULL); }
MPI_Win win_fromint(int win) { return handle_of(win, MPI_WIN_NULL); }

}  // namespace rma::mpi
