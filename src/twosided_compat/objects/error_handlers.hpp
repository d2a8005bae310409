#pragma once

#include "mpi.h"
#include "twosided_compat/objects/errors.hpp"
#include "util/try.hpp"

// The common bodies of the calls on error handlers, for each kind of object. `owner` is null for a handle
// that is not valid; then they return `invalid`.

namespace librma::mpi {

/// Makes a handler for objects of the kind `owner`.
[[nodiscard]] int create_handler(Kind owner, ErrorHandler::Function function, MPI_Errhandler* errhandler);
[[nodiscard]] int set_handler(ErrorHandlerOwner* owner, MPI_Errhandler errhandler, int invalid);
[[nodiscard]] int get_handler(const ErrorHandlerOwner* owner, MPI_Errhandler* errhandler, int invalid);
[[nodiscard]] int check_code(int errorcode);

/// Invokes the handler with an error of the program. The call itself then succeeds.
template <class Handle>
[[nodiscard]] int call_handler(Handle handle, int errorcode, int invalid, const char* name) {
  if (find<ErrorHandlerOwner>(handle) == nullptr) return invalid;
  RMA_TRY(check_code(errorcode));
  raise(handle, name, errorcode);
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
