#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>

#include "util/clock.hpp"
#include "util/waiting/long_wait.hpp"

namespace librma {

/// Operations that make progress only while some thread of their process drives them (MPI: progress). A
/// thread that waits at a doorbell for something else drives them meanwhile, because other ranks may need
/// them before they do what this thread waits for. Thread-safe.
class WaitProgress {
 public:
  WaitProgress() = default;
  WaitProgress(const WaitProgress&) = delete;
  WaitProgress& operator=(const WaitProgress&) = delete;
  virtual ~WaitProgress() = default;

  /// Returns whether there are such operations. Cheap.
  [[nodiscard]] virtual bool pending() const = 0;
  /// Drives them once. Returns whether that moved anything.
  virtual bool drive() = 0;
};

/// The number of times that a waiting thread polls and yields before it sleeps, and what it drives meanwhile.
struct WaitPolicy {
  std::uint64_t spins = 0;
  std::uint64_t yields = 0;
  WaitProgress* progress = nullptr;  ///< may be null

  /// Returns whether there are operations to drive.
  [[nodiscard]] bool drives() const { return progress != nullptr && progress->pending(); }
  /// Drives them once, if there are any. Returns whether that moved anything.
  bool drive() const { return drives() && progress->drive(); }
};

/// Decides whether a waiting thread yields its processor before it sleeps. A yield costs a microsecond if the
/// threads that it lets run wait as well. If one of them computes, it keeps the processor for a time slice,
/// which is some milliseconds, and a rank that wakes the yielding thread meanwhile does not end that. A
/// thread that sleeps runs as soon as it is woken. So if yields of more than kLong add up to kWhile within
/// twice that time, the threads of this process do not yield for kPause. A few long yields have no effect,
/// because another rank may only work through its messages. Times are in nanoseconds. Thread-safe; if threads
/// yield at the same time, the sum may miss some of their yields.
class YieldPatience {
 public:
  static constexpr std::int64_t kLong = 1'000'000;
  static constexpr std::int64_t kWhile = 50'000'000;
  static constexpr std::int64_t kPause = 200'000'000;

