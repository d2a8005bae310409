#pragma once

#include "mpi.h"
#include "twosided_compat/messages/requests.hpp"

// The steps of the calls that wait for requests and test them.

namespace librma::mpi {

/// Finds the request of a handle. MPI_ERR_REQUEST if the handle is null or was freed.
[[nodiscard]] inline int find_request(MPI_Request handle, Request*& request) {
  request = find<Request>(handle);
  if (request == nullptr) [[unlikely]]
    return failure(MPI_ERR_REQUEST, "the request is null or was freed");
  return MPI_SUCCESS;
}

/// Makes progress, and returns whether the operation has ended or is not active.
[[nodiscard]] bool poll(Request& request);
/// Waits until the operation has ended or is not active.
[[nodiscard]] int wait_for(Request& request);
/// Ends the use of a request for which poll() has returned true: writes the status, frees it or makes it
/// inactive, and returns the operation's own error code.
[[nodiscard]] int consume(MPI_Request& handle, Request& request, MPI_Status* status);

/// Writes the status of an active request that has ended. Returns the error of a generalized request's query.
[[nodiscard]] int describe_ended(const Request& request, MPI_Status* status);

/// Makes progress of messages once, and lets other threads run.
void make_progress();

[[nodiscard]] int query_generalized(const Request& request, MPI_Status* status);
/// Returns the error of the request's own function, as the call that frees the request does (MPI 4.1, section
/// 13.2).
[[nodiscard]] int free_generalized(const Request& request);
/// Frees a generalized request for MPI_Request_free: now, or when it is complete.
[[nodiscard]] int release_generalized(Request& request);
[[nodiscard]] int cancel_generalized(const Request& request);

}  // namespace librma::mpi
