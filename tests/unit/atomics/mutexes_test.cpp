#include "atomics/mutexes.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <limits>
#include <thread>

#include "job_of_one.hpp"

namespace librma {
namespace {

constexpr auto kNobodyLost = [](std::uint64_t, std::uint32_t) { return false; };

TEST(TicketMutex, ServesInTheOrderOfArrival) {
  constexpr std::uint32_t kWaiters = 40;  // more than there are groups of sleepers
  TicketMutex mutex;
  ASSERT_TRUE(mutex.lock(1, kSleepAtOnce, kNobodyLost));
  std::vector<std::uint32_t> order;  // guarded by the mutex
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < kWaiters; ++i) {
    threads.emplace_back([&, i] {
      ASSERT_TRUE(mutex.lock(i + 2, kSleepAtOnce, kNobodyLost));
      order.push_back(i);
      mutex.unlock();
    });
    while (mutex.next.load() != i + 2) std::this_thread::yield();  // it has drawn its ticket
  }
  EXPECT_FALSE(mutex.idle());
  EXPECT_TRUE(order.empty());
  mutex.unlock();
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(order.size(), kWaiters);
  for (std::uint32_t i = 0; i < kWaiters; ++i) EXPECT_EQ(order[i], i);
  EXPECT_TRUE(mutex.idle());
}

TEST(TicketMutex, TicketsMayWrapAround) {
  TicketMutex mutex;
  mutex.next = std::numeric_limits<std::uint32_t>::max();
  mutex.serving = std::numeric_limits<std::uint32_t>::max();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(mutex.lock(1, kSleepAtOnce, kNobodyLost));
    EXPECT_FALSE(mutex.idle());
    mutex.unlock();
    EXPECT_TRUE(mutex.idle());
  }
  EXPECT_EQ(mutex.serving.load(), 2U);
}

TEST(TicketMutex, TellsThatItsHolderOrTheNextInTurnHasEnded) {
  TicketMutex mutex;
  std::vector<std::uint64_t> holders;  // the holders about which `lost` was asked
  const auto lost = [&](std::uint64_t holder, std::uint32_t /*ticket*/) {
    holders.push_back(holder);
    return true;
  };
  ASSERT_TRUE(mutex.lock(7, kSleepAtOnce, lost));
  EXPECT_TRUE(holders.empty());
  EXPECT_FALSE(mutex.lock(8, kSleepAtOnce, lost));
  // Now it is the turn of the second thread, which has left.
  mutex.unlock();
  EXPECT_FALSE(mutex.lock(9, kSleepAtOnce, lost));
  EXPECT_EQ(holders, (std::vector<std::uint64_t>{7, 0}));
  EXPECT_EQ(mutex.sleepers.load(), 0U);
}

