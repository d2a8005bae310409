#include "atomics/stripe_locks.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "../forked.hpp"
#include "job_of_one.hpp"

namespace librma {
namespace {

constexpr WaitPolicy kSpin = {.spins = 200, .yields = 0};

void count_under_lock(SharedLock& lock, const WaitPolicy& policy, std::uint64_t& counter, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    lock.lock({.policy = policy});
    ++counter;
    lock.unlock();
  }
}

TEST(SharedLock, ExcludesThreads) {
  for (const WaitPolicy& policy : {kSleepAtOnce, kSpin}) {
    SharedLock lock;
    std::uint64_t counter = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([&] { count_under_lock(lock, policy, counter, 5000); });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(counter, 4U * 5000U);
    EXPECT_TRUE(lock.try_lock(0));
    EXPECT_FALSE(lock.try_lock(0));
    lock.unlock();
  }
}

TEST(SharedLock, ExcludesProcesses) {
  struct Shared {
    SharedLock lock;
    std::uint64_t counter = 0;
  };
  void* const memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto& shared = *new (memory) Shared;
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = fork();
    ASSERT_NE(child, -1);
    if (child == 0) {
      count_under_lock(shared.lock, kSleepAtOnce, shared.counter, 5000);
      _exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(shared.counter, 4U * 5000U);
  munmap(memory, sizeof(Shared));
}

TEST(SharedLock, IsTakenOverFromAProcessThatHasEnded) {
  const SharedWithForked<SharedLock> lock;
  constexpr int kVictim = 3;
  std::optional<Forked> victim(std::in_place, [&] { return lock->try_lock(kVictim); });
  ASSERT_TRUE(victim->ended_well());
  std::vector<int> asked;  // the ranks about which `ended` was asked
  const auto ended = [&](int rank) {
    asked.push_back(rank);
    return asked.size() > 1;  // it lives when it is asked for the first time
  };
  lock->lock({.rank = 5, .policy = kSleepAtOnce, .ended = ended});
  EXPECT_EQ(asked, (std::vector<int>{kVictim, kVictim}));
  EXPECT_FALSE(lock->try_lock(0));
  lock->unlock();
  EXPECT_TRUE(lock->try_lock(0));
}

TEST(SharedLock, IsTakenOverByOneThreadAtATime) {
  SharedLock lock;
  ASSERT_TRUE(lock.try_lock(3));
  const LockUser user = {.rank = 1, .policy = kSleepAtOnce, .ended = [](int rank) { return rank == 3; }};
  std::uint64_t counter = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 5000; ++round) {
        lock.lock(user);
        ++counter;
        lock.unlock();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter, 4U * 5000U);
}

TEST(StripeLocks, OneLockPerStripe) {
  StripeLocks locks;
  EXPECT_EQ(&locks.of(5 * kStripe), &locks.of(6 * kStripe - 1));
  EXPECT_EQ(StripeLocks::left_in_stripe(5 * kStripe), kStripe);
  EXPECT_EQ(StripeLocks::left_in_stripe(6 * kStripe - 1), 1U);

  // Neighbouring stripes, and rows a power of two apart, spread over most of the locks.
  for (const std::size_t distance : {kStripe, 64 * kStripe, 1024 * kStripe}) {
    std::set<SharedLock*> used;
    for (std::size_t i = 0; i < 512; ++i) used.insert(&locks.of(0x7f0000000000 + i * distance));
    EXPECT_GE(used.size(), 300U) << distance;
  }
}

TEST(LockCursor, HoldsTheLockOfOneStripe) {
  StripeLocks locks;
  SharedLock& first = locks.of(0);
  SharedLock& second = locks.of(kStripe);
  ASSERT_NE(&first, &second);
  {
    const LockUser user = {.policy = kSleepAtOnce};
    LockCursor cursor(locks, user);
    cursor.hold(0, 8);
    EXPECT_FALSE(first.try_lock(0));
    // These pieces are more, and larger, than the cursor takes under one lock.
    for (int i = 0; i < 1000; ++i) cursor.hold(8, 1024);
    EXPECT_FALSE(first.try_lock(0));
    cursor.hold(kStripe, 8);
    EXPECT_FALSE(second.try_lock(0));
    ASSERT_TRUE(first.try_lock(0));
    first.unlock();
  }
  EXPECT_TRUE(second.try_lock(0));
}

}  // namespace
}  // namespace librma
