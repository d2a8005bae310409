#include "fabric/bounce_pool.hpp"

#include <sys/mman.h>

#include <cerrno>

#include "util/try_assign.hpp"

namespace librma {
namespace {

Result<std::byte*> map_private(std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return system_failure(RMA_ERR_NO_MEMORY, "memory for bounce buffers", errno);
  return static_cast<std::byte*>(memory);
}

/// A pool of which buffers may be lost has this many others for each.
constexpr std::size_t kSpares = 3;

}  // namespace

Result<std::unique_ptr<BouncePool>> BouncePool::create(Registrar& registrar, std::size_t bytes,
                                                       std::size_t count, Writers writers) {
  // The spare ones take no memory before they are used.
  const std::size_t spares = registrar.late_transfers() ? kSpares * count : 0;
  const std::size_t total = bytes * (count + spares);
  RMA_TRY_ASSIGN(memory, writers == Writers::peers ? registrar.take_peer_memory(total) : map_private(total));
  std::unique_ptr<BouncePool> pool(new BouncePool(registrar, bytes, writers, memory, total));
  RMA_TRY_ASSIGN(registered, registrar.add(pool->memory_, total));
  pool->registered_ = registered;
  for (std::size_t i = count; i > 0; --i) pool->free_.push_back(pool->memory_ + (i - 1) * bytes);
  pool->usable_ = count;
  pool->spares_ = spares;
  return pool;
}

BouncePool::~BouncePool() {
  if (registered_.bytes != 0) registrar_.remove(registered_);
  if (writers_ == Writers::peers) {
    registrar_.give_peer_memory(memory_, total_);
  } else {
    munmap(memory_, total_);
  }
}

std::byte* BouncePool::take() {
  const std::lock_guard guard(lock_);
  if (free_.empty()) return nullptr;
  std::byte* const buffer = free_.back();
  free_.pop_back();
  return buffer;
}

void BouncePool::give_lost(std::byte* buffer) {
  if (!registrar_.late_transfers()) return give(buffer);
  const std::lock_guard guard(lock_);
  if (spares_ == 0) {
    --usable_;
  } else {
    free_.push_back(memory_ + total_ - spares_-- * bytes_);
  }
}

std::size_t BouncePool::usable() {
  const std::lock_guard guard(lock_);
  return usable_;
}

void BouncePool::give(std::byte* buffer) {
  const std::lock_guard guard(lock_);
  free_.push_back(buffer);
}

}  // namespace librma
