// The symmetric heap: one range of addresses, equal on all PEs, that gets its memory as blocks need it. All
// PEs make the same calls, and Offsets decides alike on all of them. So a block costs one barrier, which
// OpenSHMEM asks for anyway, and it lies at the same offset everywhere.

#include "shmem/memory/heap.hpp"

#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>

#include "rma/rma.h"
#include "shmem/job/job.hpp"
#include "shmem/memory/offsets.hpp"

namespace librma::shmem {
namespace {

/// Alignments of the heap's base, the first that fits. Equal offsets give equal alignment on all PEs up to
/// this. It costs addresses only.
constexpr std::size_t kMostAlignment = std::size_t{1} << 30U;
constexpr std::size_t kLeastMostAlignment = std::size_t{2} << 20U;
/// The size that is tried first without SHMEM_SYMMETRIC_SIZE. Addresses cost nothing.
constexpr std::size_t kDefaultBytes = std::size_t{16} << 30U;
constexpr std::size_t kLeastBytes = std::size_t{1} << 20U;
/// Memory is taken in multiples of this number of bytes.
constexpr std::size_t kStep = std::size_t{1} << 20U;

struct Heap {
  std::byte* base;
  std::size_t bytes;
  std::size_t alignment;  ///< of the base
  Offsets offsets;
  std::size_t committed = 0;  ///< this many bytes from the base have memory
};

std::mutex heap_lock;  // guards `own_heap`: several threads of a PE may take turns
std::unique_ptr<Heap> own_heap;

Heap& opened(Call call) {
  require_initialized(call);
  return *own_heap;
}

/// With SHMEM_DEBUG, ends the job unless all PEs give the same numbers.
void check_agreed(Call call, std::size_t first, std::size_t second) {
  if (!job.debug) return;
  const long mine[] = {static_cast<long>(first),
                       static_cast<long>(second)};  // NOLINT(modernize-avoid-c-arrays)
  long least[2];                                    // NOLINT(modernize-avoid-c-arrays)
  long most[2];                                     // NOLINT(modernize-avoid-c-arrays)
  require(rma_allreduce(rma_team_world(), least, mine, 2, RMA_LONG, RMA_MIN), call);
  require(rma_allreduce(rma_team_world(), most, mine, 2, RMA_LONG, RMA_MAX), call);
  if (std::memcmp(least, most, sizeof least) != 0) die(call, "the PEs gave different arguments");
}

/// Makes sure that the first `bytes` bytes of the heap have memory, on all PEs. Returns false on all if one
/// has none.
bool grow(Call call, Heap& into, std::size_t bytes) {
  const std::size_t wanted = std::min(into.bytes, (bytes + kStep - 1) / kStep * kStep);
  const rma_status_t status = rma_commit(into.base + into.committed, wanted - into.committed);
  if (status != RMA_ERR_NO_MEMORY) require(status, call);
  const int mine = status == RMA_SUCCESS ? 1 : 0;
  int all = 0;
  require(rma_allreduce(rma_team_world(), &all, &mine, 1, RMA_INT, RMA_MIN), call);
  // Memory of a failed attempt stays: the next attempt begins at the same place.
  if (all != 0) into.committed = wanted;
  return all != 0;
}

/// Makes a block without a barrier. Returns null if there is no room.
std::byte* take(Call call, Heap& from, std::size_t bytes, std::size_t alignment) {
  if (alignment > from.alignment) return nullptr;
  const auto offset = from.offsets.take(bytes, alignment);
  if (!offset) return nullptr;
  if (*offset + bytes > from.committed && !grow(call, from, *offset + bytes)) {
    from.offsets.give(*offset);
    return nullptr;
  }
  return from.base + *offset;
}

std::size_t offset_of(Call call, const Heap& in, const void* block) {
  const auto* const at = static_cast<const std::byte*>(block);
  if (at < in.base || !in.offsets.size_at(static_cast<std::size_t>(at - in.base))) {
    die(call,
        fmt::format("{} is not the start of a block of the symmetric heap: freed before, or never allocated",
                    block));
  }
  return static_cast<std::size_t>(at - in.base);
}

void meet(Call call) { require(rma_barrier(rma_team_world()), call); }

}  // namespace

HeapRange open_heap(const Options& options) {
  const Call call = "shmem_init";
  std::size_t bytes = options.symmetric_size.value_or(kDefaultBytes);
  bytes = (bytes + Offsets::kUnit - 1) / Offsets::kUnit * Offsets::kUnit;
  void* base = nullptr;
  rma_status_t status = RMA_ERR_NO_MEMORY;
  std::size_t alignment = kMostAlignment;
  // All PEs fail or none does, so all try the same sizes and alignments.
  while (true) {
    status = rma_reserve(rma_team_world(), bytes, alignment, nullptr, &base);
    if (status != RMA_ERR_NO_MEMORY) break;
    if (alignment > kLeastMostAlignment) {
      alignment = kLeastMostAlignment;
      continue;
    }
    if (options.symmetric_size || bytes <= kLeastBytes) {
      die(call,
          fmt::format("no symmetric heap of {} bytes (SHMEM_SYMMETRIC_SIZE): {}", bytes, rma_last_error()));
    }
    bytes /= 2;
    alignment = kMostAlignment;
  }
  require(status, call);
  own_heap.reset(new Heap{.base = static_cast<std::byte*>(base),
                          .bytes = bytes,
                          .alignment = alignment,
                          .offsets = Offsets(bytes)});
  return {.base = base, .bytes = bytes};
}

void close_heap() {
  require(rma_free(rma_team_world(), own_heap->base), "shmem_finalize");
  own_heap.reset();
}

void* allocate(Call call, std::size_t bytes) { return allocate_aligned(call, Offsets::kUnit, bytes); }

// The hints promise how a block will be used. All blocks serve all uses.
void* allocate_with_hints(Call call, std::size_t bytes, long /*hints*/) { return allocate(call, bytes); }

void* allocate_aligned(Call call, std::size_t alignment, std::size_t bytes) {
  const std::lock_guard guard(heap_lock);
  Heap& from = opened(call);
  if (!std::has_single_bit(alignment))
    die(call, fmt::format("alignment {} is not a power of two", alignment));
  check_agreed(call, bytes, alignment);
  if (bytes == 0) return nullptr;
  void* const block = take(call, from, bytes, alignment);
  if (block != nullptr) meet(call);
  return block;
}

void* allocate_zeroed(Call call, std::size_t count, std::size_t size) {
  const std::lock_guard guard(heap_lock);
  Heap& from = opened(call);
  check_agreed(call, count, size);
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes) || bytes == 0) return nullptr;
  void* const block = take(call, from, bytes, Offsets::kUnit);
  if (block == nullptr) return nullptr;
  std::memset(block, 0, bytes);
  meet(call);
  return block;
}

void* reallocate(Call call, void* block, std::size_t bytes) {
  if (block == nullptr) return allocate(call, bytes);
  if (bytes == 0) {
    deallocate(call, block);
    return nullptr;
  }
  const std::lock_guard guard(heap_lock);
  Heap& from = opened(call);
  const std::size_t old_offset = offset_of(call, from, block);
  check_agreed(call, bytes, old_offset);
  const std::size_t old_bytes = *from.offsets.size_at(old_offset);
  // Other PEs may still write to the old block until they come here.
  meet(call);
  if (bytes <= old_bytes) return block;
  void* const larger = take(call, from, bytes, Offsets::kUnit);
  if (larger == nullptr) return nullptr;
  std::memcpy(larger, block, old_bytes);
  from.offsets.give(old_offset);
  meet(call);
  return larger;
}

void deallocate(Call call, void* block) {
  const std::lock_guard guard(heap_lock);
  Heap& from = opened(call);
  if (block == nullptr) return;
  const std::size_t offset = offset_of(call, from, block);
  check_agreed(call, offset, 0);
  // After this no PE uses the block any more.
  meet(call);
  from.offsets.give(offset);
}

}  // namespace librma::shmem
