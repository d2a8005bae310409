#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "../seed.hpp"
#include "fabric/registration_cache.hpp"
#include "tag_registrar.hpp"

namespace librma {
namespace {

using Use = RegistrationCache::Use;

/// An area of addresses, in slots that are mapped or not. The thread that has a slot's lock decides what is
/// mapped there. Other threads may hold uses of the earlier memory.
class Area {
 public:
  static constexpr std::size_t kSlots = 12;
  static constexpr std::size_t kSlotPages = 3;

  Area()
      : base_(static_cast<std::byte*>(
            ::mmap(nullptr, bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {}
  ~Area() { ::munmap(base_, bytes()); }
  Area(const Area&) = delete;
  Area& operator=(const Area&) = delete;

  /// Locks slots [first, last) as long as it lives.
  class Claim {
   public:
    Claim(Area& area, std::size_t first, std::size_t last) : area_(area), first_(first), last_(last) {
      for (std::size_t slot = first_; slot < last_; ++slot) area_.locks_[slot].lock();
    }
    ~Claim() {
      for (std::size_t slot = first_; slot < last_; ++slot) area_.locks_[slot].unlock();
    }
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;

    [[nodiscard]] std::byte* address() const { return area_.base_ + first_ * kSlotPages * page_bytes(); }
    [[nodiscard]] std::size_t pages() const { return (last_ - first_) * kSlotPages; }
    [[nodiscard]] bool mapped() const {
      for (std::size_t slot = first_; slot < last_; ++slot) {
        if (!area_.mapped_[slot]) return false;
      }
      return true;
    }
    void map() {
      map_pages(pages(), address());
      set_mapped(true);
    }
    void unmap() {
      // Other memory takes its place, so that no other mapping of the process comes here.
      if (::mmap(address(), pages() * page_bytes(), PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED) {
        std::abort();
      }
      set_mapped(false);
    }
    void give_back_contents() {
      if (::madvise(address(), pages() * page_bytes(), MADV_DONTNEED) != 0) std::abort();
      stamp(address(), pages() * page_bytes());
    }

   private:
    void set_mapped(bool mapped) {
      for (std::size_t slot = first_; slot < last_; ++slot) area_.mapped_[slot] = mapped;
    }

    Area& area_;
    std::size_t first_, last_;
  };

 private:
  static std::size_t bytes() { return kSlots * kSlotPages * page_bytes(); }

  std::byte* const base_;
  std::array<std::mutex, kSlots> locks_;
  std::array<bool, kSlots> mapped_ = {};
};

class RegistrationCacheThreads : public RegistrationCacheTest {
 protected:
  void random_steps(Area& area, std::uint64_t seed, int steps) {
    std::mt19937_64 random(seed);
    std::vector<Use> held;
    for (int step = 0; step < steps && !HasFailure(); ++step) {
      const std::size_t first = random() % Area::kSlots;
      const std::size_t last = first + 1 + random() % std::min<std::size_t>(Area::kSlots - first, 3);
      const auto what = random() % 10;
      if (what < 2 && !held.empty()) {
        const std::size_t index = random() % held.size();
        EXPECT_TRUE(registrar_.is_live(held[index].registered()));
        std::swap(held[index], held.back());
        hand_over(held);
        continue;
      }
      Area::Claim claim(area, first, last);
      if (what == 2) {
        claim.unmap();
      } else if (what == 3 && claim.mapped()) {
        claim.give_back_contents();
      } else if (what == 4 || !claim.mapped()) {
        claim.map();
      } else {
        const std::size_t begin = random() % (claim.pages() * page_bytes());
        const std::size_t bytes = 1 + random() % (claim.pages() * page_bytes() - begin);
        auto use = cache_->get(claim.address() + begin, bytes);
        if (!use.ok()) {
          EXPECT_EQ(use.status().code(), RMA_ERR_NO_MEMORY) << use.status().text();
          continue;
        }
        EXPECT_TRUE(registrar_.is_current(use->registered(), claim.address() + begin, bytes))
            << "stale, in step " << step;
        if (random() % 3 == 0) held.push_back(std::move(use).value());
      }
    }
  }

  // Ends the use that another thread left here, and leaves the last of `held` in its place.
  void hand_over(std::vector<Use>& held) {
    Use other;
    {
      const std::lock_guard lock(shelf_lock_);
      other = std::move(shelf_);
      shelf_ = std::move(held.back());
    }
    held.pop_back();
  }

  void run_threads(std::size_t threads, int steps, std::uint64_t seed) {
    Area area;
    std::vector<std::thread> running;
    for (std::size_t i = 0; i < threads; ++i) {
      running.emplace_back([&, i] { random_steps(area, seed + i, steps); });
    }
    for (auto& thread : running) thread.join();
    shelf_.release();
    EXPECT_GT(hits(), 0U);
    EXPECT_GT(invalidations(), 0U);
  }

  std::mutex shelf_lock_;
  Use shelf_;
};

TEST_F(RegistrationCacheThreads, RandomStepsByOneThread) { run_threads(1, 3000, test_seed()); }

TEST_F(RegistrationCacheThreads, RandomStepsByFour) { run_threads(4, 1500, test_seed()); }

TEST_F(RegistrationCacheThreads, RandomStepsWithinLimits) {
  make({.max_bytes = 12 * page_bytes(), .max_entries = 4});
  registrar_.set_limit(40 * page_bytes());
  run_threads(3, 1500, test_seed());
  EXPECT_GT(evictions(), 0U);
}

TEST_F(RegistrationCacheThreads, RemappingBesideLookups) {
  std::atomic<bool> over{false};
  std::byte* others = map_pages(16);
  std::thread looker([&] {
    for (std::size_t i = 0; !over.load(std::memory_order_acquire); ++i) {
      get_pages(others + i % 8 * page_bytes(), 1 + i % 8);
    }
  });
  std::byte* memory = map_pages(4);
  for (int i = 0; i < 1000 && !HasFailure(); ++i) {
    get_pages(memory, 4);
    get_pages(memory, 4);
    map_pages(4, memory);
  }
  over.store(true, std::memory_order_release);
  looker.join();
  unmap_pages(memory, 4);
  unmap_pages(others, 16);
}

// The kernel frees the addresses while munmap still waits for the event. So one thread may use new memory
// there before the other's munmap has returned, and before anything is noted.
TEST_F(RegistrationCacheThreads, MappedBySomeoneElseBeforeMunmapReturns) {
  constexpr int kRounds = 300;
  const std::size_t bytes = 4 * page_bytes();
  // The place is far below the highest gap, in which the system puts mappings without an address. So only the
  // taking thread gets these pages, and no allocator that needs some meanwhile.
  std::byte* const anywhere = map_pages(1);
  std::byte* const memory = map_pages(4, anywhere - (std::size_t{1} << 40U));
  unmap_pages(anywhere, 1);
  std::atomic<int> registered{-1};
  std::atomic<int> done{-1};
  std::thread taker([&] {
    for (int round = 0; round < kRounds; ++round) {
      while (registered.load(std::memory_order_acquire) < round) std::this_thread::yield();
      while (::mmap(memory, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
                    -1, 0) != memory) {
      }
      stamp(memory, bytes);
      get_pages(memory, 4);
      done.store(round, std::memory_order_release);
    }
  });
  for (int round = 0; round < kRounds; ++round) {
    get_pages(memory, 4);
    registered.store(round, std::memory_order_release);
    unmap_pages(memory, 4);
    while (done.load(std::memory_order_acquire) < round) std::this_thread::yield();
  }
  taker.join();
  unmap_pages(memory, 4);
}

TEST_F(RegistrationCacheThreads, SameMemoryFirstUsedByAllAtOnce) {
  for (int round = 0; round < 50; ++round) {
    std::byte* memory = map_pages(8);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] { get_pages(memory + i * page_bytes(), 4); });
    }
    for (auto& thread : threads) thread.join();
    get_pages(memory, 7);
    const auto before = hits();
    get_pages(memory, 7);
    EXPECT_EQ(hits(), before + 1);
    unmap_pages(memory, 8);
  }
}

}  // namespace
}  // namespace librma
