#pragma once

#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "util/statistics.hpp"

namespace rma::mpi {

/// Memory of requests that were freed. It is never given back to the system. Thread-safe.
///
/// One thread, the owner, has a list for itself, because locked instructions would be much of the work on a
/// request. The other threads share a list with a lock. The owner takes from the shared list when
/// its own is empty, and gives to it when its own is long, so that requests which one thread makes and
/// another one frees do not add up.
class SpareRequests {
 public:
  /// The owner's list never has more than this.
  static constexpr std::size_t kMostOwn = 1024;

  /// Sets the owner, by its this_thread(). Nobody uses the lists meanwhile: the caller initialises MPI.
  void set_owner(std::uintptr_t thread) { owner_.store(thread, std::memory_order_relaxed); }

  [[nodiscard]] void* take(std::size_t bytes) {
    if (is_owner() && own_ != nullptr) {
      --owns_;
      return pop(own_);
    }
    void* spare = nullptr;
    {
      const Turn turn(held_);
      if (shared_ != nullptr) spare = pop(shared_);
    }
    return spare != nullptr ? spare : ::operator new(bytes);
  }

  void give(void* memory) {
    if (is_owner() && owns_ < kMostOwn) {
      ++owns_;
      push(own_, memory);
      return;
    }
    const Turn turn(held_);
    push(shared_, memory);
  }

 private:
  struct Spare {
    Spare* next = nullptr;
  };
  /// The time in which a thread has the shared list for itself: a few instructions.
  class Turn {
   public:
    explicit Turn(std::atomic<bool>& held) : held_(held) {
      while (held_.exchange(true, std::memory_order_acquire)) sched_yield();
    }
    ~Turn() { held_.store(false, std::memory_order_release); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    std::atomic<bool>& held_;
  };

  // Relaxed: only the owner finds its own number there, and it is the one that reads and writes the list.
  [[nodiscard]] bool is_owner() const { return owner_.load(std::memory_order_relaxed) == this_thread(); }
  static void* pop(Spare*& list) {
    Spare* const spare = list;
    list = spare->next;
    return spare;
  }
  static void push(Spare*& list, void* memory) {
    auto* const spare = new (memory) Spare;
    spare->next = list;
    list = spare;
  }

  std::atomic<std::uintptr_t> owner_ = 0;
  Spare* own_ = nullptr;  // of the owner
  std::size_t owns_ = 0;  // the length of that list
  std::atomic<bool> held_ = false;
  Spare* shared_ = nullptr;  // under Turn
};

}  // namespace rma::mpi
