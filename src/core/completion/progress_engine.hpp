#pragma once

#include <poll.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/completion/progress_thread.hpp"
#include "transport/attendants.hpp"
#include "util/status.hpp"
#include "util/waiting/wait.hpp"

namespace librma {

class CompletionContext;

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
  /// Makes the completion of everything that was issued to `rank` visible to a fence of `context`: before it
  /// returns, it begins a transfer in that context which ends only when all of that is complete.
  virtual void flush(int rank, CompletionContext& context) = 0;
  /// Gives `rank` up: everything that was issued to it ends with RMA_ERR_PEER_LOST.
  virtual void give_up(int rank) = 0;
  /// Prepares a sleep. The caller calls progress() once more after this; then event_fds() become readable
  /// when there is a completion.
  virtual void arm() = 0;
  /// Says that the thread that called arm() does not sleep any more.
  virtual void disarm() {}
  [[nodiscard]] virtual std::span<const int> event_fds() const = 0;
  /// Says which threads wait: see Transport::follow(). `attendants` outlives this.
  virtual void follow(transport::Attendants& /*attendants*/) {}
  /// Returns a text for users about an operation to `rank` that ended with `code`.
  [[nodiscard]] virtual std::string explain(rma_status_t code, int rank) const = 0;
};

/// Work that becomes possible when operations end, such as the next step of a collective operation. It starts
/// operations itself, so it is done by threads that hold no lock of the engine. Thread-safe.
class FollowUpWork {
 public:
  FollowUpWork() = default;
  FollowUpWork(const FollowUpWork&) = delete;
  FollowUpWork& operator=(const FollowUpWork&) = delete;
  virtual ~FollowUpWork() = default;

  /// Returns whether there is something to do. A thread asks before it sleeps, and does not sleep then.
  /// Returns true also while another thread does the work, which may have missed an operation that has just
  /// ended.
  [[nodiscard]] virtual bool due() = 0;
  /// Describes in `note` the operation that ends `request`. Returns false if this work does not own the
  /// request, or if another thread does the work at this moment.
  [[nodiscard]] virtual bool describe(rma_request_t request, WaitNote& note) = 0;
  /// Does what there is to do, unless another thread does it. Returns whether it has done anything.
  virtual bool work() = 0;
};

/// How the threads of this process wait for operations: they drive the progress sources, and sleep until one
/// of these has a completion. Thread-safe.
class ProgressEngine {
 public:
  /// Returns how often a rank has shown a sign of life, modulo 2^32.
  using SignsOfLife = std::function<std::uint32_t(int rank)>;

  /// @param patience  a rank is given up if a thread waits for it and nothing was heard of it for this long.
  ProgressEngine(const WaitPolicy& policy, std::chrono::milliseconds patience, SignsOfLife signs)
      : policy_(policy), patience_(patience), signs_(std::move(signs)) {}
  ~ProgressEngine();
  ProgressEngine(const ProgressEngine&) = delete;
  ProgressEngine& operator=(const ProgressEngine&) = delete;

  /// Adds a progress source that waiting threads ask for progress.
  void add(ProgressSource& source);
  /// Says where a waiting thread sleeps if no progress source has event descriptors: other processes of the
  /// host wake it there. With event descriptors, the thread counts itself in Doorbell::listeners. Called
  /// before the first wait.
  void sleep_at(Doorbell& doorbell) { doorbell_ = &doorbell; }
  /// Says which work follows from the ends of operations. Called before the first wait; `work` outlives all
  /// waits.
  void follow_with(FollowUpWork& work) { follow_up_ = &work; }
  /// Says which thread makes progress while no thread of the program waits. It is idle while an Attendance
  /// lives. Called before the first wait, and with null when the thread has ended.
  void stand_in(ProgressThread* thread) { progress_thread_ = thread; }
  /// Returns that thread, or null.
  [[nodiscard]] ProgressThread* progress_thread() const { return progress_thread_; }
  /// A thread of the program is in a call that waits, if `waits`.
  class Attendance {
   public:
    explicit Attendance(ProgressEngine& engine, bool waits = true)
        : thread_(waits ? engine.progress_thread_ : nullptr),
          attendants_(waits && engine.attendants_.followed() ? &engine.attendants_ : nullptr) {
      if (thread_ != nullptr) thread_->enter();
      if (attendants_ != nullptr) attendants_->enter();
    }
    ~Attendance() {
      if (thread_ != nullptr) thread_->leave();
      if (attendants_ != nullptr) attendants_->leave();
    }
    Attendance(const Attendance&) = delete;
    Attendance& operator=(const Attendance&) = delete;

   private:
    ProgressThread* const thread_;
    transport::Attendants* const attendants_;
  };

  /// The rank of an operation that no silence of a rank ends, such as a receive: its source may compute for
  /// an hour before it sends.
  static constexpr int kNoRank = -1;

