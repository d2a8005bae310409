// Error handlers: making, attaching, asking for, invoking and freeing them.

#include "twosided_compat/objects/error_handlers.hpp"

#include <fmt/format.h>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/objects/error_codes.hpp"

namespace librma::mpi {
namespace {

/// Returns whether a handler may be attached to objects of the kind `owner`.
bool fits(MPI_Errhandler errhandler, Kind owner) {
  if (errhandler == MPI_ERRORS_ARE_FATAL || errhandler == MPI_ERRORS_ABORT ||
      errhandler == MPI_ERRORS_RETURN) {
    return true;
  }
  const ErrorHandler* const own = find<ErrorHandler>(errhandler);
  return own != nullptr && own->owner() == owner;
}

}  // namespace

int create_handler(Kind owner, ErrorHandler::Function function, MPI_Errhandler* errhandler) {
  if (function.comm == nullptr || errhandler == nullptr) {
    return failure(MPI_ERR_ARG, "the function or the place of the handle is null");
  }
  *errhandler = (new ErrorHandler(owner, function))->handle<MPI_Errhandler>();
  return MPI_SUCCESS;
}

int set_handler(ErrorHandlerOwner* owner, MPI_Errhandler errhandler, int invalid) {
  if (owner == nullptr) return invalid;
  if (!fits(errhandler, owner->kind())) {
    return failure(MPI_ERR_ERRHANDLER, "the handler was not made for this kind of object");
  }
  owner->errors.set(errhandler);
  return MPI_SUCCESS;
}

int get_handler(const ErrorHandlerOwner* owner, MPI_Errhandler* errhandler, int invalid) {
  if (owner == nullptr) return invalid;
  *errhandler = owner->errors.get();
  return MPI_SUCCESS;
}

int check_code(int errorcode) {
  if (class_of(errorcode)) return MPI_SUCCESS;
  return failure(MPI_ERR_ARG, fmt::format("{} is no error class or code", errorcode));
}

// A program frees what MPI_X_get_errhandler gave it, and that may be a predefined handler: then only the
// handle becomes null.
int errhandler_free(MPI_Errhandler* errhandler) {
  if (ErrorHandler* const own = find<ErrorHandler>(*errhandler)) {
    own->remove_reference();
  } else if (!fits(*errhandler, Kind::kComm)) {
    return MPI_ERR_ERRHANDLER;
  }
  *errhandler = MPI_ERRHANDLER_NULL;
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
