#include "malloc/allocator.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "../../sanitized.hpp"
#include "../seed.hpp"
#include "malloc/jemalloc.hpp"
#include "malloc/window_backing.hpp"
#include "small_window.hpp"

// A program with a jemalloc of its own. If it links, the library's jemalloc has other names.
extern "C" {
const char* malloc_conf = "";
void* mallocx(std::size_t /*bytes*/, int /*flags*/) { return nullptr; }
int mallctl(const char* /*name*/, void* /*old_value*/, std::size_t* /*old_bytes*/, void* /*new_value*/,
            std::size_t /*new_bytes*/) {
  return -1;
}
}

namespace librma {
namespace {

using testing::HasSubstr;

constexpr std::array kKinds = {MemoryKind::collective, MemoryKind::local, MemoryKind::internal};

// A window with its table and its allocator, in the order in which they must end.
struct Heap {
  explicit Heap(std::size_t limit, std::size_t reserved = 0, std::size_t keep = 0) {
    auto made = Window::create({.limit = limit});
    EXPECT_TRUE(made.ok()) << made.status().text();
    window.emplace(std::move(made).value());
    backing.emplace(*window, keep);
    regions.emplace(directory());
    auto allocating = Allocator::create(*window, *backing, *regions, reserved);
    EXPECT_TRUE(allocating.ok()) << allocating.status().text();
    allocator = std::move(allocating).value();
  }

  std::span<std::byte> directory() { return std::as_writable_bytes(std::span(words)); }

  std::byte* allocate(MemoryKind kind, std::size_t bytes, std::size_t alignment = 64) {
    auto block = allocator->allocate(kind, bytes, alignment);
    EXPECT_TRUE(block.ok()) << block.status().text();
    return block.ok() ? block.value() : nullptr;
  }

  [[nodiscard]] std::size_t bytes_held() const {
    struct stat about {};
    EXPECT_EQ(fstat(window->fd(), &about), 0);
    return static_cast<std::size_t>(about.st_blocks) * 512;
  }

  std::vector<std::uint64_t> words = std::vector<std::uint64_t>(RegionTable::directory_bytes(8) / 8);
  std::optional<Window> window;
  std::optional<WindowBacking> backing;
  std::optional<RegionTable> regions;
  std::unique_ptr<Allocator> allocator;
};

// Fills blocks of random sizes with a pattern each. An overlap, a page that was taken away or a lost write
// shows as a byte that does not belong to the pattern.
class Model {
 public:
  Model(Heap& heap, std::uint64_t seed, std::size_t max_blocks)
      : heap_(heap), random_(seed), most_(max_blocks) {}

