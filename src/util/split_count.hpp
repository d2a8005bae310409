#pragma once

#include <atomic>
#include <cstdint>

#include "util/statistics.hpp"

namespace librma {

/// A count that one thread, the owner, changes most of the time: its changes take no locked instruction. The
/// counts of both parts may be negative, but not their sum. Thread-safe.
class SplitCount {
 public:
  /// Makes a count of the thread for which this_thread() returns `owner`.
  explicit SplitCount(std::uintptr_t owner) : owner_(owner) {}

  void add(std::int64_t more) {
    // Relaxed: the count orders nothing.
    if (is_this_thread(owner_)) [[likely]] {
      own_.store(own_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
    } else {
      others_.fetch_add(more, std::memory_order_relaxed);
    }
  }
  /// Returns the count as it was a moment ago. A thread sees its own changes.
  [[nodiscard]] std::int64_t sum() const {
    return own_.load(std::memory_order_relaxed) + others_.load(std::memory_order_relaxed);
  }

 private:
  const std::uintptr_t owner_;
  std::atomic<std::int64_t> own_ = 0;
  std::atomic<std::int64_t> others_ = 0;
};

}  // namespace librma
