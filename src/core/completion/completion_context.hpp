#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/completion/progress_engine.hpp"
#include "rma/rma.h"

namespace librma {

/// Counts the transfers that were issued within one completion context, for each rank, and executes the
/// fences that wait for them. Thread-safe.
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
class CompletionContext {
 public:
  /// The failure of a transfer that belongs to no operation whose issuer waits for it.
  struct Failure {
    rma_status_t code = RMA_SUCCESS;
    int rank = -1;
  };

  CompletionContext(int ranks, ProgressEngine& engine);
  CompletionContext(const CompletionContext&) = delete;
  CompletionContext& operator=(const CompletionContext&) = delete;

  /// Says that a transfer to `rank` begins. Every fence of the rank from now on waits for it.
  void begin(int rank);
  /// Says that a transfer has ended, and wakes a thread that sleeps for it.
  void end(int rank);
  /// Says that an unsignaled transfer was posted, so the next fence has to flush. Called after the posting.
  void issued(int rank);
  /// Records a failure, which the next fence of the rank reports. Keeps the first one.
  void failed(int rank, rma_status_t status);

  /// Waits until the counted transfers to `rank`, and the unsignaled ones, are complete.
  [[nodiscard]] Failure fence(int rank);
  /// Performs fence() for every rank that something was issued to since the last fence_all(). Costs nothing
  /// if there is none. Returns the first failure.
  [[nodiscard]] Failure fence_all();

 private:
  struct Target {
    std::atomic<std::uint32_t> under_way = 0;         ///< transfers begun and not ended; kUnreported
    std::atomic<bool> unfenced = false;               ///< unfenced_ lists the rank
    std::atomic<rma_status_t> failure = RMA_SUCCESS;  ///< the first failure since the last fence
  };

  void note_unfenced(int rank);
  void end_one(Target& target);
  [[nodiscard]] Target& target_of(int rank) { return targets_[static_cast<std::size_t>(rank)]; }

  ProgressEngine& engine_;
  std::vector<Target> targets_;
  std::mutex fence_all_lock_;
  std::vector<int> fencing_;   ///< the ranks that fence_all is fencing, under its lock
  std::mutex unfenced_lock_;   ///< taken after fence_all_lock_
  std::vector<int> unfenced_;  ///< ranks whose Target::unfenced was set since the last fence_all
  std::atomic<bool> any_unfenced_ = false;
};

}  // namespace librma
