#include "channel/send_slots.hpp"

#include "util/try_assign.hpp"

namespace librma {

Result<std::unique_ptr<SendSlots>> SendSlots::create(Registrar& registrar, std::size_t bytes,
                                                     std::size_t count, Ended ended) {
  std::unique_ptr<SendSlots> slots(new SendSlots(std::move(ended)));
  RMA_TRY_ASSIGN(memory, BouncePool::create(registrar, bytes, count));
  slots->memory_ = std::move(memory);
  for (std::size_t i = 0; i < count; ++i) {
    slots->slots_.push_back(std::make_unique<Slot>(*slots, slots->memory_->take()));
    slots->free_.push_back(slots->slots_.back().get());
  }
  return slots;
}

SendSlots::Slot* SendSlots::take() {
  const std::lock_guard guard(lock_);
  if (free_.empty()) return nullptr;
  Slot* const slot = free_.back();
  free_.pop_back();
  return slot;
}

void SendSlots::give(Slot* slot) {
  const std::lock_guard guard(lock_);
  free_.push_back(slot);
}

void SendSlots::Slot::ended(int peer, rma_status_t status, std::uint32_t /*bytes*/) {
  RingMemory::Piece kept = std::move(kept_);
  owner_.give(this);
  owner_.ended_(peer, status, std::move(kept));
}

}  // namespace librma