  [[nodiscard]] bool yields(std::int64_t now) const {
    return now >= begin_.load(std::memory_order_relaxed);  // orders nothing, as all of them
  }
  /// Says that a yield lasted from `begin` to `end`.
  void yielded(std::int64_t begin, std::int64_t end) {
    if (end - begin <= kLong) [[likely]]
      return;
    if (end - begin_.load(std::memory_order_relaxed) > 2 * kWhile) {
      begin_.store(begin, std::memory_order_relaxed);
      lost_.store(0, std::memory_order_relaxed);
    }
    const std::int64_t lost = lost_.load(std::memory_order_relaxed) + end - begin;
    lost_.store(lost, std::memory_order_relaxed);
    if (lost < kWhile) return;
    begin_.store(end + kPause, std::memory_order_relaxed);
    lost_.store(0, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::int64_t> begin_ =
      0;                                ///< of the time in which yields are added up, or the end of the pause
  std::atomic<std::int64_t> lost_ = 0;  ///< the sum of long yields since then
};

/// Yields the processor if that is worth it (YieldPatience). Returns whether it may be worth it again; if
/// not, the caller sleeps.
[[nodiscard]] bool yield_processor();

/// To be called after a test that found nothing. A program may test again and again instead of waiting. If
/// the host has more ranks than processors (`policy` does not spin), the caller would then keep the rank that
/// it waits for from running. So every eighth such call of a thread yields the processor.
inline void let_others_run(const WaitPolicy& policy) {
  constexpr unsigned kTests = 8;
  if (policy.spins != 0) [[likely]]
    return;
  static thread_local unsigned tests = 0;
  if (++tests % kTests == 0) sched_yield();
}

/// The writers that may make a sleeper's condition true. They decide how the sleeper has to sleep.
enum class Waker : std::uint8_t {
  always,     ///< every writer wakes the sleeper: it sleeps until it is woken
  sometimes,  ///< others write too and wake nobody: the sleeper looks again after each nap_after()
  stores,     ///< the same, but the library's inlined stores wake the sleeper: see Doorbell::await_stores()
  mortal      ///< every writer wakes the sleeper, but its process may end before it does: see wait_unless()
};

/// A thread that sleeps for another process tests after this many nanoseconds whether that process has ended.
/// The time is short for people, and so long that the tests cost hardly any processor time.
constexpr std::int64_t kMortalNap = 100'000'000;

/// Returns how many nanoseconds a thread naps before it tests its condition again. `asleep` is the time since
/// it first slept. The nap is an eighth of that, so the thread notices a write within an eighth of the time
/// that it had to wait. The nap is at least 50 microseconds and at most 10 ms, which costs hardly any
/// processor time.
constexpr std::int64_t nap_after(std::int64_t asleep) {
  constexpr std::int64_t kShortest = 50'000;
  constexpr std::int64_t kLongest = 10'000'000;
  return std::clamp(asleep / 8, kShortest, kLongest);
}

/// A doorbell: threads of one process sleep at it, and threads of any process that maps it wake them. It lies
/// in shared memory, and its initial state is all zero.
///
/// Why no wake-up is lost. A sleeper takes two steps: it counts itself in `sleepers`, then it reads its
/// condition. A waker takes two steps: it makes the condition true, then it reads `sleepers`. Both execute a
/// full barrier between their steps, so at least one of them sees the other's first step (Dekker's
/// algorithm). If the sleeper sees the condition true, it does not sleep. If the waker sees the sleeper, it
/// increments `wakeups` and calls futex wake. The sleeper has read `wakeups` before it read its condition,
/// and futex wait returns at once if `wakeups` has changed since.
struct alignas(64) Doorbell {
  std::atomic<std::uint32_t> wakeups = 0;
  std::atomic<std::uint32_t> sleepers = 0;
  /// Threads of the owner that sleep for events of descriptors, and not here. wake() does not wake them. A
  /// waker that gets true from must_call() sends the owner a message, whose arrival wakes them.
  std::atomic<std::uint32_t> listeners = 0;
  std::atomic<std::uint32_t> called = 0;  ///< a waker has called the listeners since the last listen()
  /// A thread sleeps here until a plain store makes its condition true, or is about to. The first waker
  /// clears it.
  std::atomic<std::uint32_t> awaits_stores = 0;

  /// Wakes all threads that sleep here. The caller has made the condition true before, with any kind of
  /// store.
  void wake() {
    std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with the fetch_add in wait_unless
    wake_ordered();
  }

  /// Tells a caller that has made a condition true whether a thread may sleep: then the caller calls wake()
  /// and must_call(). This is the first step of both, in as few instructions as possible.
  [[nodiscard]] bool must_look() const {
    std::atomic_thread_fence(std::memory_order_seq_cst);  // as the one in wake()
    return (sleepers.load(std::memory_order_relaxed) | listeners.load(std::memory_order_relaxed)) != 0;
  }

  /// Counts the caller among the listeners. It then tests its condition once more before it sleeps.
  void listen() {
    // A waker that found `called` set has made its condition true before, and is seen after this exchange.
    called.exchange(0, std::memory_order_acq_rel);
    listeners.fetch_add(1, std::memory_order_seq_cst);  // pairs with the fence in wake()
  }
  /// Called after wake(). Returns whether the caller has to send the owner a message, because threads listen
  /// and nobody has sent one yet.
  [[nodiscard]] bool must_call() {
    return listeners.load(std::memory_order_relaxed) != 0 &&
           called.exchange(1, std::memory_order_acq_rel) == 0;
  }

  /// Announces that the caller is about to sleep until a store makes its condition true. The caller tests its
  /// condition after this, and calls it again before it sleeps again if `wakeups` has changed.
  ///
  /// Why no wake-up is lost. The sleeper sets `awaits_stores` and then reads its condition. A writer stores
  /// and then reads `awaits_stores` (rma/direct.h). A fence between the writer's two steps would cost more
  /// than the store. So the sleeper has the kernel execute a full barrier in every running thread of every
  /// rank (membarrier(2)), between its own two steps; a thread that does not run passes a barrier before it
  /// runs again. If the writer's barrier comes after its store, the sleeper sees the store. If it comes
  /// before, the writer reads `awaits_stores` after it, and sees it set. Where the system refuses the
  /// barrier, the sleeper's nap ends its sleep.
  void await_stores();
  /// Wakes the threads that sleep here, if one of them awaits stores. Wakes them once: stores that follow
  /// cost no more than a load until a thread announces itself again.
  void wake_for_store() {
    if (awaits_stores.exchange(0, std::memory_order_acq_rel) != 0) wake_sleepers();
  }

  /// Does the same as wake() for a caller that made the condition true by a sequentially consistent
  /// read-modify-write, which is the full barrier already.
  void wake_ordered() {
    if (sleepers.load(std::memory_order_relaxed) != 0) wake_sleepers();
  }

  /// One thread's wait at a doorbell. It remembers since when the thread sleeps.
  class Sleeper {
   public:
    Sleeper(Doorbell& doorbell, Waker waker) : doorbell_(doorbell), waker_(waker) {}
    /// Sleeps until the thread is woken or its nap is over. Returns at once if `wakeups` is no longer `seen`.
    /// `drives`: the thread naps whatever its waker is, because there are operations that it drives between
    /// its naps. `asks`: it sleeps no longer than kLongWait, to publish its wait. Returns whether it is time
    /// to test if the process that the thread waits for has ended; only for Waker::mortal.
    bool sleep(std::uint32_t seen, bool drives = false, bool asks = false);
    /// Makes the next nap short again: what the thread drives is moving.
    void nap_shortly() { first_ = 0; }

   private:
    Doorbell& doorbell_;
    const Waker waker_;
    std::int64_t first_ = 0;  ///< monotonic time from which naps grow longer; 0: of the next sleep
    std::int64_t since_ =
        0;  ///< of the first sleep, or of the last test for an ended process; 0: not slept yet
  };

 private:
  void wake_sleepers();
};
static_assert(sizeof(Doorbell) == 64 && std::atomic<std::uint32_t>::is_always_lock_free);

/// Tells the processor that the caller polls in a loop.
inline void pause_processor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

/// Lets other processes have barriers executed in this process's threads (Doorbell::await_stores). Called
/// once.
void receive_barriers();

/// The first polls, about half a microsecond of them, come without a pause instruction, which would lengthen
/// a short wait by its own duration. Later polls pause, which leaves the core to its other hardware thread.
constexpr std::uint64_t kEagerPolls = 1024;

/// Asks for a cache line that this thread will write to soon.
inline void prefetch_to_write(const void* line) {
#if defined(__x86_64__)
  __asm__ volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));
#else
  __builtin_prefetch(line, 1);
#endif
}

/// A thread that polls for something else drives the operations of WaitPolicy::progress after this many
/// polls.
constexpr std::uint64_t kDriveAfterPolls = 64;

/// Does what a thread has to do after its i-th poll, counted from 0: it pauses unless the poll is among the
/// first ones, and drives operations once in a while.
inline void pause_and_drive(const WaitPolicy& policy, std::uint64_t i) {
  if (i >= kEagerPolls) pause_processor();
  if (i % kDriveAfterPolls == kDriveAfterPolls - 1) policy.drive();
}

/// Ends the polls of a wait by the clock if they are slow. A poll of mapped memory or of a device takes a
/// tenth of kLongestPoll. A poll that asks the system, as over TCP, may take ten times as long: the thread
/// then polls as long, but not as often, as its policy says, and lets the processor go.
class PollClock {
 public:
  /// The longest time that polls may take on average, in nanoseconds.
  static constexpr std::int64_t kLongestPoll = 1000;

