#pragma once

#include <poll.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/completion/requests.hpp"
#include "util/status.hpp"
#include "util/wait.hpp"

namespace rma {

/// An object that carries operations to other ranks, as seen by the threads that wait for these operations.
/// Thread-safe.
class ProgressSource {
 public:
  ProgressSource() = default;
  ProgressSource(const ProgressSource&) = delete;
  ProgressSource& operator=(const ProgressSource&) = delete;
  virtual ~ProgressSource() = default;

  /// Polls for completions and reports them to PendingOperations. Returns whether it found any. One thread at
  /// a time calls it.
  virtual bool progress() = 0;
  /// Makes the completion of everything that was issued to `rank` visible to PendingOperations: before it
  /// returns, it begins something (PendingOperations::begin) that ends only when all of that is complete.
  virtual void flush(int rank) = 0;
  /// Gives `rank` up: everything that was issued to it ends with RMA_ERR_PEER_LOST.
  virtual void give_up(int rank) = 0;
  /// Prepares a sleep. The caller calls progress() once more after this; then event_fds() become readable
  /// when there is a completion.
  virtual void arm() = 0;
  [[nodiscard]] virtual std::span<const int> event_fds() const = 0;
  /// Returns a text for users about an operation to `rank` that ended with `code`.
  [[nodiscard]] virtual std::string explain(rma_status_t code, int rank) const = 0;
};

/// The operations of this process that are under way, to all ranks and over all paths: their requests, the
/// number of outstanding transfers for each rank, and how threads wait for them. Thread-safe.
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

  ~PendingOperations();

  /// Says which progress source carries operations to `rank`. Called before the first of them.
  void set_progress_source(int rank, ProgressSource& source) {
    targets_[static_cast<std::size_t>(rank)].source = &source;
  }
  /// Adds a progress source that waiting threads ask for progress.
  void add(ProgressSource& source);
  /// Says where a waiting thread sleeps if no progress source has event descriptors: other processes of the
  /// host wake it there. With event descriptors, the thread counts itself in Doorbell::listeners. Called before
  /// the first wait.
  void sleep_at(Doorbell& doorbell) { doorbell_ = &doorbell; }

  /// Opens a new operation to `rank`. One part of it is pending, which stands for its issuer (see
  /// RequestTable). Returns RMA_REQUEST_NULL if too many operations are open.
  [[nodiscard]] rma_request_t open(int rank) { return requests_.open(rank); }
  /// The rank of an operation that no silence of a rank ends, such as a receive: its source may compute for an
  /// hour before it sends.
  static constexpr int kNoRank = -1;
  /// Ends an operation that has no part but its issuer's, with `status`. `rank` is the rank that a failure is
  /// about.
  void settle(rma_request_t operation, rma_status_t status, int rank);
  /// A number that the opener keeps with an operation; 0 at first.
  void set_note(rma_request_t operation, std::uint64_t note) { requests_.set_note(operation, note); }
  [[nodiscard]] std::uint64_t note(rma_request_t operation) const { return requests_.note(operation); }
  /// Returns the failure of a call for which open() returned RMA_REQUEST_NULL.
  [[nodiscard]] static Status too_many();
  [[nodiscard]] int rank(rma_request_t operation) const { return requests_.rank(operation); }

  /// begin() and end() are for progress sources. begin() says that a transfer to `rank` begins, and every
  /// fence of the rank from now on waits for it. end() says that it is complete. If a transfer fails that is
  /// part of no operation (RMA_REQUEST_NULL), the next fence reports the failure.
  void begin(int rank);
  void add_part(rma_request_t operation) { requests_.add_part(operation); }
  void end(int rank) { end(rank, RMA_REQUEST_NULL, RMA_SUCCESS); }
  void end(int rank, rma_request_t operation, rma_status_t status);
  /// Says that an unsignaled transfer was posted, so the next fence has to flush. The progress source of
  /// `rank` calls it after the posting.
  void issued(int rank);
  /// Records that `rank` has shown a sign of life. Progress sources call it.
  void heard_of(int rank) { target_of(rank).ends.fetch_add(1, std::memory_order_relaxed); }
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

  /// Waits until `condition()` returns true; progress of operations to `rank` makes it true. The thread
  /// polls, then yields, then sleeps until a progress source has a completion. A condition that has returned
  /// true is not called again, so it may take the thing that it waits for. If nothing is heard of the rank
  /// for `patience`, the rank is given up. A progress source must then end everything that was issued to the
  /// rank, so that the condition comes true. With kNoRank, nobody is given up.
  template <typename Condition>
  void wait_until(int rank, const Condition& condition);
  /// Polls for completions once.
  void progress();
  /// Wakes the threads that sleep in wait_until(). The caller has made a condition true that one of them may
  /// wait for. The call is not needed after end(), nor for completions that progress() finds.
  void wake();

