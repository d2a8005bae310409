#include "atomics/stripe_locks.hpp"

#include "atomics/futex.hpp"
#include "util/statistics.hpp"

namespace rma {

void SharedLock::wait(const WaitPolicy& policy) {
  count(Counter::accumulate_lock_waits);
  for (std::uint64_t i = 0; i < policy.spins; ++i) {
    if (word_.load(std::memory_order_relaxed) == kFree && try_lock()) return;
    pause_processor();
  }
  // A thread that finds the lock free here marks it as held with sleepers, because it cannot know whether any
  // are left. Acquire pairs with the release in unlock().
  while (word_.exchange(kHeldWithSleepers, std::memory_order_acquire) != kFree) {
    futex_wait(word_, kHeldWithSleepers);
  }
}

void SharedLock::wake() { futex_wake(word_, 1); }

}  // namespace rma
