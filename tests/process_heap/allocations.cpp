// The functions of malloc against a model: threads allocate, grow, shrink and free blocks, also those of
// other threads. Every byte of a block keeps its value, blocks do not overlap, and all that have pages of
// their own lie in the process heap.

#include <malloc.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <random>
#include <set>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "heap.hpp"
#include "unit/seed.hpp"

// Of C23; the header of an earlier C library does not have them.
extern "C" void free_sized(void* block, std::size_t bytes) noexcept;
extern "C" void free_aligned_sized(void* block, std::size_t alignment, std::size_t bytes) noexcept;

namespace {

struct Block {
  unsigned char* address = nullptr;
  std::size_t bytes = 0;
  unsigned char value = 0;
};

const librma::ProcessHeap* heap = nullptr;

bool in_heap(const void* address) { return lies_in(*heap, address); }

void expect(const Block& block, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; ++at) CHECK(block.address[at] == block.value);
}

/// Blocks that any thread may take next.
class Pool {
 public:
  void give(Block block) {
    const std::lock_guard lock(mutex_);
    blocks_.push_back(block);
  }
  Block take(std::size_t which) {
    const std::lock_guard lock(mutex_);
    if (blocks_.empty()) return {};
    std::swap(blocks_[which % blocks_.size()], blocks_.back());
    const Block block = blocks_.back();
    blocks_.pop_back();
    return block;
  }

 private:
  std::mutex mutex_;
  std::vector<Block> blocks_;
};

class Worker {
 public:
  Worker(Pool& pool, std::uint64_t seed) : pool_(pool), random_(seed) {}

  void run(int steps) {
    for (int step = 0; step < steps; ++step) {
      if (random_() % 2 == 0) {
        make();
      } else if (Block block = pool_.take(random_()); block.address != nullptr) {
        random_() % 3 == 0 ? resize(block) : end(block);
      }
    }
  }

 private:
  // Mostly small, some of pages, few of MiB.
  std::size_t size() {
    const std::uint64_t kind = random_() % 100;
    return 1 + random_() % (kind < 80 ? 1000U : kind < 98 ? 100'000U : 3'000'000U);
  }

  void make() {
    Block block = {.address = nullptr, .bytes = size(), .value = static_cast<unsigned char>(random_())};
    std::size_t alignment = 16;
    void* address = nullptr;
    switch (random_() % 6) {
      case 0:
        address = std::calloc(block.bytes, 1);
        for (std::size_t at = 0; at < block.bytes; ++at) CHECK(static_cast<unsigned char*>(address)[at] == 0);
        break;
      case 1:
        alignment = std::size_t{8} << random_() % 14U;
        CHECK(posix_memalign(&address, alignment, block.bytes) == 0);
        break;
      case 2:
        alignment = std::size_t{16} << random_() % 18U;  // to 2 MiB
        address = memalign(alignment, block.bytes);
        break;
      default:
        address = std::malloc(block.bytes);
        break;
    }
    CHECK(address != nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(address) % alignment == 0);
    CHECK(malloc_usable_size(address) >= block.bytes);
    if (block.bytes > 4096 && alignment < 4096) CHECK(in_heap(address));
    block.address = static_cast<unsigned char*>(address);
    std::memset(block.address, block.value, block.bytes);
    pool_.give(block);
  }

  void resize(Block block) {
    const std::size_t bytes = size();
    void* const moved = std::realloc(block.address, bytes);
    CHECK(moved != nullptr);
    block.address = static_cast<unsigned char*>(moved);
    expect(block, std::min(bytes, block.bytes));
    block.bytes = bytes;
    std::memset(block.address, block.value, block.bytes);
    pool_.give(block);
  }

  static void end(const Block& block) {
    expect(block, block.bytes);
    std::free(block.address);
  }

  Pool& pool_;
  std::mt19937_64 random_;
};

void check_limits() {
  // As its users see it: the compiler must not know what it returns.
  void* (*volatile const allocate)(std::size_t) = std::malloc;
  void* (*volatile const allocate_cleared)(std::size_t, std::size_t) = std::calloc;
  void* (*volatile const resize)(void*, std::size_t, std::size_t) = reallocarray;
  errno = 0;
  CHECK(allocate(~std::size_t{0} / 2) == nullptr && errno == ENOMEM);
  errno = 0;
  CHECK(allocate_cleared(~std::size_t{0} / 2, 4) == nullptr && errno == ENOMEM);
  errno = 0;
  CHECK(resize(nullptr, ~std::size_t{0} / 2, 4) == nullptr && errno == ENOMEM);
  void* none = nullptr;
  CHECK(posix_memalign(&none, 24, 8) == EINVAL && none == nullptr);
  void* const empty = allocate(0);
  CHECK(empty != nullptr);
  std::free(empty);
  std::free(nullptr);
  void* const page = pvalloc(1);
  CHECK(reinterpret_cast<std::uintptr_t>(page) % 4096 == 0 && malloc_usable_size(page) >= 4096);
  std::free(page);
}

// C23's functions give a block back: its page comes again. jemalloc draws a cache line within the page for
// each block that asks for no alignment, and it may use several places in turn.
void check_sized_free() {
  constexpr std::size_t kTurns = 100;
  constexpr std::size_t kBlock = 300'000;
  std::set<std::uintptr_t> pages;
  std::set<std::uintptr_t> aligned_pages;
  for (std::size_t turn = 0; turn < kTurns; ++turn) {
    void* const block = std::malloc(kBlock);
    CHECK(in_heap(block));
    pages.insert(reinterpret_cast<std::uintptr_t>(block) / 4096);
    free_sized(block, kBlock);
    void* const aligned = std::aligned_alloc(4096, 4096 * 100);
    CHECK(in_heap(aligned));
    aligned_pages.insert(reinterpret_cast<std::uintptr_t>(aligned) / 4096);
    free_aligned_sized(aligned, 4096, 4096 * 100);
  }
  CHECK(pages.size() < kTurns && aligned_pages.size() < kTurns);
}

// A large block that was freed dirty must read as zeros when calloc gives its memory out again.
void check_cleared_again() {
  constexpr std::array kSizes = {std::size_t{300'000}, std::size_t{3'000'000}, std::size_t{4} << 20U};
  for (const std::size_t bytes : kSizes) {
    for (int turn = 0; turn < 4; ++turn) {
      auto* const dirty = static_cast<unsigned char*>(std::calloc(bytes, 1));
      CHECK(dirty != nullptr && in_heap(dirty));
      for (std::size_t at = 0; at < bytes; ++at) CHECK(dirty[at] == 0);
      std::memset(dirty, 0xff, bytes);
      std::free(dirty);
    }
  }
}

}  // namespace

int main() {
  heap = &shown_heap();
  CHECK(heap->reason == nullptr);
  check_limits();
  check_sized_free();
  check_cleared_again();
  const std::uint64_t seed = test_seed();
  Pool pool;
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&pool, seed, thread] { Worker(pool, seed + thread).run(4000); });
  }
  for (std::thread& thread : threads) thread.join();
  std::puts("allocations: right");
}
