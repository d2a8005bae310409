#include "malloc/alias.hpp"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "../forked.hpp"
#include "../limited_registrar.hpp"
#include "malloc/registered_backing.hpp"
#include "malloc/window.hpp"
#include "small_window.hpp"

namespace librma {
namespace {

using testing::HasSubstr;

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kAliasPages = 64;

std::byte* map_pages(int rights = PROT_READ | PROT_WRITE, int flags = MAP_PRIVATE | MAP_ANONYMOUS,
                     int file = -1) {
  void* const pages = mmap(nullptr, kAliasPages * kPageBytes, rights, flags, file, 0);
  EXPECT_NE(pages, MAP_FAILED);
  return static_cast<std::byte*>(pages);
}

/// Returns how many pages of memory the alias's file holds.
std::size_t pages_held() {
  struct stat about {};
  EXPECT_EQ(fstat(own_alias()->fd, &about), 0);
  return static_cast<std::size_t>(about.st_blocks) * 512 / kPageBytes;
}

/// A process has one alias, so each test runs in a process of its own.
class AliasTest : public testing::Test {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "ThreadSanitizer has a thread of its own, so that there are no aliases";
#endif
  }
  static void in_a_process(const std::function<void()>& body) {
    EXPECT_TRUE(Forked([&] {
                  body();
                  return true;
                }).ended_well());
  }
};

TEST_F(AliasTest, KeepsContentsAndTakesNoMemoryForUntouchedPages) {
  in_a_process([] {
    std::byte* const pages = map_pages();
    pages[7 * kPageBytes + 1] = std::byte{7};
    pages[9 * kPageBytes] = std::byte{9};
    ASSERT_TRUE(make_alias(pages, kAliasPages * kPageBytes).ok());
    EXPECT_EQ(pages_held(), 2U);
    EXPECT_EQ(pages[7 * kPageBytes + 1], std::byte{7});
    EXPECT_EQ(pages[9 * kPageBytes], std::byte{9});
    EXPECT_EQ(pages[kAliasPages * kPageBytes - 1], std::byte{0});
  });
}

TEST_F(AliasTest, KeepsAFilesPagesThatNobodyTouched) {
  in_a_process([] {
    const int file = memfd_create("contents", MFD_CLOEXEC);
    ASSERT_EQ(ftruncate(file, kAliasPages * kPageBytes), 0);
    ASSERT_EQ(pwrite(file, "contents", 8, 40 * kPageBytes), 8);
    std::byte* const pages = map_pages(PROT_READ | PROT_WRITE, MAP_PRIVATE, file);
    pages[3] = std::byte{3};
    ASSERT_TRUE(make_alias(pages, kAliasPages * kPageBytes).ok());
    EXPECT_EQ(pages[3], std::byte{3});
    EXPECT_EQ(pages[40 * kPageBytes], std::byte{'c'});
    char original = 1;
    ASSERT_EQ(pread(file, &original, 1, 3), 1);
    EXPECT_EQ(original, 0);
  });
}

TEST_F(AliasTest, IsAPartOfTheWindow) {
  in_a_process([] {
    std::byte* const pages = map_pages();
    // Any bytes: the alias has the pages that they lie in.
    ASSERT_TRUE(make_alias(pages + kPageBytes + 5, 2 * kPageBytes).ok());
    EXPECT_EQ(own_alias()->address, pages + kPageBytes);
    EXPECT_EQ(own_alias()->bytes, 3 * kPageBytes);
    auto window = Window::create({.limit = kMiB}, own_alias());
    ASSERT_TRUE(window.ok()) << window.status().text();
    const std::size_t front = own_alias()->file_bytes;
    std::byte* const there = window->aliased(pages + kPageBytes + 5, 2 * kPageBytes);
    ASSERT_NE(there, nullptr);
    EXPECT_LT(there, window->base() + front);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(there) % (2 * kMiB),
              reinterpret_cast<std::uintptr_t>(pages + kPageBytes + 5) % (2 * kMiB));
    EXPECT_EQ(window->aliased(pages, 1), nullptr);
    EXPECT_EQ(window->aliased(pages + 4 * kPageBytes - 1, 2), nullptr);
    there[0] = std::byte{1};
    EXPECT_EQ(pages[kPageBytes + 5], std::byte{1});

    ASSERT_TRUE(window->back(front, kPageBytes).ok());
    window->base()[front] = std::byte{2};
    auto peer = PeerWindow::map({.fd = window->fd(), .bytes = window->address_bytes() - front}, {},
                                {.fd = own_alias()->fd, .bytes = front});
    ASSERT_TRUE(peer.ok()) << peer.status().text();
    ASSERT_EQ(peer->address_bytes(), window->address_bytes());
    EXPECT_EQ(peer->base()[front], std::byte{2});
    peer->base()[there - window->base()] = std::byte{3};
    EXPECT_EQ(pages[kPageBytes + 5], std::byte{3});
    window->release(front, kPageBytes);
    EXPECT_EQ(peer->base()[front], std::byte{0});
    EXPECT_EQ(pages[kPageBytes + 5], std::byte{3});
  });
}

