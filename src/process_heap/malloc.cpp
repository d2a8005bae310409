// The program's malloc, in place of the C library's. Every function is that of the C standard, POSIX or the
// GNU C library of the same name, and behaves as its manual page says.

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "malloc/process_heap.hpp"
#include "process_heap/arenas.hpp"
#include "process_heap/fork.hpp"
#include "process_heap/range.hpp"

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

namespace rma::process_heap {
namespace {

enum class Start : unsigned char { fresh, under_way, done };
constinit std::atomic<Start> start = Start::fresh;

/// Sets the process heap up in the first allocation, before the program has threads. Allocations in the
/// course of it get ordinary memory, and would do so on other threads.
[[gnu::cold, gnu::noinline]] void set_up() noexcept {
  // The dynamic loader allocates before the C library knows the environment.
  if (environ == nullptr) return;
  auto expected = Start::fresh;
  if (!start.compare_exchange_strong(expected, Start::under_way, std::memory_order_relaxed)) return;
  const int error_number = errno;
  const char* const setting = std::getenv("RMA_PROCESS_HEAP");
  if ((setting == nullptr || std::string_view(setting) != "0") && range.reserve()) {
    copy_at_fork();
    take_from_range();
  }
  errno = error_number;
  start.store(Start::done, std::memory_order_relaxed);
}

inline void begin() noexcept {
  if (start.load(std::memory_order_relaxed) == Start::fresh) [[unlikely]]
    set_up();
}

std::size_t page_bytes() noexcept { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

}  // namespace
}  // namespace rma::process_heap

extern "C" {

void* malloc(std::size_t bytes) noexcept {
  rma::process_heap::begin();
  return librma_je_malloc(bytes);
}

void* calloc(std::size_t count, std::size_t bytes) noexcept {
  rma::process_heap::begin();
  return librma_je_calloc(count, bytes);
}

void* realloc(void* block, std::size_t bytes) noexcept {
  rma::process_heap::begin();
  return librma_je_realloc(block, bytes);
}

void* reallocarray(void* block, std::size_t count, std::size_t bytes) noexcept {
  std::size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) {
    errno = ENOMEM;
    return nullptr;
  }
  return realloc(block, all);
}

void free(void* block) noexcept { librma_je_free(block); }

int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) noexcept {
  rma::process_heap::begin();
  return librma_je_posix_memalign(block, alignment, bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  rma::process_heap::begin();
  return librma_je_aligned_alloc(alignment, bytes);
}

void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  constexpr std::size_t kMost = ~(~std::size_t{0} >> 1U);
  if (alignment > kMost) {
    errno = EINVAL;
    return nullptr;
  }
  return aligned_alloc(std::bit_ceil(std::max(alignment, sizeof(void*))), bytes);
}

void* valloc(std::size_t bytes) noexcept { return aligned_alloc(rma::process_heap::page_bytes(), bytes); }

void* pvalloc(std::size_t bytes) noexcept {
  const std::size_t page = rma::process_heap::page_bytes();
  std::size_t rounded = 0;
  if (__builtin_add_overflow(bytes, page - 1, &rounded)) {
    errno = ENOMEM;
    return nullptr;
  }
  return aligned_alloc(page, rounded / page * page);
}

std::size_t malloc_usable_size(void* block) noexcept { return librma_je_malloc_usable_size(block); }

/// librma calls this function (malloc/process_heap.hpp). A child whose memory is a copy has no process heap:
/// its parent's file is not behind it.
const rma::ProcessHeap* rma_process_heap_1() noexcept;
const rma::ProcessHeap* rma_process_heap_1() noexcept {
  using rma::process_heap::range;
  if (range.heap().bytes == 0 || range.owned()) return nullptr;
  if (!range.has_file()) {
    rma::process_heap::say("the program has closed its descriptor, so other processes cannot map it", 0);
    return nullptr;
  }
  return &range.heap();
}
}
