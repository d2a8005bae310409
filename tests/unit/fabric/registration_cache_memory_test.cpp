// Every way in which registered memory loses its pages.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include <cstdlib>

#include "fabric/registration_cache.hpp"
#include "tag_registrar.hpp"

namespace librma {
namespace {

using Use = RegistrationCache::Use;

TEST_F(RegistrationCacheTest, UnmappedAndMappedAtTheSameAddress) {
  std::byte* memory = map_pages(8);
  for (int i = 0; i < 20; ++i) {
    get_pages(memory, 8);
    get_pages(memory, 8);
    unmap_pages(memory, 8);
    map_pages(8, memory);
  }
  EXPECT_EQ(misses(), 20U);
  EXPECT_EQ(hits(), 20U);
  unmap_pages(memory, 8);
}

TEST_F(RegistrationCacheTest, MappedOverWithoutUnmapping) {
  std::byte* memory = map_pages(8);
  get_pages(memory, 8);
  map_pages(8, memory);
  get_pages(memory, 8);
  EXPECT_EQ(invalidations(), 1U);
  EXPECT_EQ(registrar_.live(), 1U);
  unmap_pages(memory, 8);
}

TEST_F(RegistrationCacheTest, PartlyUnmapped) {
  std::byte* memory = map_pages(8);
  get_pages(memory, 8);
  unmap_pages(memory + 3 * page_bytes(), 1);
  map_pages(1, memory + 3 * page_bytes());
  get_pages(memory + 3 * page_bytes(), 1);
  get_pages(memory, 8);
  EXPECT_EQ(hits(), 0U);
  unmap_pages(memory, 8);
}

TEST_F(RegistrationCacheTest, UnmappingOneLeavesTheOthers) {
  std::byte* memory = map_pages(8);
  get_pages(memory, 2);
  get_pages(memory + 2 * page_bytes(), 2);
  get_pages(memory + 4 * page_bytes(), 2);
  unmap_pages(memory + 2 * page_bytes(), 2);
  get_pages(memory, 2);
  get_pages(memory + 4 * page_bytes(), 2);
  EXPECT_EQ(hits(), 2U);
  EXPECT_EQ(invalidations(), 1U);
  unmap_pages(memory, 8);
}

TEST_F(RegistrationCacheTest, UnmappingWhatSeveralEntriesOverlap) {
  std::byte* memory = map_pages(64);
  get_pages(memory, 30);
  get_pages(memory + 31 * page_bytes(), 30);
  get_pages(memory + 29 * page_bytes(), 3);
  ASSERT_EQ(registrar_.live(), 3U);
  unmap_pages(memory + 29 * page_bytes(), 3);
  cache_->reclaim();
  EXPECT_EQ(registrar_.live(), 0U);
  EXPECT_EQ(invalidations(), 3U);
  unmap_pages(memory, 64);
}

TEST_F(RegistrationCacheTest, ContentsGivenBack) {
  for (const int advice : {MADV_DONTNEED, MADV_FREE}) {
    std::byte* memory = map_pages(8);
    get_pages(memory, 8);
    const auto before = invalidations();
    ASSERT_EQ(::madvise(memory, 8 * page_bytes(), advice), 0);
    stamp(memory, 8 * page_bytes());
    get_pages(memory, 8);
    EXPECT_EQ(invalidations(), before + 1);
    unmap_pages(memory, 8);
  }
}

TEST_F(RegistrationCacheTest, MovedAway) {
  std::byte* memory = map_pages(8);
  std::byte* elsewhere = map_pages(8);
  get_pages(memory, 8);
  get_pages(elsewhere, 8);
  ASSERT_EQ(::mremap(memory, 8 * page_bytes(), 8 * page_bytes(), MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere),
            elsewhere);
  map_pages(8, memory);
  get_pages(memory, 8);
  get_pages(elsewhere, 8);
  EXPECT_EQ(hits(), 0U);
  // The moved memory is watched at its new place.
  unmap_pages(elsewhere, 8);
  map_pages(8, elsewhere);
  get_pages(elsewhere, 8);
  EXPECT_EQ(hits(), 0U);
  unmap_pages(memory, 8);
  unmap_pages(elsewhere, 8);
}

TEST_F(RegistrationCacheTest, ShrunkAndGrownInPlace) {
  std::byte* memory = map_pages(8);
  get_pages(memory, 8);
  ASSERT_EQ(::mremap(memory, 8 * page_bytes(), 4 * page_bytes(), 0), memory);
  ASSERT_EQ(::mremap(memory, 4 * page_bytes(), 8 * page_bytes(), 0), memory);
  stamp(memory + 4 * page_bytes(), 4 * page_bytes());
  get_pages(memory, 8);
  EXPECT_EQ(hits(), 0U);
  unmap_pages(memory, 8);
}

TEST_F(RegistrationCacheTest, HeapShrunkAndGrown) {
  const std::size_t bytes = 64 * page_bytes();
  // The test owns whole pages at the end of the heap.
  const auto end = reinterpret_cast<std::uintptr_t>(::sbrk(0));
  ASSERT_NE(::sbrk(static_cast<std::intptr_t>(page_bytes() - end % page_bytes())),
            reinterpret_cast<void*>(-1));
  auto* memory = static_cast<std::byte*>(::sbrk(static_cast<std::intptr_t>(bytes)));
  ASSERT_NE(memory, reinterpret_cast<std::byte*>(-1));
  stamp(memory, bytes);
  get(memory, bytes);
  get(memory, bytes);
  EXPECT_EQ(hits(), 1U);
  ASSERT_EQ(::sbrk(0), memory + bytes) << "malloc took more heap meanwhile";
  ASSERT_EQ(::brk(memory), 0);
  ASSERT_EQ(::brk(memory + bytes), 0);
  stamp(memory, bytes);
  get(memory, bytes);
  EXPECT_EQ(hits(), 1U);
  EXPECT_EQ(invalidations(), 1U);
  if (::sbrk(0) == memory + bytes) {
    EXPECT_EQ(::brk(memory), 0);
  }
}

TEST_F(RegistrationCacheTest, LargeBlockFreed) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the address sanitizer keeps freed memory mapped";
#endif
  const std::size_t bytes = std::size_t{64} << 20U;
  auto* memory = static_cast<std::byte*>(std::malloc(bytes));
  stamp(memory, bytes);
  get(memory, bytes);
  std::free(memory);
  cache_->reclaim();
  EXPECT_EQ(invalidations(), 1U);
  EXPECT_EQ(registrar_.live(), 0U);
}

TEST_F(RegistrationCacheTest, SegmentDetachedAndAnotherAttached) {
  const std::size_t bytes = 8 * page_bytes();
  const int first = ::shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600);
  const int second = ::shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600);
  ASSERT_TRUE(first >= 0 && second >= 0);
  void* memory = ::shmat(first, nullptr, 0);
  ASSERT_NE(memory, reinterpret_cast<void*>(-1));
  auto* const start = static_cast<std::byte*>(memory);
  stamp(start, bytes);
  get(start, bytes);
  ASSERT_EQ(::shmdt(memory), 0);
  ASSERT_EQ(::shmat(second, memory, 0), memory);
  stamp(start, bytes);
  get(start, bytes);
  EXPECT_EQ(::shmdt(memory), 0);
  ::shmctl(first, IPC_RMID, nullptr);
  ::shmctl(second, IPC_RMID, nullptr);
}

