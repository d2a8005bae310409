#pragma once

#include <atomic>
#include <cstdint>

#include "util/status.hpp"
#include "util/system/background_thread.hpp"
#include "util/waiting/wait.hpp"

namespace librma {

class ProgressEngine;

/// RMA_PROGRESS=thread: a thread of the library that makes progress with pending operations while no thread
/// of the program waits in the library. It is *idle* unless there are such operations, and becomes idle again
/// when a call begins to wait, because that call makes progress itself. Idle, it takes no lock and is no
/// sleeper that other processes wake. Thread-safe.
///
/// Why no wake-up is lost. The thread has to stop being idle when operations_ > 0 and waiting_ == 0. A call
/// that may have made this true ends by leave() or hand_over(): both change or read the counts and then wake
/// idle_, which has the proof (Doorbell). The thread has to become idle when waiting_ > 0 or operations_ ==
/// 0. It waits for that as a thread of the program waits for its operation, in ProgressEngine. enter()
/// changes the count by a sequentially consistent read-modify-write and then calls
/// ProgressEngine::woken_by_change(), which has the proof. If the thread sleeps on after the last operation
/// has ended, nothing is lost: the next call that waits wakes it.
class ProgressThread {
 public:
  /// The thread polls `spins` times before it sleeps. `engine` outlives this.
  ProgressThread(ProgressEngine& engine, std::uint64_t spins) : engine_(engine), spins_(spins) {}
  ~ProgressThread();
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

  /// Starts the thread. RMA_ERR_SYSTEM.
  [[nodiscard]] Status start();

  /// An operation begins that the thread makes progress with, or has ended.
  void begin() { operations_.fetch_add(1, std::memory_order_seq_cst); }
  void end() { operations_.fetch_sub(1, std::memory_order_seq_cst); }
  /// A nonblocking call returns. Its operation may be pending.
  void hand_over() {
    if (needed()) idle_.wake();
  }

  /// A thread of the program begins to wait, or has waited.
  void enter();
  void leave() {
    waiting_.fetch_sub(1, std::memory_order_seq_cst);
    if (needed()) idle_.wake_ordered();
  }

 private:
  [[nodiscard]] bool needed() const {
    return operations_.load(std::memory_order_seq_cst) != 0 && waiting_.load(std::memory_order_seq_cst) == 0;
  }
  [[nodiscard]] bool over() const { return over_.load(std::memory_order_acquire); }
  void work();

  alignas(64) std::atomic<std::uint32_t> waiting_ = 0;  ///< threads of the program that wait
  std::atomic<bool> over_ = false;
  ProgressEngine& engine_;
  const std::uint64_t spins_;
  BackgroundThread thread_;
  alignas(64) std::atomic<std::uint64_t> operations_ = 0;  ///< pending ones
  Doorbell idle_;                                          ///< the idle thread sleeps here
};

}  // namespace librma
