#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/completion/progress_engine.hpp"
#include "core/completion/requests.hpp"
#include "util/status.hpp"
#include "util/wait.hpp"

namespace rma {

/// The operations of this process that are under way, to all ranks and over all paths: their requests, the
/// number of outstanding transfers for each rank, and the fences that wait for them. Thread-safe.
///
/// How a fence knows that it is done. There are two kinds of transfers:
/// - Transfers whose completion is reported (signaled). Each is counted for its rank from begin() to end().
/// - Puts whose completion is not reported (unsignaled). They are not counted. Instead issued() sets a flag
///   for the rank after they were posted. A fence that finds the flag clears it and calls
///   ProgressSource::flush(). The flush posts an empty RDMA write behind those puts on the same queue pair.
///   This write is signaled and counted, and a queue pair completes in order, so when the write is complete,
///   so are the puts.
/// A fence is done when the rank's count is 0 after that. The comment at fence() proves that this holds with
/// several threads.
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

  /// Opens a new operation to `rank`. One part of it is pending, which stands for its issuer (see
  /// RequestTable). Returns RMA_REQUEST_NULL if too many operations are open.
  [[nodiscard]] rma_request_t open(int rank) { return requests_.open(rank); }
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

  /// begin() and end() are for progress sources. begin() says that a transfer to `rank` begins, and every
  /// fence of the rank from now on waits for it. end() says that it is complete. If a transfer fails that is
  /// part of no operation (RMA_REQUEST_NULL), the next fence reports the failure.
  void begin(int rank);
  void add_part(rma_request_t operation) { requests_.add_part(operation); }
  void end(int rank, rma_request_t operation = RMA_REQUEST_NULL, rma_status_t status = RMA_SUCCESS);
  /// Says that an unsignaled transfer was posted, so the next fence has to flush. The progress source of
  /// `rank` calls it after the posting.
  void issued(int rank);
  /// Records that `rank` has shown a sign of life. Progress sources call it.
  void heard_of(int rank) { target_of(rank).ends.fetch_add(1, std::memory_order_relaxed); }
  /// Returns the number of signs of life of `rank`, modulo 2^32.
  [[nodiscard]] std::uint32_t signs_of(int rank) {
    return target_of(rank).ends.load(std::memory_order_relaxed);
  }
  /// Records that a transfer that belongs to no operation has failed. Progress sources call it.
  void failed(int rank, rma_status_t status);

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
  /// Waits for everything that was issued to `rank`. Returns the first failure, since the last fence, of an
  /// operation that was left to the fence.
  [[nodiscard]] Status fence(int rank);
  /// Performs fence() for every rank that something was issued to since the last fence_all(). Costs nothing
  /// if there is none.
  [[nodiscard]] Status fence_all();

 private:
  struct Target {
    ProgressSource* source = nullptr;
    std::atomic<std::uint32_t> under_way = 0;         ///< transfers begun and not ended; kUnreported
    std::atomic<std::uint32_t> ends = 0;              ///< signs of life of the rank, modulo 2^32
    std::atomic<bool> unfenced = false;               ///< unfenced_ lists the rank
    std::atomic<rma_status_t> failure = RMA_SUCCESS;  ///< the first failure of operations left to the fence
  };

  void note_unfenced(int rank);
  /// Lowers the count by one and wakes a thread that sleeps for it.
  void end_one(Target& target);
  void close_left(rma_request_t operation);
  [[nodiscard]] Status failure(rma_status_t code, int rank) const;
  /// Returns the text that explain() was given for an operation, or none.
  [[nodiscard]] std::string take_text(rma_request_t operation);
  [[nodiscard]] Target& target_of(int rank) { return targets_[static_cast<std::size_t>(rank)]; }

  RequestTable requests_;
  std::vector<Target> targets_;
  std::mutex fence_all_lock_;
  std::vector<int> fencing_;   ///< the ranks that fence_all is fencing, under its lock
  std::mutex unfenced_lock_;   ///< taken after fence_all_lock_
  std::vector<int> unfenced_;  ///< ranks whose Target::unfenced was set since the last fence_all
  std::atomic<bool> any_unfenced_ = false;
  std::mutex texts_lock_;
  std::map<rma_request_t, std::string> texts_;  ///< those of explain(), until the operation is waited for
  ProgressEngine engine_;
};

}  // namespace rma
