#include "core/completion/pending_operations.hpp"

#include "util/text.hpp"

namespace librma {

Status PendingOperations::too_many() {
  return {RMA_ERR_NO_MEMORY, "too many nonblocking operations are open: wait for some of them"};
}

PendingOperations::PendingOperations(int ranks, const WaitPolicy& policy, std::chrono::milliseconds patience)
    : engine_(policy, patience, [this](int rank) { return signs_of(rank); }),
      targets_(static_cast<std::size_t>(ranks)),
      contexts_(ranks, engine_) {}

void PendingOperations::begin(int rank, rma_request_t operation) {
  requests_.context(operation).begin(rank);
  requests_.add_part(operation);
}

void PendingOperations::end(int rank, rma_request_t operation, rma_status_t status) {
  // Another operation may have the slot after finish_part().
  CompletionContext& context = requests_.context(operation);
  if (requests_.finish_part(operation, status) == RequestTable::End::left) close_left(operation);
  heard_of(rank);
  context.end(rank);
}

void PendingOperations::end(int rank, CompletionContext& context, rma_status_t status) {
  context.failed(rank, status);
  heard_of(rank);
  context.end(rank);
}

void PendingOperations::unsignaled_failed(int rank, rma_status_t status) {
  contexts_.for_each([&](CompletionContext& context) { context.failed(rank, status); });
}

void PendingOperations::settle(rma_request_t operation, rma_status_t status, int rank) {
  if (status != RMA_SUCCESS) requests_.set_rank(operation, rank);
  static_cast<void>(requests_.finish_part(operation, status));
  engine_.wake();
}

void PendingOperations::close_left(rma_request_t operation) {
  const int rank = requests_.rank(operation);
  CompletionContext& context = requests_.context(operation);
  const rma_status_t status = requests_.close(operation);
  if (status == RMA_SUCCESS) return;
  static_cast<void>(take_text(operation));
  context.failed(rank, status);
}

void PendingOperations::leave(rma_request_t operation) {
  requests_.leave(operation);
  if (requests_.finish_part(operation, RMA_SUCCESS) == RequestTable::End::left) close_left(operation);
}

bool PendingOperations::test(rma_request_t request) {
  if (requests_.complete(request)) return true;
  engine_.progress();
  return requests_.complete(request);
}

Status PendingOperations::wait(rma_request_t request) {
  engine_.wait_until(requests_.rank(request), [&] { return requests_.complete(request); });
  const int rank = requests_.rank(request);  // settle() may have changed it
  const rma_status_t code = requests_.close(request);
  if (code == RMA_SUCCESS) return {};
  std::string text = take_text(request);
  return text.empty() ? failure(code, rank) : Status(code, std::move(text));
}

void PendingOperations::explain(rma_request_t operation, std::string text) {
  const std::lock_guard guard(texts_lock_);
  texts_[operation] = std::move(text);
}

std::string PendingOperations::take_text(rma_request_t operation) {
  const std::lock_guard guard(texts_lock_);
  auto taken = texts_.extract(operation);
  return taken.empty() ? std::string() : std::move(taken.mapped());
}

Status PendingOperations::finish(rma_request_t operation) {
  detach(operation);
  return wait(operation);
}

Status PendingOperations::fence_all_contexts() {
  CompletionContext::Failure first;
  contexts_.for_each([&](CompletionContext& context) {
    const CompletionContext::Failure failed = context.fence_all();
    if (first.code == RMA_SUCCESS) first = failed;
  });
  return failure(first);
}

Status PendingOperations::failure(rma_status_t code, int rank) const {
  if (code == RMA_SUCCESS) return {};
  if (code == RMA_ERR_TRUNCATED) return {code, text("rank {} has sent more than the buffer holds", rank)};
  if (code == RMA_ERR_CANCELED) return {code, text("the send or receive was cancelled")};
  if (rank == ProgressEngine::kNoRank) return {code, text("a message failed")};
  return {code, targets_[static_cast<std::size_t>(rank)].source->explain(code, rank)};
}

}  // namespace librma