  void step() {
    if (blocks_.size() < most_ && random_() % 5 < 3) {
      add();
    } else if (!blocks_.empty()) {
      drop(random_() % blocks_.size());
    }
  }
  void drop_all() {
    while (!blocks_.empty()) drop(blocks_.size() - 1);
  }
  [[nodiscard]] std::size_t blocks() const { return blocks_.size(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  struct Block {
    std::byte* start;
    std::size_t bytes;
    MemoryKind kind;
    std::byte pattern;
  };

  void add() {
    // Sizes over all magnitudes up to 512 KiB, alignments up to 64 KiB.
    const std::size_t bytes = 1 + random_() % (std::size_t{1} << random_() % 20U);
    const std::size_t alignment = std::size_t{1} << (random_() % 17U);
    const MemoryKind kind = kKinds[random_() % kKinds.size()];
    auto block = heap_.allocator->allocate(kind, bytes, alignment);
    ASSERT_TRUE(block.ok()) << block.status().text();
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(block.value()) % alignment, 0U);
    ASSERT_TRUE(heap_.allocator->contains(block.value(), bytes));
    const auto pattern = static_cast<std::byte>(random_());
    std::fill_n(block.value(), bytes, pattern);
    blocks_.push_back({block.value(), bytes, kind, pattern});
    bytes_ += bytes;
  }

  void drop(std::size_t index) {
    std::swap(blocks_[index], blocks_.back());
    const Block block = blocks_.back();
    blocks_.pop_back();
    bytes_ -= block.bytes;
    ASSERT_TRUE(
        std::all_of(block.start, block.start + block.bytes, [&](std::byte b) { return b == block.pattern; }));
    const Status freed = heap_.allocator->free(block.kind, block.start);
    ASSERT_TRUE(freed.ok()) << freed.text();
  }

  Heap& heap_;
  std::mt19937_64 random_;
  std::size_t most_;
  std::vector<Block> blocks_;
  std::size_t bytes_ = 0;
};

TEST(AllocatorTest, RandomBlocksKeepTheirContents) {
  Heap heap(128 * kMiB);
  Model model(heap, test_seed(), 300);
  for (int i = 0; i < 6000; ++i) {
    model.step();
    if (HasFatalFailure()) return;
    ASSERT_EQ(heap.allocator->blocks_in_use(), model.blocks());
    ASSERT_EQ(heap.allocator->bytes_in_use(), model.bytes());
    ASSERT_LE(heap.window->used(), heap.window->limit());
  }
  model.drop_all();
  EXPECT_EQ(heap.window->used(), 0U);
  EXPECT_EQ(heap.bytes_held(), 0U);
}

TEST(AllocatorTest, ThreadsShareIt) {
  Heap heap(128 * kMiB);
  const std::uint64_t seed = test_seed();
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < 4; ++i) {
    threads.emplace_back([&heap, seed, i] {
      Model model(heap, seed + i, 50);
      for (int step = 0; step < 1000 && !testing::Test::HasFatalFailure(); ++step) model.step();
      model.drop_all();
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(heap.allocator->blocks_in_use(), 0U);
  EXPECT_EQ(heap.window->used(), 0U);
}

TEST(AllocatorTest, TheWholeLimitCanBeAllocatedAgainAndAgain) {
  Heap heap(8 * kMiB);
  for (int round = 0; round < 20; ++round) {
    std::byte* all = heap.allocate(MemoryKind::collective, 8 * kMiB);
    ASSERT_NE(all, nullptr);
    std::fill_n(all, 8 * kMiB, std::byte{1});
    const auto refused = heap.allocator->allocate(MemoryKind::local, 1, 64);
    ASSERT_EQ(refused.status().code(), RMA_ERR_NO_MEMORY);
    EXPECT_THAT(std::string(refused.status().text()), HasSubstr("RMA_HEAP_SIZE"));
    EXPECT_THAT(std::string(refused.status().text()), HasSubstr("8388608 of 8388608"));
    ASSERT_TRUE(heap.allocator->free(MemoryKind::collective, all).ok());
  }
}

TEST(AllocatorTest, ExhaustedBySmallBlocksThenUsable) {
  Heap heap(2 * kMiB);
  std::vector<std::byte*> blocks;
  for (;;) {
    auto block = heap.allocator->allocate(MemoryKind::local, 1000, 8);
    if (!block.ok()) {
      EXPECT_EQ(block.status().code(), RMA_ERR_NO_MEMORY);
      EXPECT_THAT(std::string(block.status().text()), HasSubstr("RMA_HEAP_SIZE"));
      break;
    }
    std::fill_n(block.value(), 1000, std::byte{1});
    blocks.push_back(block.value());
  }
  EXPECT_GT(blocks.size() * 1024, 2 * kMiB * 9 / 10) << "a tenth of the heap may be rounding, not more";
  for (std::byte* block : blocks) ASSERT_TRUE(heap.allocator->free(MemoryKind::local, block).ok());
  EXPECT_EQ(heap.window->used(), 0U);
  EXPECT_NE(heap.allocate(MemoryKind::collective, 2 * kMiB), nullptr);
}

TEST(AllocatorTest, HolesOfOtherSizesDoNotGetInTheWay) {
  Heap heap(8 * kMiB);
  std::vector<std::byte*> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(heap.allocate(MemoryKind::local, kMiB));
  for (std::size_t i = 0; i < blocks.size(); i += 2) {
    ASSERT_TRUE(heap.allocator->free(MemoryKind::local, blocks[i]).ok());
  }
  EXPECT_NE(heap.allocate(MemoryKind::local, 4 * kMiB), nullptr);
}

TEST(AllocatorTest, ManyCyclesNeitherLeakNorSpread) {
  Heap heap(4 * kMiB);
  std::uintptr_t highest = 0;
  for (std::size_t i = 0; i < fewer_if_sanitized(100'000U); ++i) {
    std::byte* block = heap.allocate(kKinds[i % 3], 1 + i * 7919 % 20'000);
    ASSERT_NE(block, nullptr);
    *block = std::byte{1};
    highest = std::max(highest, reinterpret_cast<std::uintptr_t>(block));
    ASSERT_TRUE(heap.allocator->free(kKinds[i % 3], block).ok());
  }
  EXPECT_EQ(heap.window->used(), 0U);
  EXPECT_LT(highest - reinterpret_cast<std::uintptr_t>(heap.window->base()), kMiB);
}

TEST(AllocatorTest, AbsurdRequestsAreErrors) {
  Heap heap(kMiB);
  for (const std::size_t bytes : {2 * kMiB, SIZE_MAX / 2, SIZE_MAX - 4096, SIZE_MAX}) {
    EXPECT_EQ(heap.allocator->allocate(MemoryKind::local, bytes, 64).status().code(), RMA_ERR_NO_MEMORY)
        << bytes;
  }
  EXPECT_EQ(heap.allocator->allocate(MemoryKind::local, 8, std::size_t{1} << 63U).status().code(),
            RMA_ERR_NO_MEMORY);
  EXPECT_EQ(heap.allocator->allocate(MemoryKind::local, 0, 64).status().code(), RMA_ERR_SIZE);
  EXPECT_EQ(heap.allocator->allocate(MemoryKind::local, 8, 0).status().code(), RMA_ERR_ALIGNMENT);
  EXPECT_EQ(heap.allocator->allocate(MemoryKind::local, 8, 48).status().code(), RMA_ERR_ALIGNMENT);
  EXPECT_EQ(heap.allocator->blocks_in_use(), 0U);
  EXPECT_EQ(heap.window->used(), 0U);
}

TEST(AllocatorTest, RefusesToFreeWhatIsNoBlock) {
  Heap heap(4 * kMiB);
  std::array<std::byte, 64> foreign{};
  for (const std::size_t bytes : {std::size_t{100}, 100'000UL}) {
    std::byte* block = heap.allocate(MemoryKind::collective, bytes);
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%p", static_cast<void*>(block));
    EXPECT_EQ(heap.allocator->free(MemoryKind::collective, block + 1).code(), RMA_ERR_ADDRESS);
    EXPECT_EQ(heap.allocator->free(MemoryKind::collective, block + 64).code(), RMA_ERR_ADDRESS);
    EXPECT_EQ(heap.allocator->free(MemoryKind::collective, foreign.data()).code(), RMA_ERR_ADDRESS);
    EXPECT_EQ(heap.allocator->free(MemoryKind::collective, nullptr).code(), RMA_ERR_ADDRESS);
    EXPECT_EQ(heap.allocator->free(MemoryKind::local, block).code(), RMA_ERR_ADDRESS);
    std::fill_n(block, bytes, std::byte{1});  // still there
    EXPECT_TRUE(heap.allocator->free(MemoryKind::collective, block).ok());
    const Status twice = heap.allocator->free(MemoryKind::collective, block);
    EXPECT_EQ(twice.code(), RMA_ERR_ADDRESS);
    EXPECT_THAT(std::string(twice.text()), HasSubstr(text.data()));
  }
}

TEST(AllocatorTest, ContainsIsTheWindow) {
  Heap heap(kMiB);
  const std::byte* base = heap.window->base();
  const std::size_t bytes = heap.window->address_bytes();
  EXPECT_TRUE(heap.allocator->contains(base, bytes));
  EXPECT_TRUE(heap.allocator->contains(base + bytes, 0));
  EXPECT_FALSE(heap.allocator->contains(base + bytes, 1));
  EXPECT_FALSE(heap.allocator->contains(base + 1, bytes));
  EXPECT_FALSE(heap.allocator->contains(base + 1, SIZE_MAX));
  EXPECT_FALSE(heap.allocator->contains(nullptr, 1));
}

TEST(AllocatorTest, LeavesTheReservedPartAlone) {
  Heap heap(4 * kMiB, kMiB);
  ASSERT_TRUE(heap.window->back(0, kMiB).ok());
  std::fill_n(heap.window->base(), kMiB, std::byte{6});
  std::byte* rest = heap.allocate(MemoryKind::local, 3 * kMiB);
  ASSERT_GE(rest, heap.window->base() + kMiB);
  std::fill_n(rest, 3 * kMiB, std::byte{1});
  heap.allocator.reset();
  EXPECT_EQ(heap.window->used(), kMiB);
  EXPECT_EQ(heap.window->base()[kMiB - 1], std::byte{6});
}

TEST(AllocatorTest, ListsTheWindowWhileItLives) {
  Heap heap(kMiB);
  const RegionView view(heap.directory());
  const auto base = reinterpret_cast<std::uintptr_t>(heap.window->base());
  const auto region = view.find(base + 100, 8);
  ASSERT_TRUE(region.has_value());
  EXPECT_EQ(region->base, base);
  EXPECT_EQ(region->bytes, heap.window->address_bytes());
  EXPECT_EQ(region->flags, kRegionWindow);
  heap.allocator.reset();
  EXPECT_FALSE(view.find(base + 100, 8).has_value());
}

TEST(AllocatorTest, CanBeMadeAgainWithBlocksLeftBehind) {
  Heap heap(8 * kMiB);
  for (int round = 0; round < 300; ++round) {
    for (const std::size_t bytes : {std::size_t{10}, 3000UL, 14'336UL, 14'337UL, 3UL * kMiB}) {
      ASSERT_NE(heap.allocate(kKinds[bytes % 3], bytes), nullptr);
    }
    heap.allocator.reset();
    ASSERT_EQ(heap.window->used(), 0U);
    auto again = Allocator::create(*heap.window, *heap.backing, *heap.regions);
    ASSERT_TRUE(again.ok()) << again.status().text();
    heap.allocator = std::move(again).value();
  }
  EXPECT_EQ(heap.regions->size(), 1U);
}

TEST(AllocatorTest, SeveralLiveSideBySide) {
  Heap first(8 * kMiB);
  auto second = std::make_unique<Heap>(8 * kMiB);
  Model one(first, 1, 20);
  Model two(*second, 2, 20);
  for (int i = 0; i < 500; ++i) {
    one.step();
    two.step();
    if (HasFatalFailure()) return;
  }
  std::byte* block = second->allocate(MemoryKind::local, 100);
  EXPECT_EQ(first.allocator->free(MemoryKind::local, block).code(), RMA_ERR_ADDRESS);
  second.reset();
  for (int i = 0; i < 500; ++i) one.step();
  one.drop_all();
  EXPECT_EQ(first.window->used(), 0U);
}

TEST(AllocatorTest, LeavesTheProgramsMallocAlone) {
  const auto file_of = [](void* function) {
    Dl_info info{};
    return dladdr(function, &info) != 0 ? std::string(info.dli_fname) : std::string();
  };
  const std::string here = file_of(reinterpret_cast<void*>(&librma_je_mallocx));
  ASSERT_FALSE(here.empty());
  for (const char* name : {"malloc", "free", "calloc", "posix_memalign", "_Znwm", "_ZdlPv"}) {
    EXPECT_NE(file_of(dlsym(RTLD_DEFAULT, name)), here) << name;
  }
}

TEST(AllocatorTest, WorksWithTwoMegabytePagesWhereThereAreAny) {
  auto made = Window::create({.limit = 8 * kMiB, .huge_pages = HugePages::hugetlb});
  if (!made.ok()) {
    ASSERT_EQ(made.status().code(), RMA_ERR_NO_MEMORY) << made.status().text();
    GTEST_SKIP() << made.status().text();
  }
  Window window = std::move(made).value();
  std::vector<std::uint64_t> words(RegionTable::directory_bytes(8) / 8);
  RegionTable regions(std::as_writable_bytes(std::span(words)));
  WindowBacking backing(window);
  auto allocator = Allocator::create(window, backing, regions);
  ASSERT_TRUE(allocator.ok());
  auto small = allocator.value()->allocate(MemoryKind::local, 100, 64);
  auto large = allocator.value()->allocate(MemoryKind::local, 100'000, 64);
  ASSERT_TRUE(small.ok() && large.ok());
  EXPECT_EQ(window.used(), window.granule()) << "both are in one page";
  std::fill_n(large.value(), 100'000, std::byte{1});
  ASSERT_TRUE(allocator.value()->free(MemoryKind::local, large.value()).ok());
  *small.value() = std::byte{1};
  ASSERT_TRUE(allocator.value()->free(MemoryKind::local, small.value()).ok());
  EXPECT_EQ(window.used(), 0U);
}

TEST(Allocator, CommittedMemoryReadsAsZerosWhereABlockWasBefore) {
  constexpr std::size_t kBlock = std::size_t{64} << 10;
  Heap heap(std::size_t{1} << 20, 0, std::size_t{1} << 20);
  std::byte* const block = heap.allocate(MemoryKind::collective, kBlock);
  std::fill_n(block, kBlock, std::byte{9});
  EXPECT_TRUE(heap.allocator->free(MemoryKind::collective, block).ok());
  auto range = heap.allocator->reserve(std::size_t{1} << 20, 64);
  ASSERT_TRUE(range.ok()) << range.status().text();
  ASSERT_LE(range.value(), block);  // else this test does not show anything
  const std::size_t there = static_cast<std::size_t>(block - range.value());
  ASSERT_TRUE(heap.allocator->commit(range.value(), there + kBlock).ok());
  EXPECT_EQ(std::count(range.value(), block + kBlock, std::byte{0}), block + kBlock - range.value());
}

TEST(Allocator, ReservedAddressesTakeMemoryWhenCommitted) {
  constexpr std::size_t kPage = 4096;
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  Heap heap(kMostBytes);
  const std::size_t before = heap.window->used();
  auto range = heap.allocator->reserve(kMostBytes + kPage / 2, 64);  // more than there is memory
  ASSERT_TRUE(range.ok()) << range.status().text();
  EXPECT_EQ(heap.window->used(), before);
  ASSERT_TRUE(heap.allocator->commit(range.value() + kPage - 1, 2).ok());  // touches two pages
  EXPECT_EQ(heap.window->used(), before + 2 * kPage);
  range.value()[0] = std::byte{7};
  ASSERT_TRUE(heap.allocator->commit(range.value(), 4 * kPage).ok());
  EXPECT_EQ(heap.window->used(), before + 4 * kPage);
  EXPECT_EQ(range.value()[0], std::byte{7});
  EXPECT_EQ(heap.allocator->commit(range.value(), kMostBytes + 1).code(), RMA_ERR_NO_MEMORY);
  EXPECT_EQ(heap.allocator->free(MemoryKind::local, range.value()).code(), RMA_ERR_ADDRESS);
  // Blocks lie beside the range, and no page is shared with them.
  std::byte* const block = heap.allocate(MemoryKind::local, 3 * kPage);
  EXPECT_TRUE(block + 3 * kPage <= range.value() || block >= range.value() + kMostBytes);
  const std::size_t with_block = heap.window->used();
  EXPECT_TRUE(heap.allocator->free(MemoryKind::collective, range.value()).ok());
  EXPECT_LT(heap.window->used(), with_block);
  EXPECT_EQ(heap.allocator->free(MemoryKind::collective, range.value()).code(), RMA_ERR_ADDRESS);
  EXPECT_EQ(heap.allocator->reserve(0, 64).status().code(), RMA_ERR_SIZE);
  EXPECT_EQ(heap.allocator->reserve(8, 3).status().code(), RMA_ERR_ALIGNMENT);
}

}  // namespace
}  // namespace librma
