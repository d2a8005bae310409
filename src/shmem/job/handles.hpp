#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace librma::shmem {

/// Objects that programs know by handles. A handle is a number: the object's slot, and above that the number
/// of times that the slot was used before. So the handle of an object that was destroyed is noticed.
/// Thread-safe. find() takes no lock; the program must not destroy an object while another thread uses it.
///
/// This is no SlotTable (util/tables/slot_table.hpp), because a call that takes a context or a team finds
/// it here first, and a SlotTable takes a lock for that. The handles of the first objects are also constants
/// of shmem.h.
template <typename Object, typename Handle>
class Handles {
 public:
  /// The first slots have these numbers and are given out in this order.
  explicit Handles(std::size_t first) : unused_(first) {}

  /// Returns a null handle if the 1M slots are in use.
  Handle add(std::unique_ptr<Object> object) {
    const std::lock_guard guard(lock_);
    std::size_t slot = unused_;
    if (!free_.empty()) {
      slot = free_.back();
      free_.pop_back();
    } else if (unused_ == kChunk * chunks_.size()) {
      return nullptr;
    } else {
      ++unused_;
    }
    std::atomic<Chunk*>& chunk = chunks_[slot / kChunk];
    if (chunk.load(std::memory_order_relaxed) == nullptr) {
      memory_.push_back(std::make_unique<Chunk>());
      chunk.store(memory_.back().get(), std::memory_order_release);  // pairs with the load in find()
    }
    Slot& place = (*chunk.load(std::memory_order_relaxed))[slot % kChunk];
    place.object = std::move(object);
    const std::uintptr_t number = place.uses++ * kSlots + slot;
    place.number.store(number, std::memory_order_release);  // pairs with the load in find()
    return reinterpret_cast<Handle>(number);                // NOLINT(performance-no-int-to-ptr): a number
  }

  /// Returns the object, or null if the handle is not in the table.
  [[nodiscard]] Object* find(Handle handle) const {
    Slot* const place = place_of(handle);
    return place != nullptr ? place->object.get() : nullptr;
  }

  /// Removes the object from the table and returns it. Returns null if the handle is not in the table.
  std::unique_ptr<Object> remove(Handle handle) {
    const std::lock_guard guard(lock_);
    Slot* const place = place_of(handle);
    if (place == nullptr) return nullptr;
    free_.push_back(reinterpret_cast<std::uintptr_t>(handle) % kSlots);
    place->number.store(0, std::memory_order_relaxed);
    return std::move(place->object);
  }

 private:
  struct Slot {
    std::atomic<std::uintptr_t> number = 0;  ///< 0: the slot is not in use
    std::uintptr_t uses = 0;
    std::unique_ptr<Object> object;
  };
  static constexpr std::size_t kChunk = 1024;
  static constexpr std::size_t kSlots = kChunk * kChunk;
  using Chunk = std::array<Slot, kChunk>;

  [[nodiscard]] Slot* place_of(Handle handle) const {
    const auto number = reinterpret_cast<std::uintptr_t>(handle);
    Chunk* const chunk = chunks_[number % kSlots / kChunk].load(std::memory_order_acquire);
    if (chunk == nullptr || number == 0) return nullptr;
    Slot& place = (*chunk)[number % kChunk];
    return place.number.load(std::memory_order_acquire) == number ? &place : nullptr;
  }

  std::mutex lock_;  ///< guards changes of the members below
  std::array<std::atomic<Chunk*>, kSlots / kChunk> chunks_ = {};
  std::vector<std::unique_ptr<Chunk>> memory_;
  std::vector<std::size_t> free_;
  std::size_t unused_;
};

}  // namespace librma::shmem
