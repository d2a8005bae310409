#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace rma {

/// How long a waiting thread polls and yields before it sleeps.
struct WaitPolicy {
  std::uint64_t spins = 0;
  std::uint64_t yields = 0;
};

/// Who may make the condition true that a sleeper waits for.
enum class Ringer : std::uint8_t {
  always,     ///< only code that rings the doorbell: the sleeper sleeps until it is woken
  sometimes,  ///< also plain stores and devices, which ring nothing: the sleeper looks again after each
              ///< nap_after()
  mortal      ///< only code that rings, of processes that may end before they do: see wait_unless()
};

/// How long a thread sleeps for another process before it looks whether that has ended, in nanoseconds: soon
/// for people, and rarely for a processor.
constexpr std::int64_t kMortalNap = 100'000'000;

/// How long a thread that has waited `asleep` nanoseconds since it first slept naps before it looks again: an
/// eighth of that, so that it notices within an eighth of the time that it had to wait, at least 50
/// microseconds, and at most 10 ms, which is often enough for any wait and costs no processor time to speak
/// of.
constexpr std::int64_t nap_after(std::int64_t asleep) {
  constexpr std::int64_t kShortest = 50'000;
  constexpr std::int64_t kLongest = 10'000'000;
  return std::clamp(asleep / 8, kShortest, kLongest);
}

/// Where threads of one process sleep and others, of any process that maps it, wake them. Lies in shared
/// memory; all zero is its initial state.
///
/// The rule that makes a lost wake-up impossible: a sleeper announces itself in `sleepers` and then looks at
/// its condition; a ringer makes the condition true and then looks at `sleepers`. Both put a full barrier
/// between their two steps (Dekker), so at least one of them sees the other.
struct alignas(64) Doorbell {
  std::atomic<std::uint32_t> rings = 0;
  std::atomic<std::uint32_t> sleepers = 0;

  /// Wakes whoever sleeps here. The caller has made the condition true before, with any store.
  void ring() {
    std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with the fetch_add in wait_until
    ring_ordered();
  }

  /// ring() for a caller whose last step was a sequentially consistent read-modify-write: no further barrier.
  void ring_ordered() {
    if (sleepers.load(std::memory_order_relaxed) != 0) wake();
  }

  /// A thread that sleeps here until its condition holds, and for how long it has.
  class Sleeper {
   public:
    Sleeper(Doorbell& doorbell, Ringer ringer) : doorbell_(doorbell), ringer_(ringer) {}
    /// Sleeps until woken, or until it is time to look again, unless `rings` is no longer `seen`. Whether it
    /// is time to look for those that may have ended.
    bool sleep(std::uint32_t seen);

   private:
    Doorbell& doorbell_;
    const Ringer ringer_;
    std::int64_t since_ = 0;  ///< when it first slept, or last looked, on the monotonic clock; 0: not yet
  };

 private:
  void wake();
};
static_assert(sizeof(Doorbell) == 64 && std::atomic<std::uint32_t>::is_always_lock_free);

/// Tells the processor that this is a polling loop.
inline void pause_processor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

/// The first polls come without a pause, which would add its own length to a short wait: for half a
/// microsecond or so. Longer ones leave the core to its other hardware thread.
constexpr std::uint64_t kEagerPolls = 1024;

/// Waits until `condition()` holds: polls, then yields, then sleeps at `doorbell`, which `ringer` rings. What
/// `condition` loads it loads with acquire order.
///
/// Returns true; or false when `lost()` has found that somebody has ended without whom the condition never
/// comes true, and it has not. A thread whose ringers are mortal asks `lost()` after each kMortalNap that it
/// sleeps, no other ever.
template <typename Condition, typename Lost>
[[nodiscard]] bool wait_unless(Doorbell& doorbell, const WaitPolicy& policy, const Condition& condition,
                               const Lost& lost, Ringer ringer = Ringer::mortal) {
  for (std::uint64_t i = 0; i < policy.spins; ++i) {
    if (condition()) return true;
    if (i >= kEagerPolls) pause_processor();
  }
  for (std::uint64_t i = 0; i < policy.yields; ++i) {
    if (condition()) return true;
    sched_yield();
  }
  if (condition()) return true;
  bool holds = true;
  Doorbell::Sleeper sleeper(doorbell, ringer);
  doorbell.sleepers.fetch_add(1, std::memory_order_seq_cst);  // pairs with the fence in ring
  while (true) {
    const std::uint32_t seen = doorbell.rings.load(std::memory_order_acquire);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (condition()) break;
    // Who has ended may have made the condition true before.
    if (sleeper.sleep(seen) && lost()) {
      holds = condition();
      break;
    }
  }
  doorbell.sleepers.fetch_sub(1, std::memory_order_relaxed);
  return holds;
}

/// wait_unless() for what comes true in the end.
template <typename Condition>
void wait_until(Doorbell& doorbell, const WaitPolicy& policy, const Condition& condition,
                Ringer ringer = Ringer::always) {
  static_cast<void>(wait_unless(
      doorbell, policy, condition, [] { return false; }, ringer));
}

}  // namespace rma
