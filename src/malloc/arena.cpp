#include "malloc/arena.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/types.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <new>
#include <utility>

#include "malloc/jemalloc.hpp"
#include "util/text.hpp"

extern "C" {

/// jemalloc's options, compiled in. They turn thread caches off, because these would keep freed blocks, which
/// must leave the window. They turn retained and decaying pages off for the same reason, and background
/// threads, too.
extern const char* librma_je_malloc_conf;
const char* librma_je_malloc_conf =
    "narenas:1,tcache:false,retain:false,dirty_decay_ms:0,muzzy_decay_ms:0,background_thread:false,"
    "dss:disabled";

/// jemalloc reads the environment variable with its options through this function. It returns null, because
/// other options would break the guarantees above.
char* librma_je_secure_getenv(const char* name);
char* librma_je_secure_getenv(const char* /*name*/) { return nullptr; }

/// jemalloc takes memory for its own records through this function, in aligned blocks of 2 MiB of which it
/// touches little. On a system that gives out huge pages unasked, each block would cost a process 2 MiB. So
/// this function asks the system not to.
void* librma_je_mmap(void* address, std::size_t bytes, int protection, int flags, int fd, off_t offset);
void* librma_je_mmap(void* address, std::size_t bytes, int protection, int flags, int fd, off_t offset) {
  void* const mapped = mmap(address, bytes, protection, flags, fd, offset);
  // A kernel without huge pages refuses. It has none to give, so the error does not matter.
  if (mapped != MAP_FAILED) static_cast<void>(madvise(mapped, bytes, MADV_NOHUGEPAGE));
  return mapped;
}
}

namespace librma {
namespace {

// These replace the macros MALLOCX_ARENA and MALLOCX_LG_ALIGN of jemalloc.h. The renamed library has
// no such header.
constexpr int kNoThreadCache = 1 << 8U;  // MALLOCX_TCACHE_NONE: (-1 + 2) << 8
constexpr unsigned kArenaShift = 20;

int arena_flags(unsigned index) { return static_cast<int>((index + 1) << kArenaShift) | kNoThreadCache; }

/// The outcome of an allocation's request for an extent. jemalloc itself only says that
/// the allocation failed.
struct Attempt {
  Status refused;          ///< why the pool gave no extent
  std::size_t offset = 0;  ///< the offset of the extent that the pool gave
  std::size_t bytes = 0;   ///< the size of that extent; 0 while there is none
};
/// The attempt of this thread, while it allocates.
constinit thread_local Attempt* attempt = nullptr;

}  // namespace

/// The functions that jemalloc calls, with a pointer to the pool. jemalloc passes them the address of the
/// first member, so they find the pool.
///
/// jemalloc also takes the memory of the arena's own records through them. The records must lie outside the
/// window, where no peer can overwrite them. So that memory comes from the hooks of arena 0, which is not
/// used otherwise. Requests for records are recognized by their alignment, that of a huge page; extents for
/// blocks are aligned to a page.
struct Arena::Hooks {
  RmaJeExtentHooks functions;
  ExtentPool* pool;
  RmaJeExtentHooks* system;  ///< the hooks of arena 0

  static constexpr std::size_t kRecordsAlignment = std::size_t{1} << 21U;  // --with-lg-hugepage=21

  static Hooks& of(RmaJeExtentHooks* functions) { return *reinterpret_cast<Hooks*>(functions); }

  static void* alloc(RmaJeExtentHooks* functions, void* new_address, std::size_t bytes, std::size_t alignment,
                     bool* zero, bool* commit, unsigned /*arena*/) {
    if (new_address != nullptr)
      return nullptr;  // jemalloc wants to grow an extent in place;
                       // this is optional
    const Hooks& hooks = of(functions);
    if (alignment >= kRecordsAlignment) {
      return hooks.system->alloc(hooks.system, nullptr, bytes, alignment, zero, commit, 0);
    }
    ExtentPool& pool = *hooks.pool;
    // No exception may pass through jemalloc.
    auto offset = unless_exhausted([&] { return pool.take(bytes, alignment); });
    if (!offset.ok()) {
      if (attempt != nullptr) attempt->refused = std::move(offset).status();
      return nullptr;
    }
    if (attempt != nullptr) {
      attempt->offset = offset.value();
      attempt->bytes = bytes;
    }
    std::byte* address = pool.window().base() + offset.value();
    // The granule may have been in use before, so its bytes need not be zero. They are cleared only
    // if jemalloc asks.
    if (*zero) std::fill_n(address, bytes, std::byte{0});
    *commit = true;
    return address;
  }

