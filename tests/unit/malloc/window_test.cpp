#include "malloc/window.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/mman.h>  // MADV_COLLAPSE, which glibc 2.36 does not define
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>

#include "small_window.hpp"

namespace librma {
namespace {

using testing::HasSubstr;

TEST(WindowTest, HasMoreAddressesThanMemory) {
  const Window window = make_window(4 * kMiB);
  EXPECT_EQ(window.limit(), 4 * kMiB);
  EXPECT_EQ(window.address_bytes(), 2 * 4 * kMiB + 64 * kMiB);
  EXPECT_EQ(window.used(), 0U);
  EXPECT_EQ(bytes_held(window), 0U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(window.base()) % (2 * kMiB), 0U);
}

TEST(WindowTest, BackingTakesMemoryAndReleaseGivesItBack) {
  Window window = make_window(4 * kMiB);
  ASSERT_TRUE(window.back(kMiB, kMiB).ok());
  EXPECT_EQ(window.used(), kMiB);
  EXPECT_EQ(bytes_held(window), kMiB);
  std::fill_n(window.base() + kMiB, kMiB, std::byte{7});
  window.release(kMiB, kMiB);
  EXPECT_EQ(window.used(), 0U);
  EXPECT_EQ(bytes_held(window), 0U);
  ASSERT_TRUE(window.back(kMiB, kMiB).ok());
  EXPECT_EQ(window.base()[kMiB], std::byte{0});
}

TEST(WindowTest, RefusesMoreThanTheLimit) {
  Window window = make_window(2 * kMiB);
  ASSERT_TRUE(window.back(0, kMiB).ok());
  const Status refused = window.back(kMiB, kMiB + window.granule());
  EXPECT_EQ(refused.code(), RMA_ERR_NO_MEMORY);
  EXPECT_THAT(std::string(refused.text()), HasSubstr("1052672"));
  EXPECT_THAT(std::string(refused.text()), HasSubstr("1048576 of 2097152"));
  EXPECT_THAT(std::string(refused.text()), HasSubstr("RMA_HEAP_SIZE"));
  EXPECT_EQ(window.used(), kMiB);
  EXPECT_TRUE(window.back(kMiB, kMiB).ok());
}

TEST(WindowTest, WhatTheSystemRefusesIsAnErrorAndLeavesNothing) {
  // fallocate refuses a range past the largest offset of a file, independent of the machine's memory.
  Window window = make_window(4 * kMiB);
  const Status refused = window.back(static_cast<std::size_t>(INT64_MAX) - kMiB + 1, 2 * kMiB);
  EXPECT_EQ(refused.code(), RMA_ERR_NO_MEMORY);
  EXPECT_THAT(std::string(refused.text()), HasSubstr("RMA_HEAP_SIZE"));
  EXPECT_THAT(std::string(refused.text()), HasSubstr("errno"));
  EXPECT_EQ(window.used(), 0U);
  EXPECT_EQ(bytes_held(window), 0U);
}

TEST(WindowTest, RefusesSenselessLimits) {
  EXPECT_EQ(Window::create({.limit = 0}).status().code(), RMA_ERR_SIZE);
  EXPECT_EQ(Window::create({.limit = SIZE_MAX}).status().code(), RMA_ERR_SIZE);
}

TEST(WindowTest, MovesWithItsMemory) {
  Window first = make_window(kMiB);
  ASSERT_TRUE(first.back(0, first.granule()).ok());
  first.base()[0] = std::byte{5};
  Window second = std::move(first);
  EXPECT_EQ(second.base()[0], std::byte{5});
  Window third = make_window(kMiB);
  third = std::move(second);
  EXPECT_EQ(third.base()[0], std::byte{5});
  EXPECT_EQ(third.used(), third.granule());
}

TEST(WindowTest, TransparentHugePagesAreAWish) {
  Window window = make_window(16 * kMiB, HugePages::transparent);
  ASSERT_TRUE(window.back(0, 8 * kMiB).ok());
  std::fill_n(window.base(), 8 * kMiB, std::byte{3});
  EXPECT_EQ(bytes_held(window), 8 * kMiB);
  window.release(kMiB, kMiB);
  EXPECT_EQ(window.base()[2 * kMiB], std::byte{3});
}

// Returns how many bytes of the mapping that begins at `base` the system maps by huge pages.
std::size_t bytes_in_huge_pages(const std::byte* base) {
  std::ifstream smaps("/proc/self/smaps");
  const std::string wanted = fmt::format("{:x}-", reinterpret_cast<std::uintptr_t>(base));
  bool here = false;
  for (std::string line; std::getline(smaps, line);) {
    if (line.find('-') < line.find(' ')) here = line.starts_with(wanted);
    std::size_t kilobytes = 0;
    if (here && std::sscanf(line.c_str(), "ShmemPmdMapped: %zu kB", &kilobytes) == 1) return kilobytes * 1024;
  }
  return 0;
}

// Returns whether this system joins pages of such a file at all. It tries that with memory of its own.
bool joins_pages() {
  bool joins = false;
#ifdef MADV_COLLAPSE
  auto range = AddressRange::reserve(2 * kMiB);
  const int fd = memfd_create("test", MFD_CLOEXEC);
  if (range.ok() && fd >= 0 && ftruncate(fd, 2 * kMiB) == 0 && range->map(fd, 0, 2 * kMiB).ok()) {
    joins = fallocate(fd, 0, 0, 2 * kMiB) == 0 && madvise(range->base(), 2 * kMiB, MADV_COLLAPSE) == 0;
  }
  close(fd);
#endif
  return joins;
}

TEST(WindowTest, OnlyLargeBlocksLieInTransparentHugePages) {
  Window window = make_window(32 * kMiB, HugePages::transparent);
  for (std::size_t small = 0; small < 4 * kMiB; small += kMiB) ASSERT_TRUE(window.back(small, kMiB).ok());
  std::fill_n(window.base(), 4 * kMiB, std::byte{1});
  EXPECT_EQ(bytes_in_huge_pages(window.base()), 0U);
  ASSERT_TRUE(window.back(7 * kMiB, 6 * kMiB).ok());
  std::fill_n(window.base() + 7 * kMiB, 6 * kMiB, std::byte{1});
  // Pages 4 and 5 of 2 MiB are filled; no memory is taken to fill those at the ends.
  EXPECT_EQ(bytes_in_huge_pages(window.base()), joins_pages() ? 4 * kMiB : 0U);
  EXPECT_EQ(bytes_held(window), 10 * kMiB);
}

// Returns whether core files of this process hold the mapping in which `address` lies.
bool in_core_files(const std::byte* address) {
  std::ifstream smaps("/proc/self/smaps");
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  bool here = false;
  for (std::string line; std::getline(smaps, line);) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    if (std::sscanf(line.c_str(), "%zx-%zx ", &begin, &end) == 2) here = begin <= wanted && wanted < end;
    if (here && line.starts_with("VmFlags:")) return line.find(" dd") == std::string::npos;
  }
  ADD_FAILURE() << "nothing is mapped there";
  return false;
}

TEST(WindowTest, CoreFilesHoldItUpToTheHighestBlock) {
  Window window = make_window(32 * kMiB);
  EXPECT_FALSE(in_core_files(window.base()));
  ASSERT_TRUE(window.back(5 * kMiB, kMiB).ok());
  ASSERT_TRUE(window.back(kMiB, kMiB).ok());
  EXPECT_TRUE(in_core_files(window.base()));
  EXPECT_TRUE(in_core_files(window.base() + 6 * kMiB - 1));
  EXPECT_FALSE(in_core_files(window.base() + 6 * kMiB));
  window.release(5 * kMiB, kMiB);
  EXPECT_TRUE(in_core_files(window.base() + 2 * kMiB - 1));
  // A window keeps what it knows when it moves.
  Window moved = std::move(window);
  ASSERT_TRUE(moved.back(20 * kMiB, moved.granule()).ok());
  EXPECT_TRUE(in_core_files(moved.base() + 22 * kMiB - 1));
  EXPECT_FALSE(in_core_files(moved.base() + 22 * kMiB));
}

TEST(PeerWindowTest, IsInNoCoreFile) {
  Window window = make_window(kMiB);
  ASSERT_TRUE(window.back(0, kMiB).ok());
  auto peer = PeerWindow::map({.fd = window.fd(), .bytes = window.address_bytes()});
  ASSERT_TRUE(peer.ok()) << peer.status().text();
  EXPECT_FALSE(in_core_files(peer->base()));
  EXPECT_TRUE(in_core_files(window.base()));
}

TEST(WindowTest, ReservedHugePagesWorkOrSayWhatToDo) {
  auto window = Window::create({.limit = 4 * kMiB, .huge_pages = HugePages::hugetlb});
  if (window.ok()) {
    ASSERT_EQ(window->granule(), 2 * kMiB);
    ASSERT_TRUE(window->back(0, window->granule()).ok());
    window->base()[0] = std::byte{1};
  } else {
    EXPECT_EQ(window.status().code(), RMA_ERR_NO_MEMORY);
    EXPECT_THAT(std::string(window.status().text()), HasSubstr("/proc/sys/vm/nr_hugepages"));
    EXPECT_THAT(std::string(window.status().text()), HasSubstr("RMA_HUGE_PAGES"));
  }
}

using WindowDeathTest = testing::Test;

TEST(WindowDeathTest, AGuardFollowsTheWindow) {
  const Window window = make_window(kMiB);
  EXPECT_DEATH(window.base()[window.address_bytes()] = std::byte{1}, "");
}

TEST(WindowTest, SharesItsLimitAndKeepsItsShare) {
  auto made = Window::create({.limit = 8 * kMiB, .share = 2 * kMiB});
  ASSERT_TRUE(made.ok()) << made.status().text();
  Window& window = made.value();
  ASSERT_TRUE(window.back(0, kMiB).ok());
  std::atomic<std::uint64_t> shown = 77;
  std::uint64_t others = 8 * kMiB;
  window.share_limit(shown, [&] { return others; });
  EXPECT_EQ(shown, kMiB);
  EXPECT_TRUE(window.back(kMiB, kMiB).ok()) << "its share is its own";
  const Status refused = window.back(2 * kMiB, kMiB);
  EXPECT_EQ(refused.code(), RMA_ERR_NO_MEMORY);
  for (const std::size_t number : {8 * kMiB, 2 * kMiB, kMiB}) {
    EXPECT_THAT(std::string(refused.text()), HasSubstr(std::to_string(number)));
  }
  EXPECT_THAT(std::string(refused.text()), HasSubstr("RMA_HEAP_SIZE"));
  others = 5 * kMiB;
  EXPECT_TRUE(window.back(2 * kMiB, kMiB).ok());
  EXPECT_EQ(shown, 3 * kMiB);
  EXPECT_EQ(window.back(3 * kMiB, kMiB).code(), RMA_ERR_NO_MEMORY);
  window.release(0, 3 * kMiB);
  EXPECT_EQ(shown, 0U);
  others = 0;
  EXPECT_TRUE(window.back(0, 8 * kMiB).ok()) << "all of it";
  others = UINT64_MAX;
  window.release(0, 8 * kMiB);
  EXPECT_TRUE(window.back(0, 2 * kMiB).ok());
  EXPECT_FALSE(window.back(2 * kMiB, kMiB).ok());
}

TEST(WindowTest, MakesDoWithFewAddresses) {
  auto window = Window::create({.limit = 8 * kMiB, .addresses = 12 * kMiB});
  ASSERT_TRUE(window.ok()) << window.status().text();
  EXPECT_EQ(window->address_bytes(), 12 * kMiB);
  EXPECT_TRUE(window->back(4 * kMiB, 8 * kMiB).ok());
  const auto too_few = Window::create({.limit = 8 * kMiB, .addresses = 7 * kMiB});
  EXPECT_EQ(too_few.status().code(), RMA_ERR_NO_MEMORY);
  EXPECT_THAT(std::string(too_few.status().text()), HasSubstr("ulimit -v"));
}

TEST(PeerWindowTest, SeesTheSameMemory) {
  Window window = make_window(kMiB);
  ASSERT_TRUE(window.back(0, window.granule()).ok());
  auto peer = PeerWindow::map({.fd = window.fd(), .bytes = window.address_bytes()});
  ASSERT_TRUE(peer.ok()) << peer.status().text();
  EXPECT_NE(peer->base(), window.base());
  window.base()[100] = std::byte{42};
  EXPECT_EQ(peer->base()[100], std::byte{42});
  peer->base()[101] = std::byte{43};
  EXPECT_EQ(window.base()[101], std::byte{43});
}

TEST(PeerWindowTest, SeesAProcessHeapBehindTheWindow) {
  auto made = Window::create({.limit = kMiB});
  auto other = Window::create({.limit = 2 * kMiB});  // any file of a sealed size
  ASSERT_TRUE(made.ok() && other.ok());
  const Window& window = made.value();
  const Window& heap = other.value();
  auto peer = PeerWindow::map({.fd = window.fd(), .bytes = window.address_bytes()},
                              {.fd = heap.fd(), .bytes = heap.address_bytes()});
  ASSERT_TRUE(peer.ok()) << peer.status().text();
  ASSERT_EQ(peer->address_bytes(), window.address_bytes() + heap.address_bytes());
  window.base()[window.address_bytes() - 1] = std::byte{3};
  heap.base()[0] = std::byte{4};
  EXPECT_EQ(peer->base()[window.address_bytes() - 1], std::byte{3});
  EXPECT_EQ(peer->base()[window.address_bytes()], std::byte{4});
  const auto no_such =
      PeerWindow::map({.fd = window.fd(), .bytes = window.address_bytes()}, {.fd = 1 << 20, .bytes = kMiB});
  EXPECT_EQ(no_such.status().code(), RMA_ERR_SYSTEM);
}

TEST(PeerWindowTest, LiesInFrontOfAProcessHeapOnce) {
  auto room = AddressRange::reserve(8 * kMiB);
  ASSERT_TRUE(room.ok());
  const ProcessHeap heap = {
      .front = room->base(), .base = room->base() + 6 * kMiB, .bytes = 2 * kMiB, .fd = -1};
  {
    const AddressRange first = AddressRange::in_front_of(heap, 4 * kMiB);
    EXPECT_EQ(first.base(), heap.base - 4 * kMiB);
    EXPECT_EQ(AddressRange::in_front_of(heap, 2 * kMiB).bytes(), 0U);
  }
  EXPECT_EQ(AddressRange::in_front_of(heap, 8 * kMiB).bytes(), 0U);
  EXPECT_EQ(AddressRange::in_front_of(heap, 6 * kMiB).base(), heap.front);
}

TEST(PeerWindowTest, ReachesAnotherProcess) {
  // The child makes the window after the fork, so the parent can reach it only by mapping it.
  struct Shared {
    std::atomic<int> fd;
    std::atomic<std::size_t> bytes;
    std::atomic<int> step;
  };
  void* page = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  auto* shared = new (page) Shared{};
  const auto wait_for = [&](int step) {
    while (shared->step.load() < step) usleep(100);
  };
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(120);
    auto window = Window::create({.limit = kMiB});
    if (!window.ok() || !window->back(0, window->granule()).ok()) {
      shared->fd = -1;
      shared->step = 1;
      _exit(1);
    }
    window->base()[0] = std::byte{9};
    shared->fd = window->fd();
    shared->bytes = window->address_bytes();
    shared->step = 1;
    wait_for(2);
    _exit(window->base()[1] == std::byte{10} ? 0 : 2);
  }
  wait_for(1);
  const int file = open(fmt::format("/proc/{}/fd/{}", child, shared->fd.load()).c_str(), O_RDWR | O_CLOEXEC);
  auto peer = PeerWindow::map({.fd = file, .bytes = shared->bytes});
  close(file);
  if (peer.ok()) {
    EXPECT_EQ(peer->base()[0], std::byte{9});
    peer->base()[1] = std::byte{10};
  }
  shared->step = 2;
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ASSERT_TRUE(peer.ok()) << peer.status().text();
  EXPECT_EQ(peer->base()[1], std::byte{10}) << "the mapping outlives its owner";
  munmap(page, sizeof(Shared));
}

