#include "transport/ofi/ofi_operations.hpp"

#include <new>
#include <utility>

namespace librma::transport {

bool OfiOperations::add_free() noexcept {
  try {
    give_locked(&all_.emplace_back());
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

bool OfiOperations::make_room() noexcept {
  const std::lock_guard guard(lock_);
  for (std::size_t i = 0; i < kOfiSpare; ++i) {
    if (!add_free()) return false;
  }
  return true;
}

OfiOperation* OfiOperations::take(const OfiPurpose& purpose) noexcept {
  const std::lock_guard guard(lock_);
  if (purpose.peer != nullptr && purpose.peer->failed.load(std::memory_order_relaxed)) return nullptr;
  if (free_ == nullptr && !add_free()) return nullptr;
  OfiOperation* const operation = std::exchange(free_, free_->next);
  operation->purpose = purpose;
  operation->over = false;
  operation->live = true;
  return operation;
}

bool OfiOperations::give(OfiOperation* operation) {
  const std::lock_guard guard(lock_);
  give_locked(operation);
  return operation->over;
}

}  // namespace librma::transport
