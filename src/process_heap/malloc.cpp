// The program's malloc, in place of the C library's. Every function is that of the C standard, POSIX or the
// GNU C library of the same name, and behaves as its manual page says.

#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "malloc/process_heap.hpp"
#include "process_heap/arenas.hpp"
#include "process_heap/life.hpp"
#include "process_heap/memory_watch.hpp"
#include "process_heap/next.hpp"
#include "process_heap/range.hpp"
#include "util/system/page_size.hpp"

extern "C" {

/// jemalloc's options. A freed page stays for 10 s, for the next allocations. Then the system gets it back.
extern const char* librma_je_malloc_conf;
const char* librma_je_malloc_conf =
    "narenas:8,retain:true,dss:disabled,dirty_decay_ms:10000,muzzy_decay_ms:0,background_thread:false";

void* librma_je_malloc(std::size_t bytes);
void* librma_je_calloc(std::size_t count, std::size_t bytes);
void* librma_je_realloc(void* block, std::size_t bytes);
void librma_je_free(void* block);
int librma_je_posix_memalign(void** block, std::size_t alignment, std::size_t bytes);
void* librma_je_aligned_alloc(std::size_t alignment, std::size_t bytes);
std::size_t librma_je_malloc_usable_size(void* block);
}

namespace librma::process_heap {
namespace {

/// Returns whether a block of `bytes` bytes should come from jemalloc. Acquire: pairs with the release in
/// life.cpp, so that jemalloc is ready.
inline bool shares(std::size_t bytes) noexcept {
  return bytes < least_private.load(std::memory_order_acquire);
}

/// jemalloc aligns blocks of up to 8 bytes to 8, and the C library aligns all as for the strictest type, as
/// programs expect. So no block is shorter than that alignment.
inline std::size_t at_least_aligned(std::size_t bytes) noexcept {
  return std::max(bytes, alignof(std::max_align_t));
}

/// Returns a block of jemalloc's if it lies in the range, and else null: the program frees a block outside of
/// it by the C library. jemalloc has ordinary memory for its records, of which something may be left.
inline void* in_range(void* block) noexcept {
  if (block == nullptr || range.holds(block)) [[likely]]
    return block;
  librma_je_free(block);
  return nullptr;
}

/// The process is about to take private memory. Gives the freed pages of the range to the system if that
/// would else come near the limit of the control group.
inline void make_room(std::size_t bytes) noexcept {
  if (memory_watch.is_short(bytes) || memory_watch.take_wanted()) [[unlikely]]
    give_back_freed_pages();
}

/// Calls `shared` for a block of `bytes` bytes if that should be jemalloc's, and `other` if it should not, or
/// if jemalloc has no memory.
template <class Shared, class Other>
inline void* allocate(std::size_t bytes, Shared shared, Other other) noexcept {
  if (shares(bytes) || begin_for(bytes)) [[likely]] {
    if (void* const block = in_range(shared()); block != nullptr) [[likely]]
      return block;
  }
  make_room(bytes);
  return other();
}

/// Moves a block of the range to where a new block of `bytes` bytes belongs.
void* move(void* block, std::size_t bytes) noexcept {
  make_room(bytes);
  void* const moved = next().malloc(bytes);
  if (moved == nullptr) return nullptr;
  __builtin_memcpy(moved, block, std::min(bytes, librma_je_malloc_usable_size(block)));
  librma_je_free(block);
  return moved;
}

}  // namespace
}  // namespace librma::process_heap

extern "C" {

void* malloc(std::size_t bytes) noexcept {
  return librma::process_heap::allocate(
      bytes, [&] { return librma_je_malloc(librma::process_heap::at_least_aligned(bytes)); },
      [&] { return librma::process_heap::next().malloc(bytes); });
}

void* calloc(std::size_t count, std::size_t bytes) noexcept {
  std::size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) all = SIZE_MAX;
  return librma::process_heap::allocate(
      all, [&] { return librma_je_calloc(1, librma::process_heap::at_least_aligned(all)); },
      [&] { return librma::process_heap::next().calloc(count, bytes); });
}

