#include "transport/ofi/ofi_operations.hpp"

namespace librma::transport {

OfiOperation* OfiOperations::take(const OfiPurpose& purpose) {
  const std::lock_guard guard(lock_);
  if (purpose.peer != nullptr && purpose.peer->failed.load(std::memory_order_relaxed)) return nullptr;
  OfiOperation* operation = free_;
  if (operation != nullptr) {
    free_ = operation->next_free;
  } else {
    operation = &all_.emplace_back();
  }
  operation->purpose = purpose;
  operation->over = false;
  operation->live = true;
  return operation;
}

bool OfiOperations::give(OfiOperation* operation) {
  const std::lock_guard guard(lock_);
  operation->live = false;
  operation->next_free = free_;
  free_ = operation;
  return operation->over;
}

}  // namespace librma::transport
