// The attributes of communicators.

#include <charconv>
#include <climits>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "rma/launcher.h"
#include "rma/rma.h"
#include "twosided_compat/calls.hpp"
#include "twosided_compat/communicators/communicator.hpp"
#include "twosided_compat/objects/error_codes.hpp"
#include "util/system/universe_variable.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {
namespace {

/// Returns the number of ranks that the launcher names, if it names one and the job has so many seats.
/// Otherwise returns the number of seats.
int universe_size() {
  const int seats = rma_seats();
  const char* const named = std::getenv(librma::kUniverseVariable);
  if (named == nullptr) return seats;
  const std::string_view text = named;
  int size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  return error == std::errc() && end == text.data() + text.size() && size > 0 && size < seats ? size : seats;
}

/// Returns the value of a predefined attribute, or null if `keyval` names no predefined attribute. The values
/// never change during a job, except that of MPI_LASTUSEDCODE.
int* predefined_attribute(int keyval) {
  static int tag_limit = INT_MAX;
  static int every_process = MPI_ANY_SOURCE;  // each may do input and output
  static int no_process = MPI_PROC_NULL;      // no process has a host process
  static int no = 0;
  switch (keyval) {
    case MPI_TAG_UB:
      return &tag_limit;
    case MPI_IO:
      return &every_process;
    case MPI_HOST:
      return &no_process;
    case MPI_WTIME_IS_GLOBAL:
      return &no;
    case MPI_APPNUM: {
      static thread_local int program = 0;
      program = rma_program();
      return &program;
    }
    case MPI_UNIVERSE_SIZE: {
      static thread_local int size = 0;
      size = universe_size();
      return &size;
    }
    case MPI_LASTUSEDCODE: {
      static thread_local int code = 0;
      code = last_used_code();
      return &code;
    }
    default:
      return nullptr;
  }
}

}  // namespace

int comm_get_attr(MPI_Comm handle, int keyval, void* value, int* flag) {
  RMA_TRY_ASSIGN(comm, find_communicator(handle));
  if (value == nullptr || flag == nullptr) return failure(MPI_ERR_ARG, "attribute_val or flag is null");
  if (int* const predefined = predefined_attribute(keyval); predefined != nullptr) {
    *static_cast<void**>(value) = predefined;
    *flag = 1;
    return MPI_SUCCESS;
  }
  return comm->attributes.get(keyval, value, flag);
}

}  // namespace librma::mpi