  /// For a wait of at most `polls` polls.
  explicit PollClock(std::uint64_t polls) : polls_(polls) {}

  /// Returns whether the time of all polls has passed when the i-th of them has been made, counted from 0.
  [[nodiscard]] bool passed(std::uint64_t i) {
    return i % kPollsPerLook == kPollsPerLook - 1 && passed_at(i, monotonic_nanoseconds());
  }

 private:
  /// The thread looks at the clock once after so many polls: a power of two.
  static constexpr std::uint64_t kPollsPerLook = 64;

  [[nodiscard]] bool passed_at(std::uint64_t i, std::int64_t now) {
    if (end_ == 0) end_ = now + static_cast<std::int64_t>(polls_ - i) * kLongestPoll;
    return now >= end_;
  }

  std::uint64_t polls_;
  std::int64_t end_ = 0;  ///< the first look at the clock sets it
};

/// The first two steps of a wait, before a thread sleeps: it polls, as long as PollClock lets it, then
/// yields. `poll(i)` does what there is to do after the i-th poll. `work()` does what the condition may need,
/// and returns whether it has done anything; then the thread tests its condition before it yields. Returns
/// whether the condition holds.
template <typename Condition, typename Poll, typename Work>
[[nodiscard]] bool poll_and_yield(const WaitPolicy& policy, const Condition& condition, const Poll& poll,
                                  const Work& work) {
  PollClock clock(policy.spins);
  for (std::uint64_t i = 0; i < policy.spins; ++i) {
    if (condition()) return true;
    poll(i);
    if (clock.passed(i)) break;
  }
  for (std::uint64_t i = 0; i < policy.yields; ++i) {
    if (condition()) return true;
    if (work()) continue;
    if (!yield_processor()) break;
  }
  return condition();
}

/// Waits until `condition()` returns true. The thread first polls, then yields, then sleeps at `doorbell`.
/// `waker` says which writers wake the sleepers. `condition` loads shared words with acquire order. The
/// thread drives the operations of `policy.progress` meanwhile.
///
/// Returns true when the condition holds. Returns false if `lost()` returns true, which says that a process
/// has ended without which the condition never comes true, and the condition does not hold. A thread with
/// Waker::mortal calls `lost()` after each kMortalNap of sleep; other threads never call it.
///
/// `describe(WaitNote&)` says what the thread waits for. It is called once the thread has slept for
/// kLongWait, and captures by value, so that it costs nothing before.
template <typename Condition, typename Lost, typename Describe = NoWaitSubject>
[[nodiscard]] bool wait_unless(Doorbell& doorbell, const WaitPolicy& policy, const Condition& condition,
                               const Lost& lost, Waker waker = Waker::mortal,
                               const Describe& describe = Describe()) {
  const auto poll = [&](std::uint64_t i) { pause_and_drive(policy, i); };
  if (poll_and_yield(policy, condition, poll, [&] { return policy.drive(); })) return true;
  bool holds = true;
  DescribedWait<Describe> waiting(describe);
  Doorbell::Sleeper sleeper(doorbell, waker);
  doorbell.sleepers.fetch_add(1, std::memory_order_seq_cst);  // pairs with the fence in wake()
  std::optional<std::uint32_t>
      announced;  // the value of `wakeups` at which this thread has called await_stores()
  while (true) {
    const bool drives = policy.drives();
    if (drives && policy.drive()) sleeper.nap_shortly();
    const std::uint32_t seen = doorbell.wakeups.load(std::memory_order_acquire);
    if (waker == Waker::stores && announced != seen) {
      if (announced && condition()) break;  // most likely what the thread was woken for
      doorbell.await_stores();
      announced = seen;
    }
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (condition()) break;
    // The process that has ended may have made the condition true before it ended.
    if (sleeper.sleep(seen, drives, waiting.pending()) && lost()) {
      holds = condition();
      break;
    }
    waiting.slept();
  }
  doorbell.sleepers.fetch_sub(1, std::memory_order_relaxed);
  return holds;
}

/// Waits as wait_unless() does, for a condition that comes true in any case.
template <typename Condition, typename Describe = NoWaitSubject>
void wait_until(Doorbell& doorbell, const WaitPolicy& policy, const Condition& condition,
                Waker waker = Waker::always, const Describe& describe = Describe()) {
  static_cast<void>(wait_unless(
      doorbell, policy, condition, [] { return false; }, waker, describe));
}

}  // namespace librma
