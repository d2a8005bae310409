#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "transport/shm/completion_list.hpp"
#include "transport/shm/segment.hpp"
#include "transport/shm/wakeup.hpp"
#include "transport/transport.hpp"

namespace librma::transport {

/// The operations that a shm endpoint has executed, until a poll takes their completions in. An operation has
/// ended when the call that posts it returns, but its poster may not be the thread that polls. Thread-safe.
class EndedOperations {
 public:
  /// `head` is that of this process's segment, and `wakeup` wakes the threads that poll. Both outlive this.
  EndedOperations(const SegmentHead& head, Wakeup& wakeup) : head_(head), wakeup_(wakeup) {}

  /// Promises room for the completion of an operation with these flags, before it is executed. Then add() or
  /// withdraw() is called. Throws std::bad_alloc.
  void promise(PostFlags flags);
  /// Says that the operation has no completion.
  void withdraw(PostFlags flags);
  /// Adds its completion, unless `flags` say that nobody is told, and wakes a sleeping thread to take it in.
  void add(const Completion& completion, PostFlags flags);
  /// Adds completions that `next(Completion*)` stores, until it returns false. One thread at a time runs it.
  template <typename Next>
  void add_all(const Next& next) {
    const std::lock_guard guard(lock_);
    const std::size_t before = ended_.size();
    Completion over;
    while (true) {
      ended_.promise(1);
      if (!next(&over)) break;
      ended_.add(over);
    }
    ended_.withdraw(1);
    if (ended_.size() != before) tell();
  }
  /// Moves completions to the front of `completions`. Returns how many.
  [[nodiscard]] std::size_t take(std::span<Completion> completions);
  /// Returns whether take() finds nothing. This is a hint: a thread that posts and then asks sees its own
  /// operation.
  [[nodiscard]] bool empty() const { return count_.load(std::memory_order_relaxed) == 0; }

 private:
  /// Called with lock_ held.
  void tell();

  const SegmentHead& head_;
  Wakeup& wakeup_;
  std::mutex lock_;  ///< guards the members below
  CompletionList ended_;
  std::atomic<std::size_t> count_ = 0;  ///< the size of ended_, so that a poll need not take the lock
  std::uint32_t signaled_ = 0;          ///< the last sleep for which this process signaled its own threads
};

}  // namespace librma::transport
