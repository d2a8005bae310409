// Requests: how they end, and the calls that wait for and test one of them.

#include "twosided_compat/messages/requests.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/messages/completion.hpp"
#include "twosided_compat/messages/partitioned.hpp"
#include "twosided_compat/messages/status.hpp"
#include "twosided_compat/messages/transfer.hpp"
#include "twosided_compat/objects/library_failure.hpp"
#include "twosided_compat/objects/polled_wait.hpp"
#include "util/statistics.hpp"
#include "util/try.hpp"

namespace librma::mpi {
namespace {

/// Requests that the program has freed and that have not ended.
struct Freed {
  std::mutex lock;
  std::vector<std::unique_ptr<Request>> requests;
  /// At so many requests the ended ones are destroyed. At least half of them are new then, so that to look at
  /// all of them costs a constant time for each.
  std::size_t look_at = kFewest;
  static constexpr std::size_t kFewest = 64;
};
Freed& freed() {
  static Freed* const kFreed = new Freed;  // never destroyed: MPI_Finalize may be called by a destructor
  return *kFreed;
}

}  // namespace

void open_requests(Communicator& self) {
  spare_requests.set_owner(this_thread());
  sent_request = new Request(Request::Type::kSend, self);
  sent_request->ended = true;
  sent_handle = sent_request->handle<MPI_Request>();
}

void close_requests() { delete std::exchange(sent_request, nullptr); }

Request::Request(ErrorHandlerOwner& owner, Type type) : Request(type, *find<Communicator>(MPI_COMM_SELF)) {
  extra().owner = &owner;
  owner.add_reference();
}

Request::Extra::Extra() = default;

Request::Extra::~Extra() {
  if (staged != nullptr && !start) staged->store();
  if (owner != nullptr) owner->remove_reference();
  if (kept_type != nullptr) kept_type->remove_reference();
}

void Request::keep_datatype(MPI_Datatype type) {
  if (mpi::is_predefined(type)) return;
  auto* const kept = find<Datatype>(type);
  if (kept == nullptr) return;
  extra().kept_type = kept;
  kept->add_reference();
}

void Request::end(rma_request_t& part, rma_status_t status) {
  part = RMA_REQUEST_NULL;
  const bool canceled = status == RMA_ERR_CANCELED;
  const int result = canceled ? MPI_SUCCESS : checked(status);
  if (code == MPI_SUCCESS) code = result;
  if (&part == &pending) {
    cancelled = canceled;
    if (extra_ != nullptr) [[unlikely]]
      store_results(status);
  }
  ended = !is_posted() && awaited() == RMA_REQUEST_NULL;
}

bool Request::open_pending() {
  rma_request_t opened = RMA_REQUEST_NULL;
  static_cast<void>(checked(rma_posted_request(&receive, &opened)));
  if (opened == RMA_REQUEST_NULL) return false;
  posted = Posted::no;
  pending = opened;
  return true;
}

void Request::store_results(rma_status_t status) {
  if (const auto* const collective = as<std::unique_ptr<CollectiveOperation>>();
      collective != nullptr && status == RMA_SUCCESS) {
    code = (*collective)->store_results();
  }
  const Packed* const packed = exchange() != nullptr ? &exchange()->received : as<Packed>();
  if (packed != nullptr && packed->memory != nullptr && type_ == Type::kReceive &&
      (status == RMA_SUCCESS || status == RMA_ERR_TRUNCATED)) {
    unpack_received(packed->buffer, receive.info, packed->memory);
  }
}

void Request::give_up_posted() {
  rma_posted_cancel(&receive);
  static_cast<void>(rma_posted_wait(&receive));
}

void Request::cancel_message() {
  if (is_posted()) {
    rma_posted_cancel(&receive);
  } else {
    static_cast<void>(rma_cancel(pending));
  }
}

bool Request::poll_itself() {
  if (const Generalized* const this_generalized = generalized(); this_generalized != nullptr)
    return this_generalized->complete.load(std::memory_order_acquire);
  return partitioned() != nullptr ? partitioned()->has_ended(*this) : (*as<HasEnded>())();
}

void Request::describe(MPI_Status* status) const {
  if (status == MPI_STATUS_IGNORE) return;
  if (proc_null) {
    describe_proc_null(status);
  } else if (type_ == Type::kReceive && !cancelled) {
    describe_message(status, comm_, receive.info);
  } else if (type_ == Type::kFile) {
    write_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, static_cast<MPI_Count>(receive.info.bytes));
  } else {
    write_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    set_cancelled(*status, cancelled);
  }
}

void describe_proc_null(MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  write_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
}

void describe_message(MPI_Status* status, const Communicator& comm, const rma_message_info_t& info) {
  write_status(status, comm.rank_of(info.source), info.tag, static_cast<MPI_Count>(info.bytes));
}

bool poll(Request& request) {
  if (request.is_over()) return true;
  if (request.is_polled()) {
    request.ended = request.poll_itself();
    return request.ended;
  }
  while (!request.ended) {
    if (request.awaits_posted()) {
      if (rma_posted_ended(&request.receive) == 0 && rma_posted_test(&request.receive) == 0) return false;
      request.end_posted();
      continue;
    }
    rma_request_t& part = request.awaited();
    int done = part == RMA_REQUEST_COMPLETE ? 1 : 0;
    const rma_status_t status = done != 0 ? RMA_SUCCESS : rma_test(&part, &done);
    if (done == 0) return false;
    request.end(part, status);
  }
  return true;
}