TEST(PeerWindowTest, RefusesWhatIsNoWindow) {
  const Window window = make_window(kMiB);
  const auto no_such = PeerWindow::map({.fd = 1 << 20, .bytes = kMiB});
  EXPECT_EQ(no_such.status().code(), RMA_ERR_SYSTEM);
  EXPECT_THAT(std::string(no_such.status().text()), HasSubstr("something else than a heap window"));
  const auto too_small = PeerWindow::map({.fd = window.fd(), .bytes = window.address_bytes() + 1});
  EXPECT_EQ(too_small.status().code(), RMA_ERR_SYSTEM);
}

TEST(PeerWindowTest, NobodyShortensAWindow) {
  Window window = make_window(kMiB);
  ASSERT_TRUE(window.back(0, window.granule()).ok());
  const int again = open(fmt::format("/proc/self/fd/{}", window.fd()).c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(again, 0);
  for (const int fd : {window.fd(), again}) {
    EXPECT_EQ(ftruncate(fd, 0), -1);
    EXPECT_EQ(errno, EPERM);
  }
  close(again);
  EXPECT_EQ(window.base()[0], std::byte{0});
}

TEST(PeerWindowTest, RefusesAWindowThatCouldBeShortened) {
  const int file = memfd_create("no-window", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ASSERT_GE(file, 0);
  ASSERT_EQ(ftruncate(file, 2 * kMiB), 0);
  EXPECT_EQ(PeerWindow::map({.fd = file, .bytes = kMiB}).status().code(), RMA_ERR_SYSTEM);
  ASSERT_EQ(fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
  EXPECT_TRUE(PeerWindow::map({.fd = file, .bytes = kMiB}).ok());
  close(file);
}

}  // namespace
}  // namespace librma
