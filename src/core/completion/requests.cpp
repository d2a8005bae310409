#include "core/completion/requests.hpp"

#include <mutex>

namespace rma {
namespace {

std::uint32_t generation_of(rma_request_t request) { return static_cast<std::uint32_t>(request >> 32U); }
std::uint32_t index_of(rma_request_t request) { return static_cast<std::uint32_t>(request); }

}  // namespace

constinit std::atomic<std::uint32_t> RequestTable::next_generation = 0;

// Relaxed, here and in the destructor: rma_init's lock orders the end of one table before the start of the
// next, and tables that exist at the same time share nothing.
RequestTable::RequestTable() : first_generation_(next_generation.load(std::memory_order_relaxed)) {}

RequestTable::~RequestTable() {
  std::uint32_t used = first_generation_;
  for (auto& chunk : chunks_) {
    const std::unique_ptr<Chunk> owned(chunk.load(std::memory_order_relaxed));
    if (owned == nullptr) continue;
    for (const Slot& slot : *owned) {
      // The generation of an open operation is odd. This rounds it up.
      const std::uint32_t past = (slot.generation.load(std::memory_order_relaxed) + 1) / 2 * 2;
      // This compares modulo 2^32, because generations wrap around.
      if (static_cast<std::int32_t>(past - used) > 0) used = past;
    }
  }
  std::uint32_t next = next_generation.load(std::memory_order_relaxed);
  while (static_cast<std::int32_t>(used - next) > 0 &&
         !next_generation.compare_exchange_weak(next, used, std::memory_order_relaxed)) {
  }
}

RequestTable::Slot& RequestTable::slot(rma_request_t request) const {
  const std::uint32_t index = index_of(request);
  return (*chunks_[index / kChunkSlots].load(std::memory_order_acquire))[index % kChunkSlots];
}

rma_request_t RequestTable::open(int rank, CompletionContext& context) {
  std::uint32_t index = 0;
  {
    const std::lock_guard guard(lock_);
    if (free_.empty()) {
      if (chunk_count_ == kMaxChunks) return RMA_REQUEST_NULL;
      auto chunk = std::make_unique<Chunk>();
      for (Slot& slot : *chunk) slot.generation.store(first_generation_, std::memory_order_relaxed);
      free_.reserve((chunk_count_ + 1) * kChunkSlots);  // every slot has room: close() allocates nothing
      chunks_[chunk_count_].store(chunk.release(),
                                  std::memory_order_release);  // pairs with the load in slot()
      for (std::size_t i = kChunkSlots; i > 0; --i) {
        free_.push_back(static_cast<std::uint32_t>(chunk_count_ * kChunkSlots + i - 1));
      }
      ++chunk_count_;
    }
    index = free_.back();
    free_.pop_back();
  }
  Slot& entry = (*chunks_[index / kChunkSlots].load(std::memory_order_acquire))[index % kChunkSlots];
  entry.rank.store(rank, std::memory_order_relaxed);
  entry.context.store(&context, std::memory_order_relaxed);
  entry.note.store(0, std::memory_order_relaxed);
  entry.status.store(RMA_SUCCESS, std::memory_order_relaxed);
  entry.pending.store(1, std::memory_order_relaxed);
  const std::uint32_t generation = entry.generation.load(std::memory_order_relaxed) + 1;
  entry.generation.store(generation, std::memory_order_release);  // pairs with the load in known()
  return (std::uint64_t{generation} << 32U) | index;
}

void RequestTable::add_part(rma_request_t request) {
  slot(request).pending.fetch_add(1, std::memory_order_relaxed);
}

void RequestTable::leave(rma_request_t request) {
  slot(request).pending.fetch_or(kLeft, std::memory_order_relaxed);
}

RequestTable::End RequestTable::finish_part(rma_request_t request, rma_status_t status) {
  Slot& entry = slot(request);
  if (status != RMA_SUCCESS) {
    rma_status_t none = RMA_SUCCESS;  // the first failure stays
    entry.status.compare_exchange_strong(none, status, std::memory_order_relaxed);
  }
  // Pairs with the load in complete().
  const std::uint32_t before = entry.pending.fetch_sub(1, std::memory_order_acq_rel);
  if ((before & ~kLeft) != 1) return End::pending;
  return before == 1 ? End::complete : End::left;
}

bool RequestTable::known(rma_request_t request) const {
  const std::size_t chunk = index_of(request) / kChunkSlots;
  if (chunk >= kMaxChunks || chunks_[chunk].load(std::memory_order_acquire) == nullptr) return false;
  const std::uint32_t generation = generation_of(request);
  return generation % 2 == 1 && slot(request).generation.load(std::memory_order_acquire) == generation;
}

bool RequestTable::complete(rma_request_t request) const {
  return (slot(request).pending.load(std::memory_order_acquire) & ~kLeft) == 0;
}

int RequestTable::rank(rma_request_t request) const {
  return slot(request).rank.load(std::memory_order_relaxed);
}

rma_status_t RequestTable::close(rma_request_t request) {
  Slot& entry = slot(request);
  const rma_status_t status = entry.status.load(std::memory_order_relaxed);
  entry.generation.store(generation_of(request) + 1, std::memory_order_release);
  const std::lock_guard guard(lock_);
  free_.push_back(index_of(request));
  return status;
}

}  // namespace rma