TEST_F(AliasTest, IsRegisteredWithTheNetwork) {
  in_a_process([] {
    std::byte* const pages = map_pages();
    ASSERT_TRUE(make_alias(pages, 3 * kPageBytes).ok());
    auto window = Window::create({.limit = kMiB}, own_alias());
    ASSERT_TRUE(window.ok());
    std::vector<std::max_align_t> directory(RegionTable::directory_bytes(8) / sizeof(std::max_align_t) + 64);
    void* start = directory.data();
    std::size_t room = directory.size() * sizeof(std::max_align_t);
    std::align(64, RegionTable::directory_bytes(8), start, room);
    const std::span listed(static_cast<std::byte*>(start), RegionTable::directory_bytes(8));
    RegionTable regions(listed);
    LimitedRegistrar registrar;
    RegisteredBacking backing(window.value(), regions, registrar, kMiB);
    backing.adopt(own_alias()->offset, own_alias()->bytes);
    std::byte* const there = window->aliased(pages + 5, 2 * kPageBytes);
    const auto registered = backing.find(there);
    ASSERT_TRUE(registered);
    EXPECT_EQ(registered->address, there - 5);
    EXPECT_EQ(registered->bytes, 3 * kPageBytes) << "nothing in front or behind, which would take memory";
    const auto address = reinterpret_cast<std::uintptr_t>(there);
    EXPECT_TRUE(backing.covers(address, 2 * kPageBytes));
    EXPECT_FALSE(backing.covers(address, 3 * kPageBytes));
    const auto region = RegionView(listed).find(address, 2 * kPageBytes);
    ASSERT_TRUE(region);
    EXPECT_EQ(region->keys, registered->remote);
  });
}

TEST_F(AliasTest, ThereIsOne) {
  in_a_process([] {
    std::byte* const pages = map_pages();
    ASSERT_TRUE(make_alias(pages, 8 * kPageBytes).ok());
    EXPECT_TRUE(make_alias(pages + 3 * kPageBytes, 10).ok());
    const Status refused = make_alias(pages + 7 * kPageBytes, kPageBytes + 1);
    EXPECT_EQ(refused.code(), RMA_ERR_STATE);
    EXPECT_THAT(std::string(refused.text()), HasSubstr("one only"));
  });
}

TEST_F(AliasTest, RefusesWhatIsNotPrivateAndWritable) {
  in_a_process([] {
    const auto refuses = [](std::byte* pages) {
      const Status refused = make_alias(pages, kAliasPages * kPageBytes);
      EXPECT_EQ(refused.code(), RMA_ERR_ADDRESS);
      EXPECT_THAT(std::string(refused.text()), HasSubstr("0x"));
      EXPECT_EQ(own_alias(), nullptr);
    };
    refuses(map_pages(PROT_READ));
    refuses(map_pages(PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS));
    std::byte* const pages = map_pages();
    munmap(pages + 10 * kPageBytes, kPageBytes);
    refuses(pages);
  });
}

