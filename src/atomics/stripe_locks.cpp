#include "atomics/stripe_locks.hpp"

#include "util/statistics.hpp"
#include "util/waiting/futex.hpp"

namespace librma {

void SharedLock::wait(const LockUser& user) {
  count(Counter::accumulate_lock_waits);
  // This is no wait at a doorbell (util/waiting/wait.hpp), because a thread sleeps at the lock's own word, by
  // which unlock() learns that it must wake somebody. The thread drives nothing: the holder waits for nobody.
  for (std::uint64_t i = 0; i < user.policy.spins; ++i) {
    if (word_.load(std::memory_order_relaxed) == kFree && try_lock(user.rank)) return;
    pause_processor();
  }
  // A thread that gets the lock here says that others sleep, because it cannot know whether any are left.
  const std::uint32_t mine = held_by(user.rank) | kSleepers;
  std::uint32_t now = word_.load(std::memory_order_relaxed);
  bool napped = false;  // for a whole kMortalNap
  for (;;) {
    // The process of a holder that has ended touches nothing any more. Of several threads that see it, the
    // exchange lets one have the lock.
    if (now == kFree || (napped && user.ended(holder(now)))) {
      // Acquire pairs with the release in unlock().
      if (word_.compare_exchange_strong(now, mine, std::memory_order_acquire, std::memory_order_relaxed))
        return;
      napped = false;
    } else if (const std::uint32_t slept_on = now | kSleepers;
               now == slept_on || word_.compare_exchange_strong(now, slept_on, std::memory_order_relaxed,
                                                                std::memory_order_relaxed)) {
      napped = futex_nap(word_, slept_on, kMortalNap);
      now = word_.load(std::memory_order_relaxed);
    }
  }
}

void SharedLock::wake() { futex_wake(word_, 1); }

}  // namespace librma