int wait_for(Request& request) {
  if (request.is_over()) return MPI_SUCCESS;
  if (request.is_polled()) {
    // Nobody wakes this thread when the operation has ended, so it makes progress and yields.
    PolledWait waiting("for a request that the program or a peer's notification ends");
    while (!poll(request)) {
      waiting.again();
      make_progress();
    }
    return MPI_SUCCESS;
  }
  while (!request.ended) {
    if (request.awaits_posted()) {
      if (rma_posted_ended(&request.receive) == 0) static_cast<void>(rma_posted_wait(&request.receive));
      request.end_posted();
      continue;
    }
    rma_request_t& part = request.awaited();
    request.end(part, part == RMA_REQUEST_COMPLETE ? RMA_SUCCESS : rma_wait(&part));
  }
  return MPI_SUCCESS;
}

int describe_ended(const Request& request, MPI_Status* status) {
  if (request.generalized() != nullptr) return query_generalized(request, status);
  if (request.staged() != nullptr) request.staged()->store();
  request.describe(status);
  return MPI_SUCCESS;
}

int consume(MPI_Request& handle, Request& request, MPI_Status* status) {
  if (!request.active) {
    describe_nothing(status);
    return MPI_SUCCESS;
  }
  int code = request.code;
  if (request.generalized() != nullptr) {
    code = query_generalized(request, status);
  } else {
    request.describe(status);
  }
  if (code != MPI_SUCCESS) code = failure_of(request.owner(), code);
  if (request.is_persistent()) {
    request.active = false;
    request.ended = false;
    if (request.staged() != nullptr) request.staged()->store();
  } else {
    if (request.generalized() != nullptr) {
      const int outcome = free_generalized(request);
      if (code == MPI_SUCCESS && outcome != MPI_SUCCESS) code = failure_of(request.owner(), outcome);
    }
    forget(handle, request);
  }
  return code;
}

int wait(MPI_Request* handle, MPI_Status* status) {
  if (handle == nullptr) return failure(MPI_ERR_ARG, "request is null");
  if (*handle == MPI_REQUEST_NULL) {
    describe_nothing(status);
    return MPI_SUCCESS;
  }
  Request* request = nullptr;
  RMA_TRY(find_request(*handle, request));
  if (!request->is_over()) {
    RMA_TRY(wait_for(*request));
  }
  if (status == MPI_STATUS_IGNORE && request->is_plain()) {
    forget(*handle, *request);
    return MPI_SUCCESS;
  }
  return consume(*handle, *request, status);
}

int test(MPI_Request* handle, int* flag, MPI_Status* status) {
  if (handle == nullptr || flag == nullptr) return failure(MPI_ERR_ARG, "request or flag is null");
  *flag = 1;
  if (*handle == MPI_REQUEST_NULL) {
    describe_nothing(status);
    return MPI_SUCCESS;
  }
  Request* request = nullptr;
  RMA_TRY(find_request(*handle, request));
  if (!request->is_over() && !poll(*request)) {
    *flag = 0;
    return MPI_SUCCESS;
  }
  if (status == MPI_STATUS_IGNORE && request->is_plain()) {
    forget(*handle, *request);
    return MPI_SUCCESS;
  }
  return consume(*handle, *request, status);
}

int request_get_status(MPI_Request handle, int* flag, MPI_Status* status) {
  if (flag == nullptr) return failure(MPI_ERR_ARG, "flag is null");
  *flag = 1;
  if (handle == MPI_REQUEST_NULL) {
    describe_nothing(status);
    return MPI_SUCCESS;
  }
  Request* request = nullptr;
  RMA_TRY(find_request(handle, request));
  *flag = poll(*request) ? 1 : 0;
  if (*flag == 0) return MPI_SUCCESS;
  if (request->active) return describe_ended(*request, status);
  describe_nothing(status);
  return MPI_SUCCESS;
}

int request_free(MPI_Request* handle) {
  if (handle == nullptr) return failure(MPI_ERR_ARG, "request is null");
  Request* request = nullptr;
  RMA_TRY(find_request(*handle, request));
  *handle = MPI_REQUEST_NULL;
  if (request == sent_request) return MPI_SUCCESS;
  if (request->generalized() != nullptr) return release_generalized(*request);
  std::unique_ptr<Request> owned(request);
  Freed& list = freed();
  const std::lock_guard guard(list.lock);
  if (list.requests.size() >= list.look_at) {
    std::erase_if(list.requests, [](const auto& each) { return poll(*each); });
    list.look_at = std::max(Freed::kFewest, 2 * list.requests.size());
  }
  if (!poll(*request)) list.requests.push_back(std::move(owned));
  return MPI_SUCCESS;
}

void wait_for_freed_requests() {
  Freed& list = freed();
  const std::lock_guard guard(list.lock);
  for (const auto& request : list.requests) static_cast<void>(wait_for(*request));
  list.requests.clear();
}

int cancel(MPI_Request* handle) {
  if (handle == nullptr) return failure(MPI_ERR_ARG, "request is null");
  Request* request = nullptr;
  RMA_TRY(find_request(*handle, request));
  if (request->generalized() != nullptr) return cancel_generalized(*request);
  if (request->ended || !request->active) return MPI_SUCCESS;
  if (Partitioned* const partitioned = request->partitioned(); partitioned != nullptr)
    return partitioned->cancel();
  // Not an exchange: one of its halves may have to end as it would, and there is one status for both.
  const bool is_message =
      request->type() == Request::Type::kSend || request->type() == Request::Type::kReceive;
  if (!is_message || request->exchange() != nullptr) return MPI_SUCCESS;
  request->cancel_message();
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
