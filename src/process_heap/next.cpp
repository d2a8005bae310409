#include "process_heap/next.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "process_heap/range.hpp"

namespace librma::process_heap {
namespace {

/// Memory for what dlsym() allocates while the first call of next() looks for the others' functions. The
/// program has one thread then, because it cannot have made another one without malloc. Nothing of it is
/// ever freed.
class Store {
 public:
  void* take(std::size_t bytes) noexcept {
    constexpr std::size_t kAlignment = alignof(std::max_align_t);
    const std::size_t needed = (bytes + kAlignment - 1) / kAlignment * kAlignment + kAlignment;
    if (bytes > bytes_.size() || needed > bytes_.size() - used_) return nullptr;
    std::byte* const block = bytes_.data() + used_ + kAlignment;
    std::memcpy(block - sizeof bytes, &bytes, sizeof bytes);
    used_ += needed;
    return block;
  }
  [[nodiscard]] bool holds(const void* block) const noexcept {
    return static_cast<std::size_t>(static_cast<const std::byte*>(block) - bytes_.data()) < bytes_.size();
  }
  static std::size_t size_of(const void* block) noexcept {
    std::size_t bytes = 0;
    std::memcpy(&bytes, static_cast<const std::byte*>(block) - sizeof bytes, sizeof bytes);
    return bytes;
  }

 private:
  alignas(std::max_align_t) std::array<std::byte, 16384> bytes_ = {};
  std::size_t used_ = 0;
};
constinit Store store;

void* take_of_store(std::size_t bytes) { return store.take(bytes); }
void* take_cleared(std::size_t count, std::size_t bytes) {
  std::size_t all = 0;
  return __builtin_mul_overflow(count, bytes, &all) ? nullptr : store.take(all);
}
void* take_larger(void* block, std::size_t bytes) {
  void* const larger = store.take(bytes);
  if (larger != nullptr && block != nullptr) {
    std::memcpy(larger, block, std::min(bytes, Store::size_of(block)));
  }
  return larger;
}
void leave_in_store(void* /*block*/) {}
// Looking up functions needs none of these. Where a library calls one all the same, it has no memory.
int refuse_memalign(void** /*block*/, std::size_t /*alignment*/, std::size_t /*bytes*/) { return ENOMEM; }
void* refuse_alloc(std::size_t /*alignment*/, std::size_t /*bytes*/) { return nullptr; }
std::size_t size_in_store(void* block) { return Store::size_of(block); }
int refuse_advice(void* /*address*/, std::size_t /*bytes*/, int /*advice*/) {
  errno = EAGAIN;
  return -1;
}

constexpr Next kWhileLooking = {.malloc = take_of_store,
                                .calloc = take_cleared,
                                .realloc = take_larger,
                                .free = leave_in_store,
                                .posix_memalign = refuse_memalign,
                                .aligned_alloc = refuse_alloc,
                                .malloc_usable_size = size_in_store,
                                .madvise = refuse_advice};
constinit Next found = kWhileLooking;

enum class Search : unsigned char { none, under_way, done };
constinit std::atomic<Search> search = Search::none;

// For blocks of the store, which may come back after the search.
void (*next_free)(void*) = nullptr;
void* (*next_realloc)(void*, std::size_t) = nullptr;

void free_unless_stored(void* block) {
  if (!store.holds(block)) next_free(block);
}
void* realloc_stored_too(void* block, std::size_t bytes) {
  if (!store.holds(block)) return next_realloc(block, bytes);
  void* const moved = found.malloc(bytes);
  if (moved != nullptr) std::memcpy(moved, block, std::min(bytes, Store::size_of(block)));
  return moved;
}

template <class Function>
void look_up(Function*& function, const char* name) noexcept {
  function = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
  if (function == nullptr) {
    say("no other library has the functions of malloc", 0);
    std::abort();
  }
}

[[gnu::cold, gnu::noinline]] void look_up_all() noexcept {
  search.store(Search::under_way, std::memory_order_relaxed);
  const int error_number = errno;
  look_up(found.malloc, "malloc");
  look_up(found.calloc, "calloc");
  look_up(next_realloc, "realloc");
  look_up(next_free, "free");
  look_up(found.posix_memalign, "posix_memalign");
  look_up(found.aligned_alloc, "aligned_alloc");
  look_up(found.malloc_usable_size, "malloc_usable_size");
  look_up(found.madvise, "madvise");
  found.free = free_unless_stored;
  found.realloc = realloc_stored_too;
  errno = error_number;
  search.store(Search::done, std::memory_order_relaxed);
}

/// Returns where the object that has this address begins in memory.
void* object_of(const void* address) noexcept {
  Dl_info about{};
  return address != nullptr && ::dladdr(address, &about) != 0 ? about.dli_fbase : nullptr;
}

/// Returns whether the address is that of an executable's jump to a function of another object. In an
/// executable that is not position independent and takes the address of a function, such a jump stands for
/// the function in the whole process: dlsym() finds it too.
bool is_jump(const void* address) noexcept {
  Dl_info about{};
  void* symbol = nullptr;
  return ::dladdr1(address, &about, &symbol, RTLD_DL_SYMENT) != 0 && symbol != nullptr &&
         static_cast<const ElfW(Sym)*>(symbol)->st_shndx == SHN_UNDEF;
}

constinit std::atomic<bool> called = false;

/// Returns whether a call of malloc by another object reaches this library.
bool calls_come_here() noexcept {
  called.store(false, std::memory_order_relaxed);
  char* const copy = ::strdup("");  // the C library calls malloc as every object does
  ::free(copy);
  // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): free() is this library's
  return called.load(std::memory_order_relaxed);
}

/// Returns whether the function of this name that the program calls is this library's.
bool serves(const char* name) noexcept {
  const void* const first = ::dlsym(RTLD_DEFAULT, name);
  return object_of(first) == object_of(&found) || (is_jump(first) && calls_come_here());
}

}  // namespace

void note_call_of_malloc() noexcept {
  // Relaxed: the thread that asks has made the call itself. A call of another thread gives the same answer.
  called.store(true, std::memory_order_relaxed);
}

const Next& next() noexcept {
  switch (search.load(std::memory_order_relaxed)) {
    case Search::done:
      break;
    case Search::none:
      look_up_all();
      break;
    case Search::under_way:
      return kWhileLooking;
  }
  return found;
}

bool next_is_c_library() noexcept {
  const Next& others = next();
  // A function of the C library that nobody replaces.
  const void* const c_library = object_of(::dlsym(RTLD_NEXT, "gnu_get_libc_version"));
  return object_of(reinterpret_cast<const void*>(others.malloc)) == c_library &&
         object_of(reinterpret_cast<const void*>(next_free)) == c_library && serves("malloc") &&
         serves("free");
}

}  // namespace librma::process_heap
