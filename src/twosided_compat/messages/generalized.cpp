// Generalized requests (MPI 4.1, section 13.2), and progress for calls that poll.

#include <sched.h>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/messages/completion.hpp"
#include "util/try.hpp"

namespace librma::mpi {
namespace {

/// Calls the program's free function, and ends the request.
int end_generalized(Request& request) {
  const std::unique_ptr<Request> owned(&request);
  const int outcome = free_generalized(request);
  return outcome == MPI_SUCCESS ? outcome : failure_of(request.owner(), outcome);
}

}  // namespace

void make_progress() {
  // A probe that finds nothing makes progress of everything.
  int found = 0;
  static_cast<void>(rma_iprobe(RMA_ANY_SOURCE, RMA_ANY_TAG, UINT32_MAX, &found, nullptr));
  sched_yield();
}

int grequest_start(MPI_Grequest_query_function* query, MPI_Grequest_free_function* free,
                   MPI_Grequest_cancel_function* cancel, void* extra, MPI_Request* made) {
  if (query == nullptr || free == nullptr || cancel == nullptr || made == nullptr) {
    return failure(MPI_ERR_ARG, "a function or request is null");
  }
  auto* const self = find<Communicator>(MPI_COMM_SELF);
  if (self == nullptr) return failure(MPI_ERR_OTHER, "another thread has finalized MPI");
  auto request = std::make_unique<Request>(Request::Type::kGeneralized, *self);
  auto& generalized = request->become<Request::Generalized>();
  generalized.query = query;
  generalized.free = free;
  generalized.cancel = cancel;
  generalized.extra = extra;
  *made = request.release()->handle<MPI_Request>();
  return MPI_SUCCESS;
}

int grequest_complete(MPI_Request handle) {
  Request* request = nullptr;
  RMA_TRY(find_request(handle, request));
  if (request->generalized() == nullptr)
    return failure(MPI_ERR_REQUEST, "the request is not a generalized one");
  Request::Generalized& generalized = *request->generalized();
  // Pairs with release_generalized(): the second of both sees what the first one has done.
  const bool is_freed = generalized.ends.fetch_add(1, std::memory_order_acq_rel) != 0;
  if (is_freed) return end_generalized(*request);
  // The last access: from here on, a thread that waits may end the request.
  generalized.complete.store(true, std::memory_order_release);
  return MPI_SUCCESS;
}

int release_generalized(Request& request) {
  Request::Generalized& generalized = *request.generalized();
  // Pairs with grequest_complete(), whose thread still has the request until `complete` is true.
  if (generalized.ends.fetch_add(1, std::memory_order_acq_rel) == 0) return MPI_SUCCESS;
  while (!generalized.complete.load(std::memory_order_acquire)) sched_yield();
  return end_generalized(request);
}

int query_generalized(const Request& request, MPI_Status* status) {
  MPI_Status own = {};
  describe_nothing(&own);
  const int code = request.generalized()->query(request.generalized()->extra, &own);
  if (status != MPI_STATUS_IGNORE) {
    const int error = status->MPI_ERROR;
    *status = own;
    status->MPI_ERROR = error;
  }
  return code;
}

int free_generalized(const Request& request) {
  return request.generalized()->free(request.generalized()->extra);
}

int cancel_generalized(const Request& request) {
  const int complete = request.generalized()->complete.load(std::memory_order_acquire) ? 1 : 0;
  return request.generalized()->cancel(request.generalized()->extra, complete);
}

}  // namespace librma::mpi
