#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "util/waiting/spin_lock.hpp"

namespace rma {

/// Operations under way, each with a *name* that this process can give to other processes. A name is a slot
/// and a generation, so a name that comes back late, twice, or was never given out finds nothing. A slot
/// keeps its address. Thread-safe.
template <typename Operation>
class OperationPool {
 public:
  /// Takes a slot, gives it a new operation and calls `fill` with it. Nothing else happens in the pool
  /// meanwhile, so each() never sees an operation that is half filled in. Throws std::bad_alloc.
  template <typename Fill>
  Operation& make(const Fill& fill) {
    const std::lock_guard guard(lock_);
    Slot* const slot = free_ != nullptr ? free_ : new_slot();
    free_ = slot->next_free;
    slot->name += kGeneration;  // odd generations are in use
    live_.store(live_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    Operation& made = slot->operation.emplace(slot->name);
    fill(made);
    return made;
  }

  Operation& make() {
    return make([](Operation& /*made*/) {});
  }

  /// Ends an operation. Its name finds nothing from now on. Calls `see` with it before; nothing else happens
  /// in the pool meanwhile.
  template <typename See>
  void end(Operation& operation, const See& see) {
    const std::lock_guard guard(lock_);
    see(operation);
    give_back(slots_[static_cast<std::uint32_t>(operation.name)]);
  }
  void end(Operation& operation) {
    end(operation, [](const Operation& /*ended*/) {});
  }

  /// Ends the operation of this name. Returns false if there is none.
  bool end(std::uint64_t name) {
    const std::lock_guard guard(lock_);
    const auto index = static_cast<std::uint32_t>(name);
    if (index >= slots_.size() || slots_[index].name != name || !slots_[index].operation) return false;
    give_back(slots_[index]);
    return true;
  }

  /// Returns the number of operations under way, as it was a moment ago.
  [[nodiscard]] std::size_t live() const { return live_.load(std::memory_order_relaxed); }

  /// Calls `use` with the operation of this name. Nothing else happens in the pool meanwhile, so nobody ends
  /// the operation. Returns what `use` returns, or false if there is no such operation.
  template <typename Use>
  bool with(std::uint64_t name, const Use& use) {
    const std::lock_guard guard(lock_);
    const auto index = static_cast<std::uint32_t>(name);
    if (index >= slots_.size()) return false;
    Slot& slot = slots_[index];
    return slot.name == name && slot.operation && use(*slot.operation);
  }

  /// Calls `use` with each operation for which `choose` returns true. Nothing else happens in the pool during
  /// a call of `choose`. An operation that is made meanwhile may be left out. Needs no memory.
  template <typename Choose, typename Use>
  void each(const Choose& choose, const Use& use) {
    for (std::size_t next = 0;;) {
      Operation* chosen = nullptr;
      {
        const std::lock_guard guard(lock_);
        for (; next < slots_.size() && chosen == nullptr; ++next) {
          auto& operation = slots_[next].operation;
          if (operation && choose(*operation)) chosen = &*operation;
        }
      }
      if (chosen == nullptr) return;
      use(*chosen);
    }
  }

  /// Calls `see` with each operation. Nothing else happens in the pool meanwhile.
  template <typename See>
  void see_all(const See& see) {
    const std::lock_guard guard(lock_);
    for (const Slot& slot : slots_) {
      if (slot.operation) see(*slot.operation);
    }
  }

 private:
  static constexpr std::uint64_t kGeneration = std::uint64_t{1} << 32U;
  struct Slot {
    std::optional<Operation> operation;
    std::uint64_t name = 0;
    Slot* next_free = nullptr;
  };
  /// Makes a free slot, and returns it. It is not inlined, so that make() saves no registers for it.
  [[gnu::noinline]] Slot* new_slot() {
    Slot& slot = slots_.emplace_back();
    slot.name = slots_.size() - 1;
    return free_ = &slot;
  }

  /// The caller holds the lock.
  void give_back(Slot& slot) {
    slot.operation.reset();
    live_.store(live_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    slot.name += kGeneration;
    slot.next_free = free_;
    free_ = &slot;
  }

  SpinLock lock_;
  std::deque<Slot> slots_;
  Slot* free_ = nullptr;
  std::atomic<std::size_t> live_ = 0;  ///< changed with the lock
};

}  // namespace rma
