#pragma once

#include <sched.h>

#include <atomic>

#include "util/waiting/wait.hpp"

namespace librma {

/// A lock for critical sections of a few dozen instructions, in which nobody sleeps. Taking and releasing it
/// costs half of what std::mutex costs. A message of 8 bytes takes several such locks. A
/// thread that finds it held for long yields, because the holder may need this processor. Satisfies Lockable.
class SpinLock {
 public:
  [[gnu::always_inline]] void lock() noexcept {
    if (!try_lock()) [[unlikely]]
      wait_and_lock();
  }
  [[nodiscard]] bool try_lock() noexcept { return !held_.exchange(true, std::memory_order_acquire); }
  void unlock() noexcept { held_.store(false, std::memory_order_release); }

 private:
  static constexpr unsigned kPollsPerYield = 64;

  [[gnu::cold, gnu::noinline]] void wait_and_lock() noexcept {
    unsigned polls = 1;
    do {
      while (held_.load(std::memory_order_relaxed)) {
        if (polls++ % kPollsPerYield == 0) {
          sched_yield();
        } else {
          pause_processor();
        }
      }
    } while (!try_lock());
  }

  std::atomic<bool> held_ = false;
};

}  // namespace librma