void* realloc(void* block, std::size_t bytes) noexcept {
  using librma::process_heap::range;
  if (block == nullptr) return malloc(bytes);
  if (!range.holds(block)) {
    librma::process_heap::make_room(bytes);
    return librma::process_heap::next().realloc(block, bytes);
  }
  if (!librma::process_heap::shares(bytes)) return librma::process_heap::move(block, bytes);
  void* const resized =
      librma_je_realloc(block, bytes != 0 ? librma::process_heap::at_least_aligned(bytes) : 0);
  if (resized == nullptr) return bytes == 0 ? nullptr : librma::process_heap::move(block, bytes);
  return range.holds(resized) ? resized : librma::process_heap::move(resized, bytes);
}

void* reallocarray(void* block, std::size_t count, std::size_t bytes) noexcept {
  std::size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) {
    errno = ENOMEM;
    return nullptr;
  }
  return realloc(block, all);
}

void free(void* block) noexcept {
  if (librma::process_heap::range.holds(block)) [[likely]] {
    librma_je_free(block);
    if (librma::process_heap::memory_watch.wanted()) [[unlikely]]
      librma::process_heap::make_room(0);
  } else {
    librma::process_heap::next().free(block);
  }
}

// The functions of C23. A C library that has them must not get blocks of the range. Earlier ones do not
// declare them.
void free_sized(void* block, std::size_t bytes) noexcept;
void free_sized(void* block, std::size_t /*bytes*/) noexcept { free(block); }

void free_aligned_sized(void* block, std::size_t alignment, std::size_t bytes) noexcept;
void free_aligned_sized(void* block, std::size_t /*alignment*/, std::size_t /*bytes*/) noexcept {
  free(block);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) noexcept {
  int error = 0;
  void* allocated = nullptr;
  void* const aligned = librma::process_heap::allocate(
      std::max(alignment, bytes),
      [&] {
        error = librma_je_posix_memalign(&allocated, alignment, bytes);
        return error == 0 ? allocated : nullptr;
      },
      [&]() -> void* {
        allocated = nullptr;
        error = librma::process_heap::next().posix_memalign(&allocated, alignment, bytes);
        return allocated;
      });
  if (error == 0) *block = aligned;
  return error;
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  return librma::process_heap::allocate(
      std::max(alignment, bytes), [&] { return librma_je_aligned_alloc(alignment, bytes); },
      [&] { return librma::process_heap::next().aligned_alloc(alignment, bytes); });
}

void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  constexpr std::size_t kMost = ~(~std::size_t{0} >> 1U);
  if (alignment > kMost) {
    errno = EINVAL;
    return nullptr;
  }
  return aligned_alloc(std::bit_ceil(std::max(alignment, sizeof(void*))), bytes);
}

void* valloc(std::size_t bytes) noexcept { return aligned_alloc(librma::page_bytes(), bytes); }

void* pvalloc(std::size_t bytes) noexcept {
  const std::size_t page = librma::page_bytes();
  std::size_t rounded = 0;
  if (__builtin_add_overflow(bytes, page - 1, &rounded)) {
    errno = ENOMEM;
    return nullptr;
  }
  return aligned_alloc(page, rounded / page * page);
}

std::size_t malloc_usable_size(void* block) noexcept {
  return librma::process_heap::range.holds(block) ? librma_je_malloc_usable_size(block)
                                                  : librma::process_heap::next().malloc_usable_size(block);
}

int madvise(void* address, std::size_t bytes, int advice) noexcept {
  using librma::process_heap::range;
  return range.holds(address) ? range.advise(address, bytes, advice)
                              : librma::process_heap::next().madvise(address, bytes, advice);
}

/// librma calls this function (malloc/process_heap.hpp), and so makes the process heap begin if it has waited
/// for that. A child whose memory is a copy has none: its parent's file is not behind it.
const librma::ProcessHeap* rma_process_heap_3() noexcept;
const librma::ProcessHeap* rma_process_heap_3() noexcept {
  using librma::process_heap::range;
  static constinit librma::ProcessHeap shown;
  const char* reason = librma::process_heap::begin_for_librma();
  if (reason == nullptr && range.owned()) reason = "the process was forked by another one that has it";
  if (reason == nullptr && !range.has_file()) reason = "the program has closed its descriptor";
  shown = range.heap();
  shown.limit_blocks = librma::process_heap::limit_blocks;
  shown.watch_memory = [](const char* usage, std::uint64_t limit) {
    librma::process_heap::memory_watch.begin(usage, limit);
  };
  shown.reason = reason;
  return &shown;
}
}
