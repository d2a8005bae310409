// Completes requests and executes fences.

#include <algorithm>

#include "api/call.hpp"
#include "api/check.hpp"
#include "api/fence.hpp"
#include "core/one_sided/remote_access.hpp"
#include "messages/messages.hpp"
#include "util/text.hpp"
#include "util/try.hpp"

namespace librma {
namespace {

/// Returns whether there is nothing to wait for: no operation, or one that was complete when it was issued.
bool over(rma_request_t request) { return request == RMA_REQUEST_NULL || request == kCompleteRequest; }

Status check_known(const Runtime& runtime, rma_request_t request) {
  if (over(request) || runtime.remote_access->pending().known(request)) return {};
  return {RMA_ERR_ARGUMENT, text("{:#x} is not a valid request, or was already waited for", request)};
}

/// Waits for a request and makes it null. Checks it again: if a list contains a handle twice, it was already
/// waited for when the second one's turn comes.
Status wait(Runtime& runtime, rma_request_t& request) {
  RMA_TRY(check_known(runtime, request));
  const rma_request_t mine = std::exchange(request, RMA_REQUEST_NULL);
  if (over(mine)) return {};
  runtime.messages->wait_for(mine);
  return runtime.remote_access->pending().wait(mine);
}

Status check_requests(const Runtime& runtime, const rma_request_t* requests, std::size_t count) {
  if (count == 0) return {};
  RMA_TRY(check_not_null(requests, "requests"));
  for (std::size_t i = 0; i < count; ++i) {
    RMA_TRY(check_known(runtime, requests[i]));
  }
  return {};
}

/// Says that a thread waits for one of the requests that are not complete.
void describe_any(Runtime& runtime, const rma_request_t* requests, std::size_t count, WaitNote& note) {
  constexpr int kMostNamed = 3;
  int open = 0;
  bool known = true;
  for (std::size_t i = 0; i < count; ++i) {
    if (over(requests[i]) || runtime.remote_access->pending().complete(requests[i])) continue;
    WaitNote wait_note;
    runtime.messages->describe(requests[i], wait_note);
    if (runtime.places) runtime.places->complete(wait_note);
    known = known && !wait_note.ranks.empty();
    note.ranks.insert(note.ranks.end(), wait_note.ranks.begin(), wait_note.ranks.end());
    if (++open > kMostNamed) continue;
    note.about += text("{}{} {}", open == 1 ? "(" : "; ", wait_note.call, wait_note.about);
  }
  note.about += open > kMostNamed ? "; ...)" : ")";
  note.call = text("one of {} requests", open);
  note.any = true;
  if (!known) note.ranks.clear();  // nobody knows who ends one of them
}

/// Waits for one of the requests and stores its index into `index`, or `count` if all are null.
Status wait_any(Runtime& runtime, rma_request_t* requests, std::size_t count, std::size_t& index) {
  PendingOperations& pending = runtime.remote_access->pending();
  const auto find_complete = [&] {
    index = 0;
    while (index < count && (requests[index] == RMA_REQUEST_NULL ||
                             (!over(requests[index]) && !pending.complete(requests[index])))) {
      ++index;
    }
    return index < count;
  };
  bool found = find_complete();
  if (!found) {
    const auto* const first_open = std::find_if_not(requests, requests + count, over);
    if (first_open == requests + count) return {};
    while (!found) {
      runtime.messages->connect_wanted();
      pending.engine().wait_until(
          pending.rank(*first_open),
          [&] {
            found = find_complete();
            return found || runtime.messages->connection_wanted();
          },
          [&runtime, requests, count](WaitNote& note) { describe_any(runtime, requests, count, note); });
    }
  }
  return wait(runtime, requests[index]);
}

}  // namespace

extern "C" {

rma_status_t rma_wait(rma_request_t* request) {
  return call(__func__, -1, 0, [&](Runtime& runtime) {
    RMA_TRY(check_not_null(request, "request"));
    return wait(runtime, *request);
  });
}

rma_status_t rma_test(rma_request_t* request, int* done) {
  return call(__func__, -1, 0, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_not_null(request, "request"));
    RMA_TRY(check_not_null(done, "done"));
    RMA_TRY(check_known(runtime, *request));
    *done = (over(*request) || runtime.remote_access->pending().test(*request)) ? 1 : 0;
    if (*done != 0) return wait(runtime, *request);
    let_others_run(runtime.job->wait_policy());
    return {};
  });
}

rma_status_t rma_wait_any(rma_request_t* requests, size_t count, size_t* index) {
  return call(__func__, -1, 0, [&](Runtime& runtime) {
    RMA_TRY(check_not_null(index, "index"));
    RMA_TRY(check_requests(runtime, requests, count));
    return wait_any(runtime, requests, count, *index);
  });
}

rma_status_t rma_wait_all(rma_request_t* requests, size_t count) {
  return call(__func__, -1, 0, [&](Runtime& runtime) {
    RMA_TRY(check_requests(runtime, requests, count));
    Status first;
    const ProgressEngine::Attendance attendance(runtime.remote_access->pending().engine());
    for (std::size_t i = 0; i < count; ++i) {
      Status status = wait(runtime, requests[i]);
      if (first.ok()) first = std::move(status);
    }
    return first;
  });
}

rma_status_t rma_fence(int rank) {
  return call(__func__, rank, 0, [&](Runtime& runtime) {
    RMA_TRY(check_rank(runtime, rank));
    return fence(runtime, rank);
  });
}

rma_status_t rma_fence_all(void) {
  return call(__func__, -1, 0, [&](Runtime& runtime) { return fence_all(runtime); });
}

}  // extern "C"

}  // namespace librma
