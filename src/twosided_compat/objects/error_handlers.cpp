// Error handlers: making, attaching, asking for, invoking and freeing them.

#include <fmt/format.h>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/objects/error_codes.hpp"
#include "twosided_compat/objects/errors.hpp"

namespace rma::mpi {
namespace {

/// Makes a handler for objects of the kind `owner`.
int create_handler(Kind owner, ErrorHandler::Function function, MPI_Errhandler* errhandler) {
  if (function.comm == nullptr || errhandler == nullptr) {
    return failure(MPI_ERR_ARG, "the function or the place of the handle is null");
  }
  *errhandler = (new ErrorHandler(owner, function))->handle<MPI_Errhandler>();
  return MPI_SUCCESS;
}

/// Returns whether a handler may be attached to objects of the kind `owner`.
bool fits(MPI_Errhandler errhandler, Kind owner) {
  if (errhandler == MPI_ERRORS_ARE_FATAL || errhandler == MPI_ERRORS_ABORT ||
      errhandler == MPI_ERRORS_RETURN) {
    return true;
  }
  const ErrorHandler* const own = find<ErrorHandler>(errhandler);
  return own != nullptr && own->owner() == owner;
}

template <class Handle>
int set_handler(Handle handle, MPI_Errhandler errhandler, int invalid) {
  auto* const owner = find<ErrorHandlerOwner>(handle);
  if (owner == nullptr) return invalid;
  if (!fits(errhandler, owner->kind())) {
    return failure(MPI_ERR_ERRHANDLER, "the handler was not made for this kind of object");
  }
  owner->errors.set(errhandler);
  return MPI_SUCCESS;
}

template <class Handle>
int get_handler(Handle handle, MPI_Errhandler* errhandler, int invalid) {
  const auto* const owner = find<ErrorHandlerOwner>(handle);
  if (owner == nullptr) return invalid;
  if (errhandler == nullptr) return failure(MPI_ERR_ARG, "errhandler is null");
  *errhandler = owner->errors.get();
  return MPI_SUCCESS;
}

/// Invokes the handler with an error of the program. The call itself then succeeds.
template <class Handle>
int call_errhandler(Handle handle, int errorcode, int invalid, const char* name) {
  if (find<ErrorHandlerOwner>(handle) == nullptr) return invalid;
  if (!class_of(errorcode))
    return failure(MPI_ERR_ARG, fmt::format("{} is no error class or code", errorcode));
  raise(handle, name, errorcode);
  return MPI_SUCCESS;
}

}  // namespace

int comm_create_errhandler(MPI_Comm_errhandler_function* comm_errhandler_fn, MPI_Errhandler* errhandler) {
  return create_handler(Kind::kComm, {.comm = comm_errhandler_fn}, errhandler);
}
int win_create_errhandler(MPI_Win_errhandler_function* win_errhandler_fn, MPI_Errhandler* errhandler) {
  return create_handler(Kind::kWin, {.win = win_errhandler_fn}, errhandler);
}
int file_create_errhandler(MPI_File_errhandler_function* file_errhandler_fn, MPI_Errhandler* errhandler) {
  return create_handler(Kind::kFile, {.file = file_errhandler_fn}, errhandler);
}
int session_create_errhandler(MPI_Session_errhandler_function* session_errhandler_fn,
                              MPI_Errhandler* errhandler) {
  return create_handler(Kind::kSession, {.session = session_errhandler_fn}, errhandler);
}

int comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler) {
  return set_handler(comm, errhandler, MPI_ERR_COMM);
}
int win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler) {
  return set_handler(win, errhandler, MPI_ERR_WIN);
}
int file_set_errhandler(MPI_File file, MPI_Errhandler errhandler) {
  return set_handler(file, errhandler, MPI_ERR_FILE);
}
int session_set_errhandler(MPI_Session session, MPI_Errhandler errhandler) {
  return set_handler(session, errhandler, MPI_ERR_SESSION);
}

int comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* errhandler) {
  return get_handler(comm, errhandler, MPI_ERR_COMM);
}
int win_get_errhandler(MPI_Win win, MPI_Errhandler* errhandler) {
  return get_handler(win, errhandler, MPI_ERR_WIN);
}
int file_get_errhandler(MPI_File file, MPI_Errhandler* errhandler) {
  return get_handler(file, errhandler, MPI_ERR_FILE);
}
int session_get_errhandler(MPI_Session session, MPI_Errhandler* errhandler) {
  return get_handler(session, errhandler, MPI_ERR_SESSION);
}

int comm_call_errhandler(MPI_Comm comm, int errorcode) {
  return call_errhandler(comm, errorcode, MPI_ERR_COMM, "MPI_Comm_call_errhandler");
}
int win_call_errhandler(MPI_Win win, int errorcode) {
  return call_errhandler(win, errorcode, MPI_ERR_WIN, "MPI_Win_call_errhandler");
}
int file_call_errhandler(MPI_File file, int errorcode) {
  return call_errhandler(file, errorcode, MPI_ERR_FILE, "MPI_File_call_errhandler");
}
int session_call_errhandler(MPI_Session session, int errorcode) {
  return call_errhandler(session, errorcode, MPI_ERR_SESSION, "MPI_Session_call_errhandler");
}

// A program frees what MPI_X_get_errhandler gave it, and that may be a predefined handler: then only the
// handle becomes null.
int errhandler_free(MPI_Errhandler* errhandler) {
  if (errhandler == nullptr) return failure(MPI_ERR_ARG, "errhandler is null");
  if (ErrorHandler* const own = find<ErrorHandler>(*errhandler)) {
    own->remove_reference();
  } else if (!fits(*errhandler, Kind::kComm)) {
    return MPI_ERR_ERRHANDLER;
  }
  *errhandler = MPI_ERRHANDLER_NULL;
  return MPI_SUCCESS;
}

}  // namespace rma::mpi
