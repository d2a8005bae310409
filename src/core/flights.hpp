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

#include "core/requests.hpp"
#include "util/status.hpp"
#include "util/wait.hpp"

namespace rma {

/// What moves operations, seen from those who wait for them. Thread-safe.
class Mover {
 public:
  Mover() = default;
  Mover(const Mover&) = delete;
  Mover& operator=(const Mover&) = delete;
  virtual ~Mover() = default;

  /// Takes in what is over and reports it to Flights; returns whether there was something. Called by one
  /// thread at a time.
  virtual bool progress() = 0;
  /// Sees to it that Flights hears of everything that was issued to `rank`: begins, before it returns, what
  /// ends when all that is over.
  virtual void flush(int rank) = 0;
  /// Gives `rank` up: what was issued to it ends with RMA_ERR_PEER_LOST.
  virtual void give_up(int rank) = 0;
  /// Before a sleep: progress() once more, then event_fds() become readable when there is something.
  virtual void arm() = 0;
  [[nodiscard]] virtual std::span<const int> event_fds() const = 0;
  /// A text for people about an operation to `rank` that ended so.
  [[nodiscard]] virtual std::string explain(rma_status_t code, int rank) const = 0;
};

/// The operations of this process that are under way, whoever moves them: their requests, what is
/// outstanding for each rank, and how threads wait for them. Thread-safe.
class Flights {
 public:
  /// @param patience  a rank that something waits for and that nothing was heard of for so long is given up.
  Flights(int ranks, const WaitPolicy& policy, std::chrono::milliseconds patience);

  ~Flights();

  /// Says who moves operations to `rank`, before the first of them; and who is to be asked for progress.
  void moved_by(int rank, Mover& mover) { peers_[static_cast<std::size_t>(rank)].mover = &mover; }
  void add(Mover& mover);

  /// A new operation to `rank`, with the issuer's own part pending (see RequestTable). RMA_REQUEST_NULL when
  /// too many are open.
  [[nodiscard]] rma_request_t open(int rank) { return requests_.open(rank); }
  /// The failure of a call for which open() returned RMA_REQUEST_NULL.
  [[nodiscard]] static Status too_many();
  [[nodiscard]] int rank(rma_request_t operation) const { return requests_.rank(operation); }

  /// For movers: something to `rank` begins, which a fence from now on waits for; and is over. What is part
  /// of no operation (RMA_REQUEST_NULL) fails the next fence.
  void begin(int rank);
  void add_part(rma_request_t operation) { requests_.add_part(operation); }
  void end(int rank) { end(rank, RMA_REQUEST_NULL, RMA_SUCCESS); }
  void end(int rank, rma_request_t operation, rma_status_t status);
  /// For the mover of `rank`, after it was posted: something was issued whose success is not reported; a
  /// fence asks for it.
  void issued(int rank);
  /// For movers: `rank` shows signs of life.
  void heard_of(int rank) { peer(rank).ends.fetch_add(1, std::memory_order_relaxed); }
  /// For movers: something that belongs to no operation has failed.
  void failed(int rank, rma_status_t status);

  /// The issuer has posted everything and waits for the end.
  [[nodiscard]] Status finish(rma_request_t operation);
  /// The issuer has posted everything and will wait() for the handle.
  void detach(rma_request_t operation) { requests_.finish_part(operation, RMA_SUCCESS); }
  /// The issuer has posted everything; fence() will wait for it and report its failure.
  void leave(rma_request_t operation);

  [[nodiscard]] bool known(rma_request_t request) const { return requests_.known(request); }
  [[nodiscard]] bool complete(rma_request_t request) const { return requests_.complete(request); }
  /// Takes in what is over; true when the operation is complete.
  [[nodiscard]] bool test(rma_request_t request);
  /// Waits for a detached operation and closes it.
  [[nodiscard]] Status wait(rma_request_t request);
  /// Waits for everything issued to `rank`; returns the first failure of operations left to it since the last
  /// fence.
  [[nodiscard]] Status fence(int rank);
  /// fence() of every rank that something was issued to since; costs nothing when there is none.
  [[nodiscard]] Status fence_all();

