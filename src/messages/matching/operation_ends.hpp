#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/completion/pending_operations.hpp"
#include "messages/matching/operations.hpp"
#include "util/split_count.hpp"
#include "util/status.hpp"
#include "util/tables/slot_table.hpp"

namespace librma {

/// The receives under way, and how they and sends end. Thread-safe.
class OperationEnds {
 public:
  /// Operations of more than `eager` bytes may need progress long after their call, unlike messages that
  /// arrive with their data. A progress thread is told of them.
  OperationEnds(PendingOperations& pending, std::size_t eager)
      : pending_(pending), eager_(eager), callers_receives_(this_thread()) {}

  /// Says that an operation of so many bytes begins, which end() ends.
  void begin(std::size_t bytes) {
    if (ProgressThread* const thread = driver(bytes); thread != nullptr) thread->begin();
  }

  /// Says that it is over, or has not begun after all.
  void leave(std::size_t bytes) {
    if (ProgressThread* const thread = driver(bytes); thread != nullptr) thread->end();
  }

  [[nodiscard]] SlotTable<ReceiveOperation>& receives() { return receives_; }
  /// Returns whether a receive is under way.
  [[nodiscard]] bool any() const { return receives_.live() != 0 || callers_receives_.sum() != 0; }
  /// Counts a CallersReceive that begins. It ends by end(), or becomes a ReceiveOperation and is left().
  void begin_callers() { callers_receives_.add(1); }
  void leave_callers(int count) { callers_receives_.add(-count); }

  /// Opens the request of a nonblocking call and stores it into `*request` and `*opened`. Does nothing if
  /// `request` is null. RMA_ERR_NO_MEMORY if too many are open.
  [[nodiscard]] Status open(rma_request_t* request, rma_request_t* opened);

  /// Ends an operation: completes its request, or tells the thread that looks for its end. `wakes`: false if
  /// the caller wakes the threads that sleep for messages later (ProgressEngine::wake).
  void end(ReceiveOperation& receive, rma_status_t status, bool wakes = true);
  void end(const EndedSend& send, rma_status_t status);
  /// Ends a receive in the caller's memory, which is in no matcher. `rank` is the one that a failure is
  /// about. The caller wakes the threads that sleep for messages later.
  void end(CallersReceive& receive, rma_status_t status, int rank) {
    leave_callers(1);
    tell(*receive.posted, status, rank);
  }
  /// Tells the issuer that the receive has ended. `rank` is the one that a failure is about.
  [[gnu::always_inline]] static void tell(rma_posted_recv_t& posted, rma_status_t status, int rank) {
    posted.status = status;
    int ended = RMA_POSTED_WELL;
    if (status != RMA_SUCCESS) [[unlikely]] {
      posted.failed_rank = rank;
      ended = RMA_POSTED_FAILED;
    }
    // Last: the issuer may use the memory for something else now. Pairs with rma_posted_ended().
    __atomic_store_n(&posted.ended, ended, __ATOMIC_RELEASE);
  }
  /// Wakes the threads that sleep for the end of an operation.
  void wake() { pending_.engine().wake(); }
  /// Does the same for a caller that has executed a full barrier after the end.
  void wake_after_barrier() { pending_.engine().woken_by_change(); }

  /// Returns the status with its text. `rank` is the rank that a failure is about.
  [[nodiscard]] static Status outcome(rma_status_t status, int rank);
  [[nodiscard]] static std::string explain(rma_status_t code, int rank);

 private:
  /// Returns the progress thread, if there is one and an operation of so many bytes needs it. The limit is
  /// RMA_EAGER, which no message within a host exceeds without an announcement. (Outbox::announces() does not
  /// serve here, because it takes the greater limit of RMA_NETWORK_EAGER for all ranks.)
  [[nodiscard]] ProgressThread* driver(std::size_t bytes) {
    return bytes > eager_ ? pending_.engine().progress_thread() : nullptr;
  }

  PendingOperations& pending_;
  const std::size_t eager_;
  SplitCount callers_receives_;
  SlotTable<ReceiveOperation> receives_;
};

}  // namespace librma
