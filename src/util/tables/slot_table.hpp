#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "util/waiting/spin_lock.hpp"

namespace librma {

/// Objects under way, each with a *name* that this process can give to other processes. A name is a slot and
/// a generation, so a name that comes back late, twice, or was never given out finds nothing. A slot keeps
/// its address. `Entry` is made from its name, and has it as the member `name`. Thread-safe.
///
/// RequestTable (core/completion/requests.hpp) is the one other table of slots: its look-ups take no lock.
template <typename Entry>
class SlotTable {
 public:
  /// Takes a slot, gives it a new entry and calls `fill` with it. Nothing else happens in the table
  /// meanwhile, so each() never sees an entry that is half filled in. Throws std::bad_alloc.
  template <typename Fill>
  Entry& make(const Fill& fill) {
    const std::lock_guard guard(lock_);
    Slot* const slot = free_ != nullptr ? free_ : new_slot();
    free_ = slot->next_free;
    slot->name += kGeneration;  // odd generations are in use
    live_.store(live_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    Entry& made = slot->entry.emplace(slot->name);
    fill(made);
    return made;
  }

  Entry& make() {
    return make([](Entry& /*made*/) {});
  }

  /// Ends an entry. Its name finds nothing from now on. Calls `see` with it before; nothing else happens in
  /// the table meanwhile.
  template <typename See>
  void end(Entry& entry, const See& see) {
    const std::lock_guard guard(lock_);
    see(entry);
    give_back(slots_[static_cast<std::uint32_t>(entry.name)]);
  }
  void end(Entry& entry) {
    end(entry, [](const Entry& /*ended*/) {});
  }

  /// Ends the entry of this name if there is one and `use` returns true for it. Returns whether it did.
  template <typename Use>
  bool end(std::uint64_t name, const Use& use) {
    const std::lock_guard guard(lock_);
    Slot* slot = find(name);
    if (slot == nullptr || !use(*slot->entry)) return false;
    give_back(*slot);
    return true;
  }
  bool end(std::uint64_t name) {
    return end(name, [](const Entry& /*ended*/) { return true; });
  }

  /// Returns the number of entries, as it was a moment ago.
  [[nodiscard]] std::size_t live() const { return live_.load(std::memory_order_relaxed); }

  /// Calls `use` with the entry of this name. Nothing else happens in the table meanwhile, so nobody ends the
  /// entry. Returns what `use` returns, or false if there is no such entry.
  template <typename Use>
  bool with(std::uint64_t name, const Use& use) {
    const std::lock_guard guard(lock_);
    Slot* slot = find(name);
    return slot != nullptr && use(*slot->entry);
  }

  /// Calls `use` with each entry for which `choose` returns true. Nothing else happens in the table during a
  /// call of `choose`. An entry that is made meanwhile may be left out. Needs no memory.
  template <typename Choose, typename Use>
  void each(const Choose& choose, const Use& use) {
    for (std::size_t next = 0;;) {
      Entry* chosen = nullptr;
      {
        const std::lock_guard guard(lock_);
        for (; next < slots_.size() && chosen == nullptr; ++next) {
          auto& entry = slots_[next].entry;
          if (entry && choose(*entry)) chosen = &*entry;
        }
      }
      if (chosen == nullptr) return;
      use(*chosen);
    }
  }

  /// Calls `see` with each entry. Nothing else happens in the table meanwhile.
  template <typename See>
  void see_all(const See& see) {
    const std::lock_guard guard(lock_);
    for (const Slot& slot : slots_) {
      if (slot.entry) see(*slot.entry);
    }
  }

 private:
  static constexpr std::uint64_t kGeneration = std::uint64_t{1} << 32U;
  struct Slot {
    std::optional<Entry> entry;
    std::uint64_t name = 0;
    Slot* next_free = nullptr;
  };
  /// Makes a free slot, and returns it. It is not inlined, so that make() saves no registers for it.
  [[gnu::noinline]] Slot* new_slot() {
    Slot& slot = slots_.emplace_back();
    slot.name = slots_.size() - 1;
    return free_ = &slot;
  }

  /// Returns the slot of the entry of this name, or null. The caller holds the lock.
  [[nodiscard, gnu::always_inline]] Slot* find(std::uint64_t name) {
    const auto index = static_cast<std::uint32_t>(name);
    if (index >= slots_.size()) return nullptr;
    Slot& slot = slots_[index];
    return slot.name == name && slot.entry ? &slot : nullptr;
  }
  /// The caller holds the lock.
  void give_back(Slot& slot) {
    slot.entry.reset();
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

}  // namespace librma