TEST(TicketMutex, ExcludesProcesses) {
  struct Shared {
    TicketMutex mutex;
    std::uint64_t counter = 0;
  };
  void* const memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto& shared = *new (memory) Shared;
  std::vector<pid_t> children;
  for (std::uint64_t i = 1; i <= 4; ++i) {
    const pid_t child = fork();
    ASSERT_NE(child, -1);
    if (child == 0) {
      for (int round = 0; round < 1000; ++round) {
        ASSERT_TRUE(shared.mutex.lock(i, kSleepAtOnce, kNobodyLost));
        ++shared.counter;
        shared.mutex.unlock();
      }
      _exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(shared.counter, 4000U);
  EXPECT_TRUE(shared.mutex.idle());
  munmap(memory, sizeof(Shared));
}

class Mutexes : public JobOfOne {
 protected:
  void SetUp() override {
    JobOfOne::SetUp();
    auto block = MutexSet::allocate(*job, nullptr, kCount);
    ASSERT_TRUE(block.ok()) << block.status().text();
    address = block.value();
    const MutexSet::Member self = {.rank = 0, .address = address, .count = kCount};
    set = std::make_unique<MutexSet>(*job, nullptr, std::span(&self, 1));
  }
  void TearDown() override { MutexSet::release(*job, nullptr, address); }

  static constexpr std::size_t kCount = 3;
  void* address = nullptr;
  std::unique_ptr<MutexSet> set;
};

TEST_F(Mutexes, ExcludeThreadsOfOneProcess) {
  std::array<std::uint64_t, kCount> counters = {};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (std::size_t i = 0; i < 1500; ++i) {
        ASSERT_TRUE(set->lock(i % kCount, 0).ok());
        ++counters[i % kCount];
        ASSERT_TRUE(set->unlock(i % kCount, 0).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::uint64_t counter : counters) EXPECT_EQ(counter, 4U * 1500U / kCount);
  EXPECT_TRUE(set->check_idle().ok());
}

TEST_F(Mutexes, TellWhoeverLocksTwice) {
  ASSERT_TRUE(set->lock(1, 0).ok());
  EXPECT_EQ(set->lock(1, 0).code(), RMA_ERR_STATE);
  EXPECT_TRUE(set->lock(2, 0).ok());  // another mutex is not affected
  EXPECT_TRUE(set->unlock(2, 0).ok());
  EXPECT_TRUE(set->unlock(1, 0).ok());
  EXPECT_TRUE(set->lock(1, 0).ok());
  EXPECT_TRUE(set->unlock(1, 0).ok());
}

TEST_F(Mutexes, AreUnlockedByTheirHolderOnly) {
  EXPECT_EQ(set->unlock(0, 0).code(), RMA_ERR_STATE);
  ASSERT_TRUE(set->lock(0, 0).ok());
  std::thread([&] { EXPECT_EQ(set->unlock(0, 0).code(), RMA_ERR_STATE); }).join();
  EXPECT_TRUE(set->unlock(0, 0).ok());
  EXPECT_EQ(set->unlock(0, 0).code(), RMA_ERR_STATE);
}

TEST_F(Mutexes, AreNotIdleWhileHeld) {
  EXPECT_TRUE(set->check_idle().ok());
  ASSERT_TRUE(set->lock(2, 0).ok());
  EXPECT_EQ(set->check_idle().code(), RMA_ERR_STATE);
  ASSERT_TRUE(set->unlock(2, 0).ok());
  EXPECT_TRUE(set->check_idle().ok());
}

TEST_F(Mutexes, RefuseWhatIsNotThere) {
  EXPECT_EQ(set->lock(kCount, 0).code(), RMA_ERR_ARGUMENT);
  EXPECT_EQ(set->unlock(kCount, 0).code(), RMA_ERR_ARGUMENT);
  EXPECT_EQ(set->lock(0, 1).code(), RMA_ERR_RANK);
  EXPECT_EQ(set->lock(0, -1).code(), RMA_ERR_RANK);
  MutexSet nobodys(*job, nullptr, {});
  EXPECT_EQ(nobodys.lock(0, 0).code(), RMA_ERR_RANK);
  EXPECT_TRUE(nobodys.check_idle().ok());
}

TEST_F(Mutexes, TakeMemoryForWhatIsAskedAndGiveItBack) {
  const std::size_t blocks = job->memory().allocator().blocks_in_use();
  auto none = MutexSet::allocate(*job, nullptr, 0);
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none.value(), nullptr);
  const MutexSet::Member self = {.rank = 0, .address = nullptr, .count = 0};
  MutexSet empty(*job, nullptr, std::span(&self, 1));
  EXPECT_EQ(empty.lock(0, 0).code(), RMA_ERR_ARGUMENT);
  EXPECT_EQ(MutexSet::allocate(*job, nullptr, std::numeric_limits<std::size_t>::max()).status().code(),
            RMA_ERR_SIZE);
  EXPECT_EQ(MutexSet::allocate(*job, nullptr, std::size_t{1} << 40).status().code(), RMA_ERR_NO_MEMORY);

  auto some = MutexSet::allocate(*job, nullptr, 10);
  ASSERT_TRUE(some.ok());
  EXPECT_EQ(job->memory().allocator().blocks_in_use(), blocks + 1);
  MutexSet::release(*job, nullptr, some.value());
  EXPECT_EQ(job->memory().allocator().blocks_in_use(), blocks);
}

}  // namespace
}  // namespace librma