 private:
  /// The flag in Target::under_way that says that issued() was called since the last flush. It shares one
  /// word with the count. So a fence clears the flag and counts its flush in one step, and no other fence can
  /// find the flag clear and the count 0 in between. The proof stands at fence().
  static constexpr std::uint32_t kUnreported = 1U << 31U;
  [[nodiscard]] static std::uint32_t outstanding(std::uint32_t under_way) { return under_way & ~kUnreported; }

  struct Target {
    ProgressSource* source = nullptr;
    std::atomic<std::uint32_t> under_way = 0;         ///< transfers begun and not ended; kUnreported
    std::atomic<std::uint32_t> ends = 0;              ///< signs of life of the rank, modulo 2^32
    std::atomic<bool> unfenced = false;               ///< unfenced_ lists the rank
    std::atomic<rma_status_t> failure = RMA_SUCCESS;  ///< the first failure of operations left to the fence
  };
  /// How long a waiting thread has not heard of the rank that it waits for.
  struct Watch {
    int rank;
    std::uint32_t ends;
    std::chrono::steady_clock::time_point since;
  };

  void note_unfenced(int rank);
  /// Lowers the count by one and wakes a thread that sleeps for it.
  void end_one(Target& target);
  void wake_sleeper();
  bool progress_locked();
  void close_left(rma_request_t operation);
  [[nodiscard]] Status failure(rma_status_t code, int rank) const;
  [[nodiscard]] Watch start_watch(int rank);
  /// Says to other processes that this thread is about to sleep, so that they wake it. Returns
  /// Doorbell::wakeups.
  [[nodiscard]] std::uint32_t announce_sleep();
  void end_sleep();
  void sleep_for_events(std::uint32_t seen);
  void look_after(Watch& watch);
  [[nodiscard]] Target& target_of(int rank) { return targets_[static_cast<std::size_t>(rank)]; }

  const WaitPolicy policy_;
  const std::chrono::milliseconds patience_;
  RequestTable requests_;
  std::vector<Target> targets_;
  std::vector<ProgressSource*> sources_;
  std::vector<pollfd> events_;  ///< empty if no progress source has any; the first is for wake_sleeper()
  std::mutex fence_all_lock_;
  std::vector<int> fencing_;   ///< the ranks that fence_all is fencing, under its lock
  std::mutex unfenced_lock_;   ///< taken after fence_all_lock_
  std::vector<int> unfenced_;  ///< ranks whose Target::unfenced was set since the last fence_all
  std::atomic<bool> any_unfenced_ = false;
  /// A thread sleeps for events or is about to (Dekker's algorithm): the sleeper sets this before it tests
  /// its condition for the last time. A thread that makes a condition true reads it afterwards.
  std::atomic<bool> asleep_ = false;
  std::mutex poll_lock_;  ///< held by the one thread that polls for completions or sleeps for their events
  Doorbell news_;         ///< the other threads sleep here until that thread finds completions
  Doorbell* doorbell_ = nullptr;
};

template <typename Condition>
void PendingOperations::wait_until(int rank, const Condition& condition) {
  for (std::uint64_t i = 0; i < policy_.spins; ++i) {
    if (condition()) return;
    progress();
  }
  for (std::uint64_t i = 0; i < policy_.yields; ++i) {
    if (condition()) return;
    progress();
    sched_yield();
  }
  Watch watch = start_watch(rank);
  Doorbell::Sleeper sleeper(news_, Waker::sometimes);
  while (!condition()) {
    bool holds = false;
    if (std::unique_lock guard(poll_lock_, std::try_to_lock); guard.owns_lock()) {
      const std::uint32_t seen = announce_sleep();  // before it looks for the last time
      for (ProgressSource* const source : sources_) source->arm();
      if (!progress_locked()) {
        asleep_.store(true, std::memory_order_seq_cst);
        std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with wake() and end_one()
        // Tests the condition again while it holds the lock. The thread that held the lock before may have
        // taken in the completion already, and nobody wakes it a second time.
        holds = condition();
        if (!holds) sleep_for_events(seen);
        asleep_.store(false, std::memory_order_relaxed);
      }
      end_sleep();
      guard.unlock();
      news_.wake();  // one of the threads that sleep there takes over the polling
    } else {
      news_.sleepers.fetch_add(1, std::memory_order_seq_cst);  // pairs with the fence in wake()
      const std::uint32_t seen = news_.wakeups.load(std::memory_order_acquire);
      std::atomic_thread_fence(std::memory_order_seq_cst);
      holds = condition();
      if (!holds) sleeper.sleep(seen);
      news_.sleepers.fetch_sub(1, std::memory_order_relaxed);
    }
    if (holds) return;
    look_after(watch);
  }
}

}  // namespace rma
