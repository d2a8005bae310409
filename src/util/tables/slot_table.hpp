#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "util/waiting/spin_lock.hpp"

namespace librma {

/// Objects under way, each with a *name* that this process can give to other processes. A name is a slot and
/// a generation, so a name that comes back late, twice, or was never given out finds nothing. A slot keeps
/// its address. `Entry` is made from its name, and has it as the member `name`. The owner has a lock of its
/// own, and holds it while it calls any function but live().
///
/// There are two other tables of slots, because their look-ups take no lock, while another thread makes the
/// table longer: RequestTable (core/completion/requests.hpp), and Handles (shmem/job/handles.hpp).
template <typename Entry>
class Slots {
 public:
  /// Takes a slot, and gives it a new entry. Throws std::bad_alloc before anything has changed.
  [[nodiscard]] Entry& make() {
    Slot* const slot = free_ != nullptr ? free_ : new_slot();
    free_ = slot->next_free;
    slot->name += kGeneration;  // odd generations are in use
    live_.store(live_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return slot->entry.emplace(slot->name);
  }

  /// Returns the entry of this name, or null.
  [[nodiscard, gnu::always_inline]] Entry* find(std::uint64_t name) {
    const auto index = static_cast<std::uint32_t>(name);
    if (index >= slots_.size()) return nullptr;
    Slot& slot = *slots_[index];
    return slot.name == name && slot.entry ? &*slot.entry : nullptr;
  }

  /// Ends an entry. Its name finds nothing from now on.
  void end(Entry& entry) {
    Slot& slot = *slots_[static_cast<std::uint32_t>(entry.name)];
    slot.entry.reset();
    live_.store(live_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    slot.name += kGeneration;
    slot.next_free = free_;
    free_ = &slot;
  }

  /// Returns the first entry for which `choose` returns true, from slot number `next` on, or null. Stores the
  /// number of the slot behind it.
  template <typename Choose>
  [[nodiscard]] Entry* find_if(std::size_t& next, const Choose& choose) {
    while (next < slots_.size()) {
      auto& entry = slots_[next++]->entry;
      if (entry && choose(*entry)) return &*entry;
    }
    return nullptr;
  }

  /// Returns the number of entries, as it was a moment ago. Needs no lock.
  [[nodiscard]] std::size_t live() const { return live_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::uint64_t kGeneration = std::uint64_t{1} << 32U;
  struct Slot {
    std::optional<Entry> entry;
    std::uint64_t name = 0;
    Slot* next_free = nullptr;
  };
  /// Makes a free slot, and returns it. It is not inlined, so that make() saves no registers for it.
  [[gnu::noinline]] Slot* new_slot() {
    slots_.push_back(std::make_unique<Slot>());
    slots_.back()->name = slots_.size() - 1;
    return free_ = slots_.back().get();
  }

  std::vector<std::unique_ptr<Slot>> slots_;
  Slot* free_ = nullptr;
  std::atomic<std::size_t> live_ = 0;  ///< changed with the lock
};

/// Slots with a lock of their own. Thread-safe.
template <typename Entry>
class SlotTable {
 public:
  /// Takes a slot, gives it a new entry and calls `fill` with it. Nothing else happens in the table
  /// meanwhile, so each() never sees an entry that is half filled in. Throws std::bad_alloc.
  template <typename Fill>
  Entry& make(const Fill& fill) {
    const std::lock_guard guard(lock_);
    Entry& made = slots_.make();
    fill(made);
    return made;
  }

  Entry& make() {
    return make([](Entry& /*made*/) {});
  }

  /// Ends an entry. Calls `see` with it before; nothing else happens in the table meanwhile.
  template <typename See>
  void end(Entry& entry, const See& see) {
    const std::lock_guard guard(lock_);
    see(entry);
    slots_.end(entry);
  }
  void end(Entry& entry) {
    end(entry, [](const Entry& /*ended*/) {});
  }

  /// Ends the entry of this name if there is one and `use` returns true for it. Returns whether it did.
  template <typename Use>
  bool end(std::uint64_t name, const Use& use) {
    const std::lock_guard guard(lock_);
    Entry* const entry = slots_.find(name);
    if (entry == nullptr || !use(*entry)) return false;
    slots_.end(*entry);
    return true;
  }
  bool end(std::uint64_t name) {
    return end(name, [](const Entry& /*ended*/) { return true; });
  }

  /// Returns the number of entries, as it was a moment ago.
  [[nodiscard]] std::size_t live() const { return slots_.live(); }

  /// Calls `use` with the entry of this name. Nothing else happens in the table meanwhile, so nobody ends the
  /// entry. Returns what `use` returns, or false if there is no such entry.
  template <typename Use>
  bool with(std::uint64_t name, const Use& use) {
    const std::lock_guard guard(lock_);
    Entry* const entry = slots_.find(name);
    return entry != nullptr && use(*entry);
  }

  /// Calls `use` with each entry for which `choose` returns true. Nothing else happens in the table during a
  /// call of `choose`. An entry that is made meanwhile may be left out. Needs no memory.
  template <typename Choose, typename Use>
  void each(const Choose& choose, const Use& use) {
    for (std::size_t next = 0;;) {
      Entry* chosen = nullptr;
      {
        const std::lock_guard guard(lock_);
        chosen = slots_.find_if(next, choose);
      }
      if (chosen == nullptr) return;
      use(*chosen);
    }
  }

  /// Calls `see` with each entry. Nothing else happens in the table meanwhile.
  template <typename See>
  void see_all(const See& see) {
    const std::lock_guard guard(lock_);
    std::size_t next = 0;
    static_cast<void>(slots_.find_if(next, [&](Entry& entry) {
      see(entry);
      return false;
    }));
  }

 private:
  SpinLock lock_;
  Slots<Entry> slots_;
};

}  // namespace librma