TEST_F(AliasTest, RefusesWhileThereAreOtherThreads) {
  in_a_process([] {
    std::byte* const pages = map_pages();
    pages[0] = std::byte{1};
    std::atomic<bool> ends = false;
    std::thread other([&] {
      while (!ends) sched_yield();
    });
    const Status refused = make_alias(pages, kPageBytes);
    ends = true;
    other.join();
    EXPECT_EQ(refused.code(), RMA_ERR_STATE);
    EXPECT_THAT(std::string(refused.text()), HasSubstr("2 threads"));
    EXPECT_EQ(pages[0], std::byte{1});
    EXPECT_TRUE(comes_true([&] { return make_alias(pages, kPageBytes).ok(); })) << "the thread has ended";
  });
}

TEST_F(AliasTest, ForkedChildrenHaveCopies) {
  in_a_process([] {
    std::byte* const pages = map_pages();
    pages[0] = std::byte{1};
    ASSERT_TRUE(make_alias(pages, kAliasPages * kPageBytes).ok());
    auto window = Window::create({.limit = kMiB}, own_alias());
    window->aliased(pages + 20 * kPageBytes, 1)[0] =
        std::byte{20};  // as a peer does: not touched by this process
    SharedWithForked<std::atomic<int>> step;
    Forked child([&] {
      const bool waited = comes_true([&] { return *step == 1; });
      EXPECT_EQ(pages[0], std::byte{1});
      EXPECT_EQ(pages[20 * kPageBytes], std::byte{20});
      EXPECT_EQ(pages[30 * kPageBytes], std::byte{0});
      pages[0] = std::byte{3};
      EXPECT_EQ(own_alias(), nullptr);
      return waited && Forked([&] { return pages[0] == std::byte{3}; }).ended_well();
    });
    pages[0] = std::byte{2};
    *step = 1;
    EXPECT_TRUE(child.ended_well());
    EXPECT_EQ(pages[0], std::byte{2});
    EXPECT_EQ(pages_held(), 2U) << "a copy takes no memory for holes";
  });
}

TEST_F(AliasTest, TheProgramMayCloseTheFile) {
  in_a_process([] {
    std::byte* const pages = map_pages();
    pages[5] = std::byte{5};
    ASSERT_TRUE(make_alias(pages, kAliasPages * kPageBytes).ok());
    const int fd = own_alias()->fd;
    const int other = memfd_create("other", MFD_CLOEXEC);
    ASSERT_EQ(dup2(other, fd), fd);
    EXPECT_EQ(own_alias(), nullptr) << "other ranks could not map it";
    Forked child([&] {
      const bool good = pages[5] == std::byte{5};
      pages[5] = std::byte{6};
      return good;
    });
    EXPECT_TRUE(child.ended_well());
    EXPECT_EQ(pages[5], std::byte{5});
  });
}

TEST_F(AliasTest, ThreadsForkAtTheSameTime) {
  in_a_process([] {
    std::byte* const pages = map_pages();
    pages[0] = std::byte{1};
    ASSERT_TRUE(make_alias(pages, kAliasPages * kPageBytes).ok());
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int k = 0; k < 20; ++k) {
          const pid_t child = fork();
          if (child == 0) {
            const bool good = pages[0] == std::byte{1};
            pages[0] = std::byte{2};
            _exit(good ? 0 : 1);
          }
          int status = -1;
          if (waitpid(child, &status, 0) != child || status != 0) ++wrong;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(pages[0], std::byte{1});
  });
}

}  // namespace
}  // namespace librma
