#pragma once

#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "util/statistics.hpp"

namespace librma {

/// Memory of objects of one class that were freed, for the next ones: programs make and free millions of
/// requests and messages. It is kept for the process's life, up to the limits below. Thread-safe.
///
/// One thread, the owner, has a list for itself, because locked instructions would be much of the work on an
/// object. The other threads share a list with a lock. The owner takes from the shared list when its own is
/// empty, and gives to it when its own is long, so that objects which one thread makes and another one frees
/// do not add up.
class SpareMemory {
 public:
  /// The owner's list never has more than this.
  static constexpr std::size_t kMostOwn = 1024;
  /// The shared list never has more than this.
  static constexpr std::size_t kMostShared = 4096;

  /// Sets the owner, by its this_thread(). Nobody uses the lists meanwhile: the caller initialises the
  /// library.
  void set_owner(std::uintptr_t thread) { owner_.store(thread, std::memory_order_relaxed); }

  /// Returns memory of an object. `bytes` is the same in all calls. Throws std::bad_alloc.
  [[nodiscard, gnu::always_inline]] void* take(std::size_t bytes) {
    if (!is_owner() || own_ == nullptr) [[unlikely]]
      return take_shared(bytes);
    ++room_;
    return pop(own_);
  }

  /// Does the same without a call, or returns null.
  [[nodiscard, gnu::always_inline]] void* take_at_once() {
    if (!is_owner() || own_ == nullptr) [[unlikely]]
      return nullptr;
    ++room_;
    return pop(own_);
  }

  /// Does the same as give() without a call, or returns false.
  [[nodiscard, gnu::always_inline]] bool give_at_once(void* memory) {
    if (!is_owner() || room_ == 0) [[unlikely]]
      return false;
    --room_;
    push(own_, memory);
    return true;
  }

  /// Takes memory back that take() has returned.
  [[gnu::always_inline]] void give(void* memory) {
    if (!give_at_once(memory)) [[unlikely]]
      give_shared(memory);
  }

  /// Returns the number of blocks in both lists. Called by the owner while no other thread uses them. Tests
  /// ask.
  [[nodiscard]] std::size_t kept() const { return kMostOwn - room_ + shares_; }

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

  // These two are not inlined, so that the usual cases above save no registers for them.
  [[nodiscard, gnu::noinline]] void* take_shared(std::size_t bytes) {
    void* spare = nullptr;
    {
      const Turn turn(held_);
      if (shared_ != nullptr) {
        spare = pop(shared_);
        --shares_;
      }
    }
    return spare != nullptr ? spare : ::operator new(bytes);
  }
  [[gnu::noinline]] void give_shared(void* memory) {
    {
      const Turn turn(held_);
      if (shares_ < kMostShared) {
        ++shares_;
        push(shared_, memory);
        return;
      }
    }
    ::operator delete(memory);
  }

  // Relaxed: only the owner finds its own number there, and it is the one that reads and writes the list.
  [[nodiscard]] bool is_owner() const { return is_this_thread(owner_.load(std::memory_order_relaxed)); }
  static void* pop(Spare*& list) {
    Spare* const spare = list;
    list = spare->next;
    return spare;
  }
  static void push(Spare*& list, void* memory) { list = new (memory) Spare{.next = list}; }

  std::atomic<std::uintptr_t> owner_ = 0;
  Spare* own_ = nullptr;         // of the owner
  std::size_t room_ = kMostOwn;  // so many more objects fit into that list
  std::atomic<bool> held_ = false;
  Spare* shared_ = nullptr;  // under Turn, as its length
  std::size_t shares_ = 0;
};

}  // namespace librma
