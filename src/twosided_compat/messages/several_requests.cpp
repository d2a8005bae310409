// The calls that wait for or test several requests.

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/messages/completion.hpp"
#include "twosided_compat/messages/short_calls.hpp"
#include "twosided_compat/objects/library_failure.hpp"
#include "twosided_compat/objects/polled_wait.hpp"
#include "util/try.hpp"

namespace librma::mpi {
namespace {

int check_list(int count, const MPI_Request* handles) {
  if (count < 0) return failure(MPI_ERR_COUNT, "count is negative");
  if (count > 0 && handles == nullptr) return failure(MPI_ERR_REQUEST, "array_of_requests is null");
  for (int i = 0; i < count; ++i) {
    Request* request = nullptr;
    if (handles[i] == MPI_REQUEST_NULL) continue;
    RMA_TRY(find_request(handles[i], request));
  }
  return MPI_SUCCESS;
}

/// Returns the request of a handle that list checks have accepted, or null if that is null.
Request* found_request(MPI_Request handle) {
  return handle == MPI_REQUEST_NULL ? nullptr : find<Request>(handle);
}

/// Returns the request of such a handle, or null if it is null or not active.
Request* active(MPI_Request handle) {
  Request* const request = found_request(handle);
  return request != nullptr && request->active ? request : nullptr;
}

MPI_Status* at(MPI_Status* statuses, int index) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + index;
}

/// Consumes a request, null for a null handle, of a call that returns several statuses. Notes its code in its
/// status, and in `result` that there was a failure.
void consume_one(MPI_Request& handle, Request* request, MPI_Status* status, int& result) {
  if (request == nullptr) {
    describe_nothing(status);
    if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = MPI_SUCCESS;
    return;
  }
  const int code = consume(handle, *request, status);
  if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = code;
  if (code != MPI_SUCCESS) result = MPI_ERR_IN_STATUS;  // consume() has said whose failure it is
}

/// Writes the status of a request that has ended, or of one that is null or not active, without consuming it.
/// Notes the operation's error there. A program that ignores statuses gets the data all the same.
void describe_one(const Request* request, MPI_Status* wanted) {
  MPI_Status unused = {};
  MPI_Status& status = wanted != MPI_STATUS_IGNORE ? *wanted : unused;
  if (request == nullptr) {
    describe_nothing(&status);
    return;
  }
  status.MPI_ERROR = MPI_SUCCESS;
  const int code = describe_ended(*request, &status);
  status.MPI_ERROR = code != MPI_SUCCESS ? code : request->code;
}

/// Polls all active requests, and returns whether all have ended.
bool all_ended(int count, const MPI_Request* handles) {
  bool all = true;
  for (int i = 0; i < count; ++i) {
    Request* const request = active(handles[i]);
    if (request != nullptr && !poll(*request)) all = false;
  }
  return all;
}

/// Returns the index of a request that has ended, or -1. Sets `any` to whether there is an active one.
int find_ended(int count, const MPI_Request* handles, bool& any) {
  any = false;
  for (int i = 0; i < count; ++i) {
    Request* const request = active(handles[i]);
    if (request == nullptr) continue;
    any = true;
    if (poll(*request)) return i;
  }
  return -1;
}

/// Waits until one of the requests has ended. Returns its index, or -1 if none is active.
int wait_for_any(int count, const MPI_Request* handles) {
  std::optional<PolledWait> waiting;
  while (true) {
    bool any = false;
    if (const int index = find_ended(count, handles, any); index >= 0 || !any) return index;
    std::vector<rma_request_t> pending(static_cast<std::size_t>(count), RMA_REQUEST_NULL);
    bool polled = false;  // nobody but find_ended() tells that one of them has ended
    for (int i = 0; i < count; ++i) {
      Request* const request = active(handles[i]);
      if (request == nullptr) continue;
      polled = polled || request->is_polled() || (request->awaits_posted() && !request->open_pending());
      pending[static_cast<std::size_t>(i)] = request->awaited();
    }
    if (polled) {
      if (!waiting) waiting.emplace("for one of several requests");
      waiting->again();
      make_progress();  // librma does not know when such a request ends
      continue;
    }
    std::size_t index = 0;
    const rma_status_t status = rma_wait_any(pending.data(), pending.size(), &index);
    if (index >= pending.size()) continue;
    Request& request = *active(handles[index]);
    request.end(request.awaited(), status);
  }
}

}  // namespace

int waitall(int count, MPI_Request* handles, MPI_Status* statuses) {
  RMA_TRY(check_list(count, handles));
  int result = MPI_SUCCESS;
  for (int i = 0; i < count; ++i) {
    Request* const request = found_request(handles[i]);
    if (request != nullptr && statuses == MPI_STATUSES_IGNORE) {
      if (request == sent_request) {
        handles[i] = MPI_REQUEST_NULL;
        continue;
      }
      if (request->has_come() && Request::consume_come(handles[i], *request, MPI_STATUS_IGNORE)) continue;
    }
    if (request != nullptr && !request->is_over()) {
      RMA_TRY(wait_for(*request));
    }
    if (statuses == MPI_STATUSES_IGNORE && request != nullptr && request->is_plain()) {
      forget(handles[i], *request);
      continue;
    }
    consume_one(handles[i], request, at(statuses, i), result);
  }
  return result;
}

