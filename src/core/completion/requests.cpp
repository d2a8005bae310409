#include "core/completion/requests.hpp"

#include <bit>
#include <mutex>
#include <utility>

namespace librma {
namespace {

std::uint32_t generation_of(rma_request_t request) { return static_cast<std::uint32_t>(request >> 32U); }
std::uint32_t index_of(rma_request_t request) { return static_cast<std::uint32_t>(request); }

}  // namespace

constinit std::atomic<std::uint32_t> RequestTable::next_generation = 0;

// Relaxed, here and in the destructor: rma_init's lock orders the end of one table before the start of the
// next, and tables that exist at the same time share nothing.
RequestTable::RequestTable() : first_generation_(next_generation.load(std::memory_order_relaxed)) {
  constexpr std::size_t kFirstSize = 16;
  directories_.push_back(std::make_unique<Directory>(kFirstSize));
  directory_.store(directories_.back().get(), std::memory_order_relaxed);
}

RequestTable::~RequestTable() {
  std::uint32_t used = first_generation_;
  for (const auto& chunk : chunks_) {
    for (const Slot& slot : *chunk) {
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
  // These pair with the stores in grow().
  const Directory& directory = *directory_.load(std::memory_order_acquire);
  return (*directory.chunks[index / kChunkSlots].load(std::memory_order_acquire))[index % kChunkSlots];
}

void RequestTable::grow() {
  const std::size_t number = chunks_.size();
  auto chunk = std::make_unique<Chunk>();
  for (Slot& slot : *chunk) slot.generation.store(first_generation_, std::memory_order_relaxed);
  free_.reserve((number + 1) * kChunkSlots);  // every slot has room: close() allocates nothing
  chunks_.reserve(number + 1 < 16 ? 16 : std::bit_ceil(number + 1));
  if (Directory& full = *directories_.back(); full.chunks.size() == number) {
    auto larger = std::make_unique<Directory>(2 * number);
    for (std::size_t i = 0; i < number; ++i)
      larger->chunks[i].store(chunks_[i].get(), std::memory_order_relaxed);
    directories_.push_back(std::move(larger));
    directory_.store(directories_.back().get(), std::memory_order_release);
  }
  directories_.back()->chunks[number].store(chunk.get(), std::memory_order_release);
  chunks_.push_back(std::move(chunk));
  for (std::size_t i = kChunkSlots; i > 0; --i) {
    free_.push_back(static_cast<std::uint32_t>(number * kChunkSlots + i - 1));
  }
}

rma_request_t RequestTable::open(int rank, CompletionContext& context) {
  std::uint32_t index = 0;
  {
    const std::lock_guard guard(lock_);
    if (free_.empty()) {
      if (chunks_.size() == kMaxChunks) return RMA_REQUEST_NULL;
      grow();
    }
    index = free_.back();
    free_.pop_back();
  }
  Slot& entry = slot(index);
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
  const Directory& directory = *directory_.load(std::memory_order_acquire);
  if (chunk >= directory.chunks.size() || directory.chunks[chunk].load(std::memory_order_acquire) == nullptr)
    return false;
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

}  // namespace librma
