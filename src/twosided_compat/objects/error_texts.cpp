// The texts of the standard's error classes.

#include <algorithm>
#include <array>

#include "mpi.h"
#include "twosided_compat/objects/error_codes.hpp"

namespace rma::mpi {
namespace {

constexpr std::array kClasses = {
    StandardClass{MPI_SUCCESS, "SUCCESS", "no error"},
    StandardClass{MPI_ERR_BUFFER, "ERR_BUFFER", "the buffer pointer is not valid"},
    StandardClass{MPI_ERR_COUNT, "ERR_COUNT", "the count is not valid"},
    StandardClass{MPI_ERR_TYPE, "ERR_TYPE", "the datatype is not valid, or is not committed"},
    StandardClass{MPI_ERR_TAG, "ERR_TAG", "the tag is not valid"},
    StandardClass{MPI_ERR_COMM, "ERR_COMM", "the communicator is not valid"},
    StandardClass{MPI_ERR_RANK, "ERR_RANK", "the communicator or group has no such rank"},
    StandardClass{MPI_ERR_REQUEST, "ERR_REQUEST", "the request is not valid"},
    StandardClass{MPI_ERR_ROOT, "ERR_ROOT", "the communicator has no such root"},
    StandardClass{MPI_ERR_GROUP, "ERR_GROUP", "the group is not valid"},
    StandardClass{MPI_ERR_OP, "ERR_OP", "the operator is not valid, or is not defined for the datatype"},
    StandardClass{MPI_ERR_TOPOLOGY, "ERR_TOPOLOGY", "the communicator has no such topology"},
    StandardClass{MPI_ERR_DIMS, "ERR_DIMS", "the dimensions are not valid"},
    StandardClass{MPI_ERR_ARG, "ERR_ARG", "an argument is not valid"},
    StandardClass{MPI_ERR_UNKNOWN, "ERR_UNKNOWN", "an unknown error"},
    StandardClass{MPI_ERR_TRUNCATE, "ERR_TRUNCATE", "the message is longer than the receive buffer"},
    StandardClass{MPI_ERR_OTHER, "ERR_OTHER", "the call failed"},
    StandardClass{MPI_ERR_INTERN, "ERR_INTERN", "an internal error of the library"},
    StandardClass{MPI_ERR_PENDING, "ERR_PENDING", "the request is still pending"},
    StandardClass{MPI_ERR_IN_STATUS, "ERR_IN_STATUS", "the error codes are in the statuses"},
    StandardClass{MPI_ERR_ACCESS, "ERR_ACCESS", "permission denied"},
    StandardClass{MPI_ERR_AMODE, "ERR_AMODE", "the access mode is not valid"},
    StandardClass{MPI_ERR_ASSERT, "ERR_ASSERT", "the assertion is not valid"},
    StandardClass{MPI_ERR_BAD_FILE, "ERR_BAD_FILE", "the file name is not valid"},
    StandardClass{MPI_ERR_BASE, "ERR_BASE", "the base address is not valid"},
    StandardClass{MPI_ERR_CONVERSION, "ERR_CONVERSION",
                  "a value cannot be converted to another data representation"},
    StandardClass{MPI_ERR_DISP, "ERR_DISP", "the displacement is not valid"},
    StandardClass{MPI_ERR_DUP_DATAREP, "ERR_DUP_DATAREP", "the data representation is already defined"},
    StandardClass{MPI_ERR_FILE_EXISTS, "ERR_FILE_EXISTS", "the file exists"},
    StandardClass{MPI_ERR_FILE_IN_USE, "ERR_FILE_IN_USE", "the file is open in some process"},
    StandardClass{MPI_ERR_FILE, "ERR_FILE", "the file handle is not valid"},
    StandardClass{MPI_ERR_INFO_KEY, "ERR_INFO_KEY",
                  "the info key is not valid: it is null, empty or too long"},
    StandardClass{MPI_ERR_INFO_NOKEY, "ERR_INFO_NOKEY", "the info object has no such key"},
    StandardClass{MPI_ERR_INFO_VALUE, "ERR_INFO_VALUE",
                  "the info value is not valid: it is null or too long"},
    StandardClass{MPI_ERR_INFO, "ERR_INFO", "the info object is not valid"},
    StandardClass{MPI_ERR_IO, "ERR_IO", "input or output failed"},
    StandardClass{MPI_ERR_KEYVAL, "ERR_KEYVAL", "the attribute key is not valid"},
    StandardClass{MPI_ERR_LOCKTYPE, "ERR_LOCKTYPE", "the type of lock is not valid"},
    StandardClass{MPI_ERR_NAME, "ERR_NAME", "no service has this name"},
    StandardClass{MPI_ERR_NO_MEM, "ERR_NO_MEM", "no memory is left"},
    StandardClass{MPI_ERR_NOT_SAME, "ERR_NOT_SAME",
                  "an argument of a collective call differs between processes"},
    StandardClass{MPI_ERR_NO_SPACE, "ERR_NO_SPACE", "no space is left on the device"},
    StandardClass{MPI_ERR_NO_SUCH_FILE, "ERR_NO_SUCH_FILE", "the file does not exist"},
    StandardClass{MPI_ERR_PORT, "ERR_PORT", "the port is not valid"},
    StandardClass{MPI_ERR_QUOTA, "ERR_QUOTA", "the quota is exceeded"},
    StandardClass{MPI_ERR_READ_ONLY, "ERR_READ_ONLY", "the file or file system is read-only"},
    StandardClass{MPI_ERR_RMA_ATTACH, "ERR_RMA_ATTACH",
                  "the memory cannot be attached to the window: it is attached already, or a rank shows "
                  "RMA_MAX_REGIONS ranges"},
    StandardClass{MPI_ERR_RMA_CONFLICT, "ERR_RMA_CONFLICT", "conflicting accesses to the window"},
    StandardClass{MPI_ERR_RMA_RANGE, "ERR_RMA_RANGE", "the target memory is not part of the window"},
    StandardClass{MPI_ERR_RMA_SHARED, "ERR_RMA_SHARED", "the processes cannot share memory"},
    StandardClass{MPI_ERR_RMA_SYNC, "ERR_RMA_SYNC", "the synchronization calls of the window do not match"},
    StandardClass{MPI_ERR_SERVICE, "ERR_SERVICE", "the name is not published"},
    StandardClass{MPI_ERR_SIZE, "ERR_SIZE", "the size is not valid"},
    StandardClass{MPI_ERR_SPAWN, "ERR_SPAWN", "the processes cannot be started"},
    StandardClass{MPI_ERR_UNSUPPORTED_DATAREP, "ERR_UNSUPPORTED_DATAREP",
                  "the library does not have this data representation"},
    StandardClass{MPI_ERR_UNSUPPORTED_OPERATION, "ERR_UNSUPPORTED_OPERATION",
                  "the library does not have this operation"},
    StandardClass{MPI_ERR_WIN, "ERR_WIN", "the window is not valid"},
    StandardClass{MPI_ERR_RMA_FLAVOR, "ERR_RMA_FLAVOR", "the window has the wrong flavor for this call"},
    StandardClass{MPI_ERR_PROC_ABORTED, "ERR_PROC_ABORTED", "a process that the call needs has ended"},
    StandardClass{MPI_ERR_VALUE_TOO_LARGE, "ERR_VALUE_TOO_LARGE", "a value does not fit in its variable"},
    StandardClass{MPI_ERR_SESSION, "ERR_SESSION", "the session is not valid"},
    StandardClass{MPI_ERR_ERRHANDLER, "ERR_ERRHANDLER", "the error handler is not valid"},
    StandardClass{MPI_ERR_ABI, "ERR_ABI", "the binary interface does not permit the call"},
    StandardClass{MPI_T_ERR_CANNOT_INIT, "T_ERR_CANNOT_INIT", "the tool interface cannot be initialized"},
    StandardClass{MPI_T_ERR_NOT_ACCESSIBLE, "T_ERR_NOT_ACCESSIBLE",
                  "the tool interface is not accessible now"},
    StandardClass{MPI_T_ERR_NOT_INITIALIZED, "T_ERR_NOT_INITIALIZED",
                  "the tool interface is not initialized"},
    StandardClass{MPI_T_ERR_NOT_SUPPORTED, "T_ERR_NOT_SUPPORTED", "the tool interface does not have this"},
    StandardClass{MPI_T_ERR_MEMORY, "T_ERR_MEMORY", "the tool interface has no memory left"},
    StandardClass{MPI_T_ERR_INVALID, "T_ERR_INVALID", "wrong use of the tool interface"},
    StandardClass{MPI_T_ERR_INVALID_INDEX, "T_ERR_INVALID_INDEX", "the tool interface has no such index"},
    StandardClass{MPI_T_ERR_INVALID_ITEM, "T_ERR_INVALID_ITEM", "the enumeration has no such item"},
    StandardClass{MPI_T_ERR_INVALID_SESSION, "T_ERR_INVALID_SESSION",
                  "the session of variables is not valid"},
    StandardClass{MPI_T_ERR_INVALID_HANDLE, "T_ERR_INVALID_HANDLE", "the handle of a variable is not valid"},
    StandardClass{MPI_T_ERR_INVALID_NAME, "T_ERR_INVALID_NAME", "the tool interface has no such name"},
    StandardClass{MPI_T_ERR_OUT_OF_HANDLES, "T_ERR_OUT_OF_HANDLES", "no handles of variables are left"},
    StandardClass{MPI_T_ERR_OUT_OF_SESSIONS, "T_ERR_OUT_OF_SESSIONS", "no sessions of variables are left"},
    StandardClass{MPI_T_ERR_CVAR_SET_NOT_NOW, "T_ERR_CVAR_SET_NOT_NOW", "the variable cannot be set now"},
    StandardClass{MPI_T_ERR_CVAR_SET_NEVER, "T_ERR_CVAR_SET_NEVER", "the variable cannot be set"},
    StandardClass{MPI_T_ERR_PVAR_NO_WRITE, "T_ERR_PVAR_NO_WRITE", "the variable cannot be written or reset"},
    StandardClass{MPI_T_ERR_PVAR_NO_STARTSTOP, "T_ERR_PVAR_NO_STARTSTOP",
                  "the variable cannot be started or stopped"},
    StandardClass{MPI_T_ERR_PVAR_NO_ATOMIC, "T_ERR_PVAR_NO_ATOMIC",
                  "the variable cannot be read and reset at once"},
};

}  // namespace

const StandardClass* standard_class(int value) {
  const auto* const found = std::find_if(kClasses.begin(), kClasses.end(),
                                         [value](const StandardClass& c) { return c.value == value; });
  return found != kClasses.end() ? found : nullptr;
}

}  // namespace rma::mpi
