// The calls on statuses.

#include "twosided_compat/messages/status.hpp"

#include <fmt/format.h>

#include "twosided_compat/binding/checked_arithmetic.hpp"
#include "twosided_compat/calls.hpp"
#include "twosided_compat/datatypes/datatypes.hpp"
#include "twosided_compat/objects/errors.hpp"

namespace librma::mpi {
namespace {

int no_status() { return failure(MPI_ERR_ARG, "the status or the place of the result is null"); }
int no_type_of_status() { return failure(MPI_ERR_TYPE, "the handle is null, was freed, or is no datatype"); }

}  // namespace

int get_count(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
  if (is_missing(status) || count == nullptr) return no_status();
  const Datatype* const type = find<Datatype>(datatype);
  if (type == nullptr) return no_type_of_status();
  const MPI_Count bytes = bytes_of(*status);
  const MPI_Count size = type->size();
  if (size == 0) {
    *count = bytes == 0 ? 0 : MPI_UNDEFINED;
  } else {
    *count = bytes % size == 0 ? bytes / size : MPI_UNDEFINED;
  }
  return MPI_SUCCESS;
}

int get_elements(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
  if (is_missing(status) || count == nullptr) return no_status();
  const Datatype* const type = find<Datatype>(datatype);
  if (type == nullptr) return no_type_of_status();
  const MPI_Count bytes = bytes_of(*status);
  const MPI_Count size = type->size();
  if (size == 0) {
    *count = bytes == 0 ? 0 : MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  const std::optional<MPI_Count> rest = type->layout().elements().elements_in(bytes % size);
  *count = rest ? bytes / size * type->elements() + *rest : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int status_set_elements(MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
  if (is_missing(status)) return no_status();
  const Datatype* const type = find<Datatype>(datatype);
  if (type == nullptr) return no_type_of_status();
  const MPI_Count elements = type->elements();
  if (count < 0 || (count > 0 && elements == 0))
    return failure(MPI_ERR_COUNT, fmt::format("the count is {}", count));
  MPI_Count bytes = 0;
  if (count > 0 && elements > 0) {
    bool overflows = false;
    bytes = plus(times(count / elements, type->size(), overflows),
                 type->layout().elements().bytes_of(count % elements), overflows);
    if (overflows) return failure(MPI_ERR_COUNT, fmt::format("the count is {}", count));
  }
  set_bytes(*status, bytes);
  return MPI_SUCCESS;
}

int status_set_cancelled(MPI_Status* status, int flag) {
  if (is_missing(status)) return no_status();
  set_cancelled(*status, flag != 0);
  return MPI_SUCCESS;
}

int test_cancelled(const MPI_Status* status, int* flag) {
  if (is_missing(status) || flag == nullptr) return no_status();
  *flag = is_cancelled(*status) ? 1 : 0;
  return MPI_SUCCESS;
}

int status_set_source(MPI_Status* status, int source) {
  if (is_missing(status)) return no_status();
  status->MPI_SOURCE = source;
  return MPI_SUCCESS;
}
int status_get_source(const MPI_Status* status, int* source) {
  if (is_missing(status) || source == nullptr) return no_status();
  *source = status->MPI_SOURCE;
  return MPI_SUCCESS;
}
int status_set_tag(MPI_Status* status, int tag) {
  if (is_missing(status)) return no_status();
  status->MPI_TAG = tag;
  return MPI_SUCCESS;
}
int status_get_tag(const MPI_Status* status, int* tag) {
  if (is_missing(status) || tag == nullptr) return no_status();
  *tag = status->MPI_TAG;
  return MPI_SUCCESS;
}
int status_set_error(MPI_Status* status, int err) {
  if (is_missing(status)) return no_status();
  status->MPI_ERROR = err;
  return MPI_SUCCESS;
}
int status_get_error(const MPI_Status* status, int* err) {
  if (is_missing(status) || err == nullptr) return no_status();
  *err = status->MPI_ERROR;
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