  /// Waits until `condition()` returns true; progress of operations to `rank` makes it true. The thread
  /// polls, then yields, then sleeps until a progress source has a completion. A condition that has returned
  /// true is not called again, so it may take the thing that it waits for. If nothing is heard of the rank
  /// for `patience`, the rank is given up. A progress source must then end everything that was issued to the
  /// rank, so that the condition comes true. With kNoRank, nobody is given up.
  ///
  /// `describe(WaitNote&)` says what the thread waits for, as for wait_unless().
  template <typename Condition, typename Describe>
  void wait_until(int rank, const Condition& condition, const Describe& describe) {
    if (condition()) return;
    const Attendance attendance(*this);
    wait_as(policy_, rank, condition, describe);
  }
  template <typename Condition>
  void wait_until(int rank, const Condition& condition) {
    wait_until(rank, condition, [rank](WaitNote& note) { describe_operations(rank, note); });
  }
  /// Does the same for the progress thread, with a policy of its own.
  template <typename Condition>
  void drive_until(const WaitPolicy& policy, const Condition& condition) {
    wait_as(policy, kNoRank, condition, NoWaitSubject());
  }
  /// Describes a wait for the operations that were issued to a rank.
  static void describe_operations(int rank, WaitNote& note);
  /// Describes a wait for `request`. Returns false if no follow-up work owns the request.
  [[nodiscard]] bool describe_follow_up(rma_request_t request, WaitNote& note) {
    return follow_up_ != nullptr && follow_up_->describe(request, note);
  }
  /// Polls for completions once. Returns whether there were any, as far as this thread knows.
  bool progress();
  /// Calls ProgressSource::flush() of every source.
  void flush(int rank, CompletionContext& context);
  /// Calls ProgressSource::give_up() of every source.
  void give_up(int rank);

  /// Wakes the threads that sleep in wait_until(). The caller has made a condition true that one of them may
  /// wait for. The call is not needed after PendingOperations::end(), nor for completions that progress()
  /// finds.
  void wake() {
    std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with the one in wait_until()
    if (asleep_.load(std::memory_order_relaxed)) wake_sleeper();
  }
  /// Does the same for a caller that has made the condition true by a sequentially consistent
  /// read-modify-write, which is the full barrier that wake() needs.
  void woken_by_change() {
    if (asleep_.load(std::memory_order_seq_cst)) wake_sleeper();
  }

 private:
  /// How long a waiting thread has not heard of the rank that it waits for, as far as it has looked. Time in
  /// which it did not look counts little: on a busy host a thread may not run for longer than `patience`,
  /// while the rank has answered.
  struct Watch {
    int rank;
    std::uint32_t signs;
    std::chrono::steady_clock::time_point looked;
    std::chrono::steady_clock::duration silent{0};
  };

  template <typename Condition, typename Describe>
  void wait_as(const WaitPolicy& policy, int rank, const Condition& condition, const Describe& describe);
  void wake_sleeper();
  bool progress_locked();
  /// Does the work that follows from the ends of operations. Returns whether it has done anything. The caller
  /// holds no lock of the engine.
  bool follow_up();
  [[nodiscard]] bool follow_up_due() { return follow_up_ != nullptr && follow_up_->due(); }
  [[nodiscard]] Watch start_watch(int rank) const;
  /// Says to other processes that this thread is about to sleep, so that they wake it. Returns
  /// Doorbell::wakeups.
  [[nodiscard]] std::uint32_t announce_sleep();
  void end_sleep();
  void sleep_for_events(std::uint32_t seen);
  void look_after(Watch& watch);

  const WaitPolicy policy_;
  const std::chrono::milliseconds patience_;
  const SignsOfLife signs_;
  Doorbell* doorbell_ = nullptr;               ///< see sleep_at()
  ProgressThread* progress_thread_ = nullptr;  ///< see stand_in()
  transport::Attendants attendants_;
  std::vector<ProgressSource*> sources_;
  FollowUpWork* follow_up_ = nullptr;  ///< see follow_with()
  std::vector<pollfd> events_;  ///< empty if no progress source has any; the first is for wake_sleeper()
  /// A thread sleeps for events or is about to (Dekker's algorithm): the sleeper sets this before it tests
  /// its condition for the last time. A thread that makes a condition true reads it afterwards.
  std::atomic<bool> asleep_ = false;
  std::mutex poll_lock_;  ///< held by the one thread that polls for completions or sleeps for their events
  Doorbell news_;         ///< the other threads sleep here until that thread finds completions
};

template <typename Condition, typename Describe>
void ProgressEngine::wait_as(const WaitPolicy& policy, int rank, const Condition& condition,
                             const Describe& describe) {
  if (poll_and_yield(
          policy, condition, [this](std::uint64_t) { progress(); }, [this] { return progress(); })) {
    return;
  }
  Watch watch = start_watch(rank);
  DescribedWait<Describe> waiting(describe);
  Doorbell::Sleeper sleeper(news_, Waker::sometimes);
  while (!condition()) {
    bool holds = false;
    if (std::unique_lock guard(poll_lock_, std::try_to_lock); guard.owns_lock()) {
      const std::uint32_t seen = announce_sleep();  // before it looks for the last time
      for (ProgressSource* const source : sources_) source->arm();
      if (!progress_locked()) {
        asleep_.store(true, std::memory_order_seq_cst);
        std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with wake() and woken_by_change()
        // Tests the condition again while it holds the lock. The thread that held the lock before may have
        // taken in the completion already, and nobody wakes it a second time.
        holds = condition();
        if (!holds && !follow_up_due()) sleep_for_events(seen);
        asleep_.store(false, std::memory_order_relaxed);
      }
      end_sleep();
      for (ProgressSource* const source : sources_) source->disarm();
      guard.unlock();
      static_cast<void>(follow_up());
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
    waiting.slept();
    look_after(watch);
  }
}

}  // namespace librma
