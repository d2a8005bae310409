#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/completion/completion_contexts.hpp"
#include "core/completion/progress_engine.hpp"
#include "core/completion/requests.hpp"
#include "util/status.hpp"
#include "util/waiting/wait.hpp"

namespace librma {

/// The operations of this process that are under way, to all ranks and over all paths: their requests, and
/// the contexts in which their transfers are counted (CompletionContext). Thread-safe.
class PendingOperations {
 public:
  /// @param patience  a rank is given up if a thread waits for it and nothing was heard of it for this long.
  PendingOperations(int ranks, const WaitPolicy& policy, std::chrono::milliseconds patience);

  /// Returns the engine, with which threads make progress and wait.
  [[nodiscard]] ProgressEngine& engine() { return engine_; }

  /// Says which progress source carries operations to `rank`. Called before the first of them.
  void set_progress_source(int rank, ProgressSource& source) {
    targets_[static_cast<std::size_t>(rank)].source = &source;
  }

  /// Returns the completion contexts of the process.
  [[nodiscard]] CompletionContexts& contexts() { return contexts_; }

  /// Opens a new operation to `rank` in the calling thread's current context. One part of it is pending,
  /// which stands for its issuer (see RequestTable). Returns RMA_REQUEST_NULL if too many operations are
  /// open.
  [[nodiscard]] rma_request_t open(int rank) { return requests_.open(rank, contexts_.current()); }
  /// Ends an operation that has no part but its issuer's, with `status`. `rank` is the rank that a failure is
  /// about.
  void settle(rma_request_t operation, rma_status_t status, int rank);
  /// Gives the text of the failure of an operation, before settle(). Thread-safe.
  void explain(rma_request_t operation, std::string text);
  /// Returns the table of requests, for those who keep a note with theirs.
  [[nodiscard]] RequestTable& requests() { return requests_; }
  /// Returns the failure of a call for which open() returned RMA_REQUEST_NULL.
  [[nodiscard]] static Status too_many();
  [[nodiscard]] int rank(rma_request_t operation) const { return requests_.rank(operation); }

  // The next calls are for progress sources.

  /// Says that a transfer to `rank` begins, which is a part of `operation`. Every fence of the rank in the
  /// operation's context waits for it from now on.
  void begin(int rank, rma_request_t operation);
  /// Says that such a transfer has ended.
  void end(int rank, rma_request_t operation, rma_status_t status);
  /// Do the same for a transfer that is part of no operation. If it fails, the next fence of the rank in
  /// `context` reports the failure.
  void begin(int rank, CompletionContext& context) { context.begin(rank); }
  void end(int rank, CompletionContext& context, rma_status_t status);
  /// Says that an unsignaled transfer was posted by the calling thread, so the next fence in its current
  /// context has to flush.
  void issued(int rank) { contexts_.current().issued(rank); }
  /// Records that an unsignaled transfer to `rank` has failed. Nobody knows in which context it was issued,
  /// so the next fence of the rank in every context reports the failure.
  void unsignaled_failed(int rank, rma_status_t status);
  /// Records that `rank` has shown a sign of life.
  void heard_of(int rank) { target_of(rank).signs.fetch_add(1, std::memory_order_relaxed); }
  /// Returns the number of signs of life of `rank`, modulo 2^32.
  [[nodiscard]] std::uint32_t signs_of(int rank) {
    return target_of(rank).signs.load(std::memory_order_relaxed);
  }

  /// Waits for the operation and closes it. The issuer has posted all parts.
  [[nodiscard]] Status finish(rma_request_t operation);
  /// Ends the issuer's part. The issuer has posted all parts and will wait() for the handle later.
  void detach(rma_request_t operation) { requests_.finish_part(operation, RMA_SUCCESS); }
  /// Leaves the operation to fence(), which waits for it and reports its failure. The issuer has posted all
  /// parts and will not wait for the handle.
  void leave(rma_request_t operation);

  [[nodiscard]] bool known(rma_request_t request) const { return requests_.known(request); }
  [[nodiscard]] bool complete(rma_request_t request) const { return requests_.complete(request); }
  /// Makes progress once. Returns whether the operation is complete.
  [[nodiscard]] bool test(rma_request_t request);
  /// Waits for a detached operation and closes it.
  [[nodiscard]] Status wait(rma_request_t request);
  /// Waits for everything that was issued to `rank` in the calling thread's current context. Returns the
  /// first failure, since the last such fence, of an operation that was left to the fence.
  [[nodiscard]] Status fence(int rank) { return failure(contexts_.current().fence(rank)); }
  /// Performs fence() for every rank that something was issued to since the last fence_all(). Costs nothing
  /// if there is none.
  [[nodiscard]] Status fence_all() { return failure(contexts_.current().fence_all()); }
  /// Performs fence_all() in every context. Returns the first failure.
  [[nodiscard]] Status fence_all_contexts();
  /// Returns the outcome of an operation that has ended with `code`, with its text. `rank` is the rank that a
  /// failure is about.
  [[nodiscard]] Status failure(rma_status_t code, int rank) const;

 private:
  struct Target {
    ProgressSource* source = nullptr;
    std::atomic<std::uint32_t> signs = 0;  ///< signs of life of the rank, modulo 2^32
  };

  void close_left(rma_request_t operation);
  [[nodiscard]] Status failure(CompletionContext::Failure failed) const {
    return failed.code == RMA_SUCCESS ? Status() : failure(failed.code, failed.rank);
  }
  /// Returns the text that explain() was given for an operation, or none.
  [[nodiscard]] std::string take_text(rma_request_t operation);
  [[nodiscard]] Target& target_of(int rank) { return targets_[static_cast<std::size_t>(rank)]; }

  ProgressEngine engine_;
  std::vector<Target> targets_;
  std::mutex texts_lock_;
  std::map<rma_request_t, std::string> texts_;  ///< those of explain(), until the operation is waited for
  CompletionContexts contexts_;
  RequestTable requests_;
};

}  // namespace librma