  static bool dalloc(RmaJeExtentHooks* functions, void* address, std::size_t bytes, bool committed,
                     unsigned /*arena*/) {
    const Hooks& hooks = of(functions);
    const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(address) -
                                  reinterpret_cast<std::uintptr_t>(hooks.pool->window().base());
    if (offset >= hooks.pool->window().address_bytes()) {
      return hooks.system->dalloc(hooks.system, address, bytes, committed, 0);
    }
    try {
      hooks.pool->give(offset, bytes, ExtentPool::make_record());
    } catch (const std::bad_alloc&) {
      return true;  // jemalloc then keeps the extent for a later allocation
    }
    return false;
  }

  static void destroy(RmaJeExtentHooks* functions, void* address, std::size_t bytes, bool committed,
                      unsigned arena) {
    dalloc(functions, address, bytes, committed, arena);
  }

  // The pool does not distinguish extents, so jemalloc may split and merge any. false means success.
  static bool split(RmaJeExtentHooks* /*functions*/, void* /*address*/, std::size_t /*bytes*/,
                    std::size_t /*a*/, std::size_t /*b*/, bool /*committed*/, unsigned /*arena*/) {
    return false;
  }
  static bool merge(RmaJeExtentHooks* /*functions*/, void* /*a*/, std::size_t /*a_bytes*/, void* /*b*/,
                    std::size_t /*b_bytes*/, bool /*committed*/, unsigned /*arena*/) {
    return false;
  }
};

Arena::Arena(ExtentPool& pool)
    : hooks_(new Hooks{{.alloc = Hooks::alloc,
                        .dalloc = Hooks::dalloc,
                        .destroy = Hooks::destroy,
                        .commit = nullptr,  // an extent is backed from alloc to dalloc
                        .decommit = nullptr,
                        .purge_lazy = nullptr,
                        .purge_forced = nullptr,
                        .split = Hooks::split,
                        .merge = Hooks::merge},
                       &pool,
                       nullptr}) {}

Result<std::unique_ptr<Arena>> Arena::create(ExtentPool& pool) {
  std::unique_ptr<Arena> arena(new Arena(pool));
  std::size_t hooks_bytes = sizeof(void*);
  int error_number = librma_je_mallctl("arena.0.extent_hooks", static_cast<void*>(&arena->hooks_->system),
                                       &hooks_bytes, nullptr, 0);
  unsigned index = 0;
  std::size_t index_bytes = sizeof(index);
  RmaJeExtentHooks* functions = &arena->hooks_->functions;
  if (error_number == 0) {
    error_number = librma_je_mallctl("arenas.create", &index, &index_bytes, static_cast<void*>(&functions),
                                     sizeof(void*));
  }
  if (error_number != 0) {
    return system_failure(RMA_ERR_NO_MEMORY, "jemalloc cannot create an arena", error_number);
  }
  arena->index_ = index;
  arena->created_ = true;
  return arena;
}

Arena::~Arena() {
  if (!created_) return;
  // jemalloc reuses the index for the next arena.
  std::array<char, 32> name = {};
  fmt::format_to_n(name.data(), name.size() - 1, "arena.{}.destroy", index_);
  librma_je_mallctl(name.data(), nullptr, nullptr, nullptr, 0);
}

Result<std::byte*> Arena::allocate(std::size_t bytes, std::size_t alignment) {
  const int flags = arena_flags(index_) | std::countr_zero(alignment);  // MALLOCX_LG_ALIGN
  Attempt mine;
  attempt = &mine;
  void* const address = librma_je_mallocx(bytes, flags);
  attempt = nullptr;
  if (address != nullptr) return static_cast<std::byte*>(address);
  if (!mine.refused.ok()) return std::move(mine.refused);
  // jemalloc had no memory to record the extent that it got, and has forgotten it.
  if (mine.bytes != 0) hooks_->pool->give(mine.offset, mine.bytes, ExtentPool::make_record());
  return Status(RMA_ERR_NO_MEMORY,
                text("jemalloc has no memory for its record of a block of {} bytes", bytes));
}

void Arena::free(std::byte* address) { librma_je_dallocx(address, arena_flags(index_)); }

}  // namespace librma