int request_get_status_all(int count, const MPI_Request* handles, int* flag, MPI_Status* statuses) {
  if (flag == nullptr) return failure(MPI_ERR_ARG, "flag is null");
  RMA_TRY(check_list(count, handles));
  *flag = all_ended(count, handles) ? 1 : 0;
  if (*flag == 0) return MPI_SUCCESS;
  for (int i = 0; i < count; ++i) describe_one(active(handles[i]), at(statuses, i));
  return MPI_SUCCESS;
}

int testall(int count, MPI_Request* handles, int* flag, MPI_Status* statuses) {
  if (flag == nullptr) return failure(MPI_ERR_ARG, "flag is null");
  RMA_TRY(check_list(count, handles));
  *flag = all_ended(count, handles) ? 1 : 0;
  int result = MPI_SUCCESS;
  if (*flag == 0) return result;
  for (int i = 0; i < count; ++i) consume_one(handles[i], found_request(handles[i]), at(statuses, i), result);
  return result;
}

int waitany(int count, MPI_Request* handles, int* index, MPI_Status* status) {
  if (index == nullptr) return failure(MPI_ERR_ARG, "index is null");
  RMA_TRY(check_list(count, handles));
  *index = wait_for_any(count, handles);
  if (*index < 0) {
    *index = MPI_UNDEFINED;
    describe_nothing(status);
    return MPI_SUCCESS;
  }
  return consume(handles[*index], *active(handles[*index]), status);
}

int testany(int count, MPI_Request* handles, int* index, int* flag, MPI_Status* status) {
  if (index == nullptr || flag == nullptr) return failure(MPI_ERR_ARG, "index or flag is null");
  RMA_TRY(check_list(count, handles));
  bool any = false;
  *index = find_ended(count, handles, any);
  *flag = *index >= 0 || !any ? 1 : 0;
  if (*index >= 0) return consume(handles[*index], *active(handles[*index]), status);
  *index = MPI_UNDEFINED;
  if (*flag != 0) describe_nothing(status);
  return MPI_SUCCESS;
}

int request_get_status_any(int count, const MPI_Request* handles, int* index, int* flag, MPI_Status* status) {
  if (index == nullptr || flag == nullptr) return failure(MPI_ERR_ARG, "index or flag is null");
  RMA_TRY(check_list(count, handles));
  bool any = false;
  const int found = find_ended(count, handles, any);
  *index = found >= 0 ? found : MPI_UNDEFINED;
  *flag = found >= 0 || !any ? 1 : 0;
  if (found >= 0) return describe_ended(*active(handles[found]), status);
  if (*flag != 0) describe_nothing(status);
  return MPI_SUCCESS;
}

namespace {

/// Consumes all requests that have ended, from `first` on.
int consume_ended(int count, MPI_Request* handles, int first, int* found, int* indices,
                  MPI_Status* statuses) {
  int result = MPI_SUCCESS;
  *found = 0;
  for (int i = first; i < count; ++i) {
    Request* const request = active(handles[i]);
    if (request == nullptr || !poll(*request)) continue;
    indices[*found] = i;
    consume_one(handles[i], request, at(statuses, *found), result);
    ++*found;
  }
  return result;
}

}  // namespace

int waitsome(int count, MPI_Request* handles, int* found, int* indices, MPI_Status* statuses) {
  if (found == nullptr || (count > 0 && indices == nullptr)) {
    return failure(MPI_ERR_ARG, "outcount or array_of_indices is null");
  }
  RMA_TRY(check_list(count, handles));
  const int first = wait_for_any(count, handles);
  if (first < 0) {
    *found = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  return consume_ended(count, handles, 0, found, indices, statuses);
}

int testsome(int count, MPI_Request* handles, int* found, int* indices, MPI_Status* statuses) {
  if (found == nullptr || (count > 0 && indices == nullptr)) {
    return failure(MPI_ERR_ARG, "outcount or array_of_indices is null");
  }
  RMA_TRY(check_list(count, handles));
  if (std::ranges::none_of(std::span(handles, static_cast<std::size_t>(count)), active)) {
    *found = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  return consume_ended(count, handles, 0, found, indices, statuses);
}

int request_get_status_some(int count, const MPI_Request* handles, int* found, int* indices,
                            MPI_Status* statuses) {
  if (found == nullptr || (count > 0 && indices == nullptr)) {
    return failure(MPI_ERR_ARG, "outcount or array_of_indices is null");
  }
  RMA_TRY(check_list(count, handles));
  bool any = false;
  *found = 0;
  for (int i = 0; i < count; ++i) {
    Request* const request = active(handles[i]);
    any = any || request != nullptr;
    if (request == nullptr || !poll(*request)) continue;
    describe_one(request, at(statuses, *found));
    indices[(*found)++] = i;
  }
  if (!any) *found = MPI_UNDEFINED;
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