TEST_F(RegistrationCacheTest, HolePunchedIntoSharedMemory) {
  const std::size_t bytes = 8 * page_bytes();
  const int file = ::memfd_create("registration-cache-test", MFD_CLOEXEC);
  ASSERT_EQ(::ftruncate(file, static_cast<off_t>(bytes)), 0);
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const start = static_cast<std::byte*>(memory);
  stamp(start, bytes);
  get(start, bytes);
  ASSERT_EQ(::fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes)), 0);
  stamp(start, bytes);
  get(start, bytes);
  EXPECT_EQ(registrar_.live(), 0U) << "shared memory is registered for its use only";
  unmap_pages(start, 8);
  ::close(file);
}

TEST_F(RegistrationCacheTest, PrivateBesideSharedMemoryIsNotKept) {
  std::byte* memory = map_pages(8);
  ASSERT_EQ(::mmap(memory + 4 * page_bytes(), 4 * page_bytes(), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
            memory + 4 * page_bytes());
  get_pages(memory, 8);
  EXPECT_EQ(registrar_.live(), 0U);
  get_pages(memory, 4);
  EXPECT_EQ(registrar_.live(), 1U);
  unmap_pages(memory, 8);
}

TEST_F(RegistrationCacheTest, UnmappedWhileInUse) {
  std::byte* memory = map_pages(8);
  Use held = get_pages(memory, 8);
  Use too = get_pages(memory, 2);
  unmap_pages(memory, 8);
  map_pages(8, memory);
  const Use anew = get_pages(memory, 8);
  EXPECT_TRUE(registrar_.is_live(held.registered()));
  EXPECT_EQ(registrar_.live(), 2U);
  held.release();
  EXPECT_TRUE(registrar_.is_live(too.registered()));
  too.release();
  EXPECT_EQ(registrar_.live(), 1U);
  EXPECT_TRUE(registrar_.is_live(anew.registered()));
  unmap_pages(memory, 8);
}

// A registration may include a neighbour's pages, which their owner may unmap at any time.
TEST_F(RegistrationCacheTest, MergedMemoryRemappedWhileItIsRegistered) {
  for (const bool noted_by_another : {false, true}) {
    std::byte* memory = map_pages(8);
    get_pages(memory, 4);
    registrar_.set_after_next_add([&] {
      map_pages(2, memory);
      if (noted_by_another) cache_->reclaim();
    });
    const Use both = get_pages(memory + 2 * page_bytes(), 4);
    EXPECT_EQ(both.registered().bytes, 6 * page_bytes());
    get_pages(memory, 2);
    unmap_pages(memory, 8);
  }
}

TEST_F(RegistrationCacheTest, ReclaimEndsWhatWasUnmapped) {
  std::byte* memory = map_pages(8);
  get_pages(memory, 2);
  Use held = get_pages(memory + 4 * page_bytes(), 2);
  unmap_pages(memory, 8);
  EXPECT_EQ(registrar_.live(), 2U) << "nothing is deregistered behind the library's back";
  cache_->reclaim();
  EXPECT_EQ(registrar_.live(), 1U);
  held.release();
  EXPECT_EQ(registrar_.live(), 0U);
}

TEST_F(RegistrationCacheTest, MoreUnmappedThanCanBeNoted) {
  const std::size_t pages = UnmapWatch::kNotes + 10;
  std::byte* kept = map_pages(2);
  std::byte* memory = map_pages(pages);
  get_pages(kept, 2);
  get_pages(memory, pages);
  // Each unmapping causes a notification of its own, and the last ones find no room.
  for (std::size_t page = 0; page < pages; ++page) unmap_pages(memory + page * page_bytes(), 1);
  map_pages(pages, memory);
  const Use all = get_pages(memory, pages);
  EXPECT_EQ(invalidations(), 2U) << "which notes were lost is not known, so all is given up";
  // Afterwards the cache works as before.
  get_pages(kept, 2);
  get_pages(kept, 2);
  EXPECT_EQ(hits(), 1U);
  unmap_pages(memory, pages);
  unmap_pages(kept, 2);
}

}  // namespace
}  // namespace librma
