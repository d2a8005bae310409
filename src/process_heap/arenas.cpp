#include "process_heap/arenas.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <string_view>

#include "malloc/jemalloc.hpp"
#include "process_heap/memory_watch.hpp"
#include "process_heap/next.hpp"
#include "process_heap/populated.hpp"
#include "process_heap/range.hpp"

namespace librma::process_heap {
namespace {

constexpr std::size_t kRecordsAlignment = std::size_t{1} << 21U;  // --with-lg-hugepage=21
// jemalloc takes more at a time the more it has. Beyond this size it takes what it needs.
constexpr std::size_t kMostAhead = std::size_t{64} << 20U;
// Freed pages of less than this are cleared by stores, which is quicker than to have the system make them
// anew.
constexpr std::size_t kLeastRemoved = std::size_t{1} << 20U;

/// The hooks that jemalloc begins with, which take ordinary memory.
constinit RmaJeExtentHooks* ordinary = nullptr;
/// Whether blocks get memory of the range. Until then they get none but what jemalloc has left.
constinit bool range_is_open = false;

// The next functions return false for success, as jemalloc wants it.

void* alloc(RmaJeExtentHooks* /*hooks*/, void* new_address, std::size_t bytes, std::size_t alignment,
            bool* zero, bool* commit, unsigned /*arena*/) {
  if (new_address != nullptr) return nullptr;  // to grow a block in place, which is optional
  // Only requests for jemalloc's own records have this alignment, because jemalloc aligns the program's
  // blocks itself. If it ever passes on a block's, that block lies in ordinary memory.
  if (alignment < kRecordsAlignment) {
    if (!range_is_open) return nullptr;
    // Blocks beyond the range are the C library's.
    std::byte* const address = range.take(bytes, alignment);
    *zero = address != nullptr;
    *commit = false;  // jemalloc calls commit() for each part that it begins to use
    return address;
  }
  return ordinary->alloc(ordinary, nullptr, bytes, alignment, zero, commit, 0);
}

// jemalloc keeps the addresses.
bool dalloc(RmaJeExtentHooks* /*hooks*/, void* /*address*/, std::size_t /*bytes*/, bool /*committed*/,
            unsigned /*arena*/) {
  return true;
}

void destroy(RmaJeExtentHooks* /*hooks*/, void* /*address*/, std::size_t /*bytes*/, bool /*committed*/,
             unsigned /*arena*/) {}

bool commit(RmaJeExtentHooks* /*hooks*/, void* address, std::size_t /*bytes*/, std::size_t offset,
            std::size_t length, unsigned /*arena*/) {
  std::byte* const first = static_cast<std::byte*>(address) + offset;
  if (range.holds(first) && !range.owned()) {
    memory_watch.note(length);
    populated.use(first, length);
  }
  return false;
}

bool decommit(RmaJeExtentHooks* /*hooks*/, void* address, std::size_t /*bytes*/, std::size_t offset,
              std::size_t length, unsigned /*arena*/) {
  void* const first = static_cast<std::byte*>(address) + offset;
  return !range.holds(first) || !range.remove_pages(first, length);
}

bool purge_forced(RmaJeExtentHooks* /*hooks*/, void* address, std::size_t /*bytes*/, std::size_t offset,
                  std::size_t length, unsigned /*arena*/) {
  void* const first = static_cast<std::byte*>(address) + offset;
  if (range.holds(first)) return !range.remove_pages(first, length);
  return next().madvise(first, length, MADV_DONTNEED) != 0;
}

bool split(RmaJeExtentHooks* /*hooks*/, void* /*address*/, std::size_t /*bytes*/, std::size_t /*a*/,
           std::size_t /*b*/, bool /*committed*/, unsigned /*arena*/) {
  return false;
}

bool merge(RmaJeExtentHooks* /*hooks*/, void* a, std::size_t /*a_bytes*/, void* b, std::size_t /*b_bytes*/,
           bool /*committed*/, unsigned /*arena*/) {
  return range.holds(a) != range.holds(b);
}

constinit RmaJeExtentHooks hooks = {.alloc = alloc,
                                    .dalloc = dalloc,
                                    .destroy = destroy,
                                    .commit = commit,
                                    .decommit = decommit,
                                    .purge_lazy = nullptr,
                                    .purge_forced = purge_forced,
                                    .split = split,
                                    .merge = merge};

/// The name of a control of an arena, "arena.<index>.<what>".
class ArenaControl {
 public:
  ArenaControl(unsigned index, std::string_view what) noexcept {
    constexpr std::string_view kFront = "arena.";
    char* at = std::copy(kFront.begin(), kFront.end(), name_.data());
    at = std::to_chars(at, name_.data() + name_.size(), index).ptr;
    *at++ = '.';
    std::copy(what.begin(), what.end(), at);
  }
  [[nodiscard]] const char* name() const noexcept { return name_.data(); }

