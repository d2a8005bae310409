#include "fabric/unmap_watch.hpp"

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "fabric/private_pages.hpp"
#include "tag_registrar.hpp"
#include "util/system/background_thread.hpp"

namespace librma {
namespace {

AddressSpan span_of(const std::byte* address, std::size_t pages) {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  return {begin, begin + pages * page_bytes()};
}

class UnmapWatchTest : public testing::Test {
 protected:
  void SetUp() override {
    auto watch = UnmapWatch::start();
    if (!watch.ok()) GTEST_SKIP() << watch.status().text();
    watch_ = std::move(watch).value();
  }
  std::vector<AddressSpan> notes() {
    EXPECT_TRUE(watch_->settle());
    std::vector<AddressSpan> all;
    while (const auto span = watch_->take()) all.push_back(*span);
    return all;
  }
  std::unique_ptr<UnmapWatch> watch_;
};

TEST_F(UnmapWatchTest, NotesWhatIsUnmapped) {
  std::byte* memory = map_pages(4);
  ASSERT_TRUE(watch_->watch(span_of(memory, 4)));
  const auto before = watch_->settle();
  EXPECT_EQ(watch_->settle(), before);
  unmap_pages(memory + page_bytes(), 2);
  EXPECT_NE(watch_->settle(), before);
  EXPECT_EQ(notes(), std::vector{span_of(memory + page_bytes(), 2)});
  unmap_pages(memory, 4);
}

TEST_F(UnmapWatchTest, WhatIsNotWatchedIsNotNoted) {
  std::byte* memory = map_pages(4);
  ASSERT_TRUE(watch_->watch(span_of(memory, 1)));
  unmap_pages(memory + page_bytes(), 3);
  EXPECT_TRUE(notes().empty());
  unmap_pages(memory, 1);
}

TEST_F(UnmapWatchTest, KeepsNotesInOrderAndOverflowsToEverywhere) {
  const std::size_t pages = UnmapWatch::kNotes + 1;
  std::byte* memory = map_pages(pages);
  ASSERT_TRUE(watch_->watch(span_of(memory, pages)));
  for (std::size_t page = 0; page < pages; ++page) unmap_pages(memory + page * page_bytes(), 1);
  const auto all = notes();
  ASSERT_EQ(all.size(), UnmapWatch::kNotes + 1);
  for (std::size_t page = 0; page + 1 < pages; ++page) {
    ASSERT_EQ(all[page], span_of(memory + page * page_bytes(), 1));
  }
  EXPECT_EQ(all.back(), kEverywhere);
  EXPECT_TRUE(notes().empty());
}

TEST_F(UnmapWatchTest, RefusesWhatIsNotThere) {
  std::byte* memory = map_pages(1);
  unmap_pages(memory, 1);
  EXPECT_FALSE(watch_->watch(span_of(memory, 1)));
}

TEST_F(UnmapWatchTest, TellsPrivateFromSharedMemory) {
  auto pages = PrivatePages::open();
  ASSERT_TRUE(pages.ok()) << pages.status().text();
  std::byte* memory = map_pages(600);  // more than is read at once
  EXPECT_TRUE((*pages.value()).contain(span_of(memory, 600)));
  std::byte* last = memory + 599 * page_bytes();
  ASSERT_NE(::mmap(last, page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
            MAP_FAILED);
  EXPECT_FALSE((*pages.value()).contain(span_of(memory, 600))) << "not touched";
  stamp(last, page_bytes());
  EXPECT_FALSE((*pages.value()).contain(span_of(memory, 600))) << "shared";
  EXPECT_TRUE((*pages.value()).contain(span_of(memory, 599)));
  unmap_pages(memory, 600);
}

// Ends the test if it hangs.
void guard_against_hanging() { ::alarm(120); }

TEST_F(UnmapWatchTest, AForkedChildIsNotDisturbedAndDisturbsNobody) {
  std::byte* memory = map_pages(4);
  ASSERT_TRUE(watch_->watch(span_of(memory, 4)));
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    guard_against_hanging();
    ::close(pipe_ends[1]);
    bool fine = ::munmap(memory, 2 * page_bytes()) == 0;
    fine = fine && !watch_->settle() && !watch_->watch(span_of(memory + 2 * page_bytes(), 2));
    watch_.reset();
    char byte = 0;
    fine = fine && ::read(pipe_ends[0], &byte, 1) == 0;  // lives until the parent has ended its part
    ::_exit(fine ? 0 : 1);
  }
  ASSERT_GT(child, 0);
  ::close(pipe_ends[0]);
  EXPECT_TRUE(notes().empty()) << "the child's memory is its own";
  unmap_pages(memory, 1);
  EXPECT_EQ(notes(), std::vector{span_of(memory, 1)});
  guard_against_hanging();
  watch_.reset();
  unmap_pages(memory + page_bytes(), 3);  // no thread reads events any more, and none waits for a reader
  ::alarm(0);
  ::close(pipe_ends[1]);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

// The C library keeps the stacks of ended threads for new threads, and unmaps the oldest when they are too
// many. So the thread that ends the watch may unmap a stack too. It must not wait for a reader of the event.
TEST_F(UnmapWatchTest, EndsWhileWatchedStacksAreUnmapped) {
  // The stacks are as large as the watching thread's. Together they exceed the size that the C library keeps
  // (40 MiB), so it keeps no others then.
  constexpr std::size_t kThreads = 100;
  struct Stack {
    BackgroundThread thread;
    AddressSpan span;
    std::barrier<>* all_there = nullptr;
  };
  std::barrier all_there(kThreads);
  std::vector<Stack> threads(kThreads);
  for (Stack& stack : threads) {
    stack.all_there = &all_there;
    const auto note_stack = [](void* context) {
      auto& self = *static_cast<Stack*>(context);
      const volatile std::byte here = {};
      const auto address = reinterpret_cast<std::uintptr_t>(&here) / page_bytes() * page_bytes();
      self.span = {address, address + page_bytes()};
      self.all_there->arrive_and_wait();
    };
    const int failed = stack.thread.start("stack", note_stack, &stack);
    EXPECT_EQ(failed, 0);
    if (failed != 0) all_there.arrive_and_drop();  // or the others would wait for ever
  }
  std::vector<AddressSpan> stacks;
  for (Stack& stack : threads) {
    stack.thread.join();
    stacks.push_back(stack.span);
  }
  std::erase_if(stacks, [this](const AddressSpan& stack) { return !watch_->watch(stack); });
  ASSERT_FALSE(stacks.empty()) << "none was kept";
  guard_against_hanging();
  watch_.reset();
  ::alarm(0);
  const bool unmapped = std::ranges::any_of(stacks, [](const AddressSpan& stack) {
    unsigned char there = 0;
    return ::mincore(reinterpret_cast<void*>(stack.begin), stack.bytes(), &there) != 0;
  });
  EXPECT_TRUE(unmapped) << "none was unmapped: this tests nothing any more";
}

// Makes the system call `number` fail with EPERM from now on, as containers do.
void refuse(unsigned number) {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{.len = 4, .filter = filter};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    ::_exit(2);
  }
}

TEST(UnmapWatchDeathTest, ARefusedSystemCallTurnsTheCacheOff) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        refuse(SYS_userfaultfd);
        TagRegistrar registrar;
        const auto cache = RegistrationCache::create(registrar, {.max_bytes = SIZE_MAX, .max_entries = 10});
        std::fprintf(stderr, "off: %s\n", cache->why_off().c_str());
        std::byte* memory = map_pages(2);
        bool fine = cache->get(memory, 1).ok();
        fine = cache->get(memory, 1).ok() && fine;
        fine = fine && registrar.live() == 0 && registrar.adds() == 2;
        ::_exit(fine ? 0 : 1);
      },
      testing::ExitedWithCode(0), "off: unmapping cannot be watched .*refuses.*not permitted");
}

}  // namespace
}  // namespace librma
