// The error codes of failed system calls.

#include "twosided_compat/objects/system_errors.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "mpi.h"
#include "twosided_compat/objects/error_codes.hpp"
#include "twosided_compat/objects/errors.hpp"

namespace librma::mpi {
namespace {

/// Returns the error class of an error number of a call on files.
int class_of_number(int number) {
  switch (number) {
    case ENOENT:
      return MPI_ERR_NO_SUCH_FILE;
    case EACCES:
    case EPERM:
      return MPI_ERR_ACCESS;
    case EROFS:
      return MPI_ERR_READ_ONLY;
    case EEXIST:
      return MPI_ERR_FILE_EXISTS;
    case ENOSPC:
    case EFBIG:
      return MPI_ERR_NO_SPACE;
    case EDQUOT:
      return MPI_ERR_QUOTA;
    case EISDIR:
    case ENOTDIR:
    case ENAMETOOLONG:
    case ELOOP:
    case ENXIO:
      return MPI_ERR_BAD_FILE;
    case EBUSY:
    case ETXTBSY:
      return MPI_ERR_FILE_IN_USE;
    case ENOMEM:
      return MPI_ERR_NO_MEM;
    default:
      return MPI_ERR_IO;
  }
}

/// Returns the error number of a code, or 0 if the code is none of a system call.
int number_in(int code) {
  const int number = code - kSystemCodes;
  return number > 0 && number < kSystemNumbers ? number : 0;
}

}  // namespace

std::optional<int> system_error_class(int code) {
  const int number = number_in(code);
  if (number == 0) return std::nullopt;
  return class_of_number(number);
}

std::optional<std::string> system_error_text(int code) {
  const int number = number_in(code);
  if (number == 0) return std::nullopt;
  const StandardClass* const known = standard_class(class_of_number(number));
  return fmt::format("MPI_{}: {}: {}", known->name, known->text, std::strerror(number));
}

int system_failure(int number, const std::string& what) {
  return failure(kSystemCodes + number, fmt::format("{}: {}", what, std::strerror(number)));
}

}  // namespace librma::mpi