 private:
  std::array<char, 48> name_ = {};
};

/// Uses up the ordinary memory that jemalloc took for itself before it had the hooks, and has left: at most 2
/// MiB of addresses of arena 0, which are never touched. Otherwise the first blocks of the program would lie
/// there. There is a try for each size class, the largest first, because each may have free room of its own.
/// Precondition: the range is not open, so that no try takes pages of it.
void forget_ordinary_memory() noexcept {
  constexpr int kArena0 = (1 << 20U) | (1 << 8U);  // MALLOCX_ARENA(0) | MALLOCX_TCACHE_NONE
  constexpr std::size_t kLargest = std::size_t{1} << 20U;
  constexpr int kMostBlocks = 4096;
  int blocks = 0;
  for (std::size_t group = kLargest; group >= 8; group /= 2) {
    for (std::size_t quarters = 7; quarters >= 4; --quarters) {
      while (librma_je_mallocx(group / 4 * quarters, kArena0) != nullptr && ++blocks < kMostBlocks) {
      }
    }
  }
}

}  // namespace

bool take_from_range() noexcept {
  unsigned arenas = 0;
  std::size_t bytes = sizeof arenas;
  librma_je_mallctl("opt.narenas", &arenas, &bytes, nullptr, 0);
  bytes = sizeof(void*);
  int error = librma_je_mallctl("arena.0.extent_hooks", static_cast<void*>(&ordinary), &bytes, nullptr, 0);
  for (unsigned arena = 0; error == 0 && arena < arenas; ++arena) {
    auto* mine = &hooks;
    error = librma_je_mallctl(ArenaControl(arena, "extent_hooks").name(), nullptr, nullptr,
                              static_cast<void*>(&mine), sizeof(void*));
    std::size_t limit = kMostAhead;
    if (error == 0) {
      error = librma_je_mallctl(ArenaControl(arena, "retain_grow_limit").name(), nullptr, nullptr, &limit,
                                sizeof limit);
    }
  }
  if (error != 0) return false;
  forget_ordinary_memory();
  range_is_open = true;
  return true;
}

void give_back_freed_pages() noexcept {
  const int error_number = errno;
  constexpr unsigned kAll = 4096;  // MALLCTL_ARENAS_ALL
  librma_je_mallctl(ArenaControl(kAll, "purge").name(), nullptr, nullptr, nullptr, 0);
  errno = error_number;
}

}  // namespace librma::process_heap

extern "C" {

// Functions that jemalloc calls (cmake/jemalloc.cmake).

/// jemalloc reads the environment variable with its options through this function.
char* librma_je_secure_getenv(const char* name);
char* librma_je_secure_getenv(const char* /*name*/) { return nullptr; }

/// jemalloc takes ordinary memory through this function. Small requests are for its records, in blocks of
/// 2 MiB of which it uses little (see arena.cpp of src/malloc), and these are not to take huge pages.
void* librma_je_mmap(void* address, std::size_t bytes, int protection, int flags, int fd, off_t offset);
void* librma_je_mmap(void* address, std::size_t bytes, int protection, int flags, int fd, off_t offset) {
  constexpr std::size_t kMostForRecords = std::size_t{4} << 20U;
  void* const mapped = ::mmap(address, bytes, protection, flags, fd, offset);
  // A kernel without huge pages refuses. It has none to give, so the error does not matter.
  if (mapped != MAP_FAILED && bytes <= kMostForRecords) {
    static_cast<void>(librma::process_heap::next().madvise(mapped, bytes, MADV_NOHUGEPAGE));
  }
  return mapped;
}

/// jemalloc clears memory by MADV_DONTNEED, but that call does not clear shared memory.
int librma_je_madvise(void* address, std::size_t bytes, int advice);
int librma_je_madvise(void* address, std::size_t bytes, int advice) {
  using librma::process_heap::range;
  if (!range.holds(address) || advice != MADV_DONTNEED) {
    return librma::process_heap::next().madvise(address, bytes, advice);
  }
  // After -1, jemalloc clears it by stores.
  return bytes >= librma::process_heap::kLeastRemoved && range.remove_pages(address, bytes) ? 0 : -1;
}
}