  /// Waits until `condition()` holds, which progress to `rank` makes true: polls, yields, then sleeps until a
  /// mover has news. Once it has held it is not called again, so it may take what it waits for. Gives the
  /// rank up (once) when nothing is heard of it for too long: a condition that then still does not come true
  /// would be a mover's fault.
  template <typename Condition>
  void wait_until(int rank, const Condition& condition);
  /// One look at what is over.
  void progress();
  /// Wakes whoever sleeps in wait_until(): the caller has made true what one of them may wait for. Not needed
  /// after end(), nor for what progress() finds.
  void wake();

 private:
  /// Beside the count in Peer::under_way: something was issued() since the last flush. In one word with the
  /// count, so that a fence which takes the flag counts its flush in the same step, and no other fence finds
  /// neither (the argument stands with fence()).
  static constexpr std::uint32_t kUnreported = 1U << 31U;
  [[nodiscard]] static std::uint32_t outstanding(std::uint32_t under_way) { return under_way & ~kUnreported; }

  struct Peer {
    Mover* mover = nullptr;
    std::atomic<std::uint32_t> under_way = 0;         ///< begun and not ended, and kUnreported
    std::atomic<std::uint32_t> ends = 0;              ///< that were heard of, modulo 2^32
    std::atomic<bool> unfenced = false;               ///< listed in unfenced_
    std::atomic<rma_status_t> failure = RMA_SUCCESS;  ///< of operations left to the fence
  };
  /// What a waiting thread knows of the rank that it waits for.
  struct Watch {
    int rank;
    std::uint32_t ends;
    std::chrono::steady_clock::time_point since;
  };

  void note_unfenced(int rank);
  /// Takes one off the count.
  void end_one(Peer& its);
  void wake_sleeper();
  bool progress_locked();
  void close_left(rma_request_t operation);
  [[nodiscard]] Status failure(rma_status_t code, int rank) const;
  [[nodiscard]] Watch start_watch(int rank);
  void sleep_for_events();
  void look_after(Watch& watch);
  [[nodiscard]] Peer& peer(int rank) { return peers_[static_cast<std::size_t>(rank)]; }

  const WaitPolicy policy_;
  const std::chrono::milliseconds patience_;
  RequestTable requests_;
  std::vector<Peer> peers_;
  std::vector<Mover*> movers_;
  std::vector<pollfd> events_;  ///< empty where no mover has any; the first is for wake_sleeper()
  std::mutex fence_all_lock_;
  std::vector<int> fencing_;   ///< what fence_all looks at, under its lock
  std::mutex unfenced_lock_;   ///< taken after fence_all_lock_
  std::vector<int> unfenced_;  ///< ranks whose Peer::unfenced was set since the last fence_all
  std::atomic<bool> any_unfenced_ = false;
  /// Somebody sleeps for events, or is about to. Dekker: set before the last look at the condition; who ends
  /// something looks at it afterwards.
  std::atomic<bool> asleep_ = false;
  std::mutex
      poll_lock_;  ///< one thread takes completions in, or sleeps for them; others look at what it finds
  Doorbell news_;  ///< where the others sleep
};

template <typename Condition>
void Flights::wait_until(int rank, const Condition& condition) {
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
  Doorbell::Sleeper sleeper(news_, Ringer::sometimes);
  while (!condition()) {
    bool holds = false;
    if (std::unique_lock guard(poll_lock_, std::try_to_lock); guard.owns_lock()) {
      for (Mover* const mover : movers_) mover->arm();
      if (!progress_locked()) {
        asleep_.store(true, std::memory_order_seq_cst);
        std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with wake() and end_one()
        // Looked at again under the lock: what others took in before they gave it up does not ring once more.
        holds = condition();
        if (!holds) sleep_for_events();
        asleep_.store(false, std::memory_order_relaxed);
      }
      guard.unlock();
      news_.ring();  // one of those who sleep there is to take over
    } else {
      news_.sleepers.fetch_add(1, std::memory_order_seq_cst);  // pairs with the fence in ring
      const std::uint32_t seen = news_.rings.load(std::memory_order_acquire);
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
