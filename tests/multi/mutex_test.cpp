// Mutexes: exclusion between processes and threads, many of them at many owners, errors.

#include <sched.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <thread>

#include "harness.hpp"

namespace multi {
namespace {

/// Mutexes of the world; a rank owns as many as `mine` says.
class Mutexes {
 public:
  explicit Mutexes(std::size_t mine, rma_team_t team = rma_team_world()) {
    EXPECT_TRUE(ok(rma_mutexes_create(team, mine, &handle_)));
  }
  ~Mutexes() {
    EXPECT_TRUE(ok(rma_mutexes_destroy(&handle_)));
    EXPECT_EQ(handle_, nullptr);
  }
  Mutexes(const Mutexes&) = delete;
  Mutexes& operator=(const Mutexes&) = delete;
  [[nodiscard]] rma_mutexes_t get() const { return handle_; }

 private:
  rma_mutexes_t handle_ = nullptr;
};

/// Adds 1 to a counter, in a way that loses an update if two threads do it at once.
void increment(std::byte* counter, int rank) {
  std::uint64_t value = 0;
  EXPECT_TRUE(ok(rma_get(&value, counter, sizeof value, rank)));
  ++value;
  if (value % 64 == 0) sched_yield();  // gives others the chance to run in between
  EXPECT_TRUE(ok(rma_put(counter, &value, sizeof value, rank)));
}

std::uint64_t& word(const Memory& memory, std::size_t index = 0) {
  return reinterpret_cast<std::uint64_t*>(memory.mine().data())[index];
}

TEST(Mutex, ExcludesOtherProcesses) {
  for (const Remote remote : kRemotes) {
    const Memory counter(remote, sizeof(std::uint64_t));
    word(counter) = 0;
    const Mutexes mutexes(me() == 0 ? 1 : 0);
    barrier();
    const std::uint64_t each = rounds(ranks() <= 4 ? 500U : 50U);
    for (std::uint64_t i = 0; i < each; ++i) {
      EXPECT_TRUE(ok(rma_lock(mutexes.get(), 0, 0)));
      increment(counter.at(0), 0);
      EXPECT_TRUE(ok(rma_unlock(mutexes.get(), 0, 0)));
    }
    barrier();
    EXPECT_EQ(word(counter), me() == 0 ? each * static_cast<std::uint64_t>(ranks()) : 0);
    barrier();
  }
}

TEST(Mutex, ExcludesOtherThreads) {
  const Memory counter(Remote::window, sizeof(std::uint64_t));
  word(counter) = 0;
  const int owner = ranks() - 1;
  const Mutexes mutexes(me() == owner ? 1 : 0);
  barrier();
  const std::uint64_t each = rounds(60U);
  constexpr std::size_t kLockers = 3;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kLockers; ++t) {
    threads.emplace_back([&] {
      for (std::uint64_t i = 0; i < each; ++i) {
        EXPECT_TRUE(ok(rma_lock(mutexes.get(), 0, owner)));
        increment(counter.at(0), 0);  // on another host than the mutex, if there are several
        EXPECT_TRUE(ok(rma_unlock(mutexes.get(), 0, owner)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  barrier();
  EXPECT_EQ(word(counter), me() == 0 ? each * kLockers * static_cast<std::uint64_t>(ranks()) : 0);
  barrier();
}

TEST(Mutex, ManyAtEveryOwner) {
  // Rank r owns r + 1 mutexes. Each guards a counter at the next rank, which may be on another host.
  const auto owned = [](int rank) { return static_cast<std::size_t>(rank) + 1; };
  const Memory counters(Remote::window, owned(ranks()) * sizeof(std::uint64_t));
  for (std::size_t i = 0; i < owned(ranks()); ++i) word(counters, i) = 0;
  const Mutexes mutexes(owned(me()));
  barrier();
  Random random({61, static_cast<std::uint64_t>(me())});
  const std::uint64_t each = rounds(300U);
  for (std::uint64_t i = 0; i < each; ++i) {
    const int owner = static_cast<int>(random.below(static_cast<std::size_t>(ranks())));
    const int keeper = (owner + 1) % ranks();
    const std::size_t index = random.below(owned(owner));
    EXPECT_TRUE(ok(rma_lock(mutexes.get(), index, owner)));
    increment(counters.at(keeper) + index * sizeof(std::uint64_t), keeper);
    EXPECT_TRUE(ok(rma_unlock(mutexes.get(), index, owner)));
  }
  barrier();
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < owned(ranks()); ++i) sum += word(counters, i);
  const auto sums = gather(sum);
  EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), std::uint64_t{0}),
            each * static_cast<std::uint64_t>(ranks()));
  barrier();
}

TEST(Mutex, ServesEveryRankItsTurns) {
  // Each holder records itself under the lock. No holder is lost, and none has two turns at once.
  const auto all = static_cast<std::size_t>(ranks());
  const std::size_t each = rounds<std::size_t>(ranks() <= 4 ? 200 : 30);
  const Memory log(Remote::window, (1 + each * all) * sizeof(std::uint64_t));
  word(log) = 0;
  const Mutexes mutexes(1);
  barrier();
  for (std::size_t i = 0; i < each; ++i) {
    EXPECT_TRUE(ok(rma_lock(mutexes.get(), 0, 0)));
    std::uint64_t used = 0;
    EXPECT_TRUE(ok(rma_get(&used, log.at(0), sizeof used, 0)));
    const auto mine = static_cast<std::uint64_t>(me());
    EXPECT_TRUE(ok(rma_put(log.at(0) + (1 + used) * sizeof used, &mine, sizeof mine, 0)));
    ++used;
    EXPECT_TRUE(ok(rma_put(log.at(0), &used, sizeof used, 0)));
    EXPECT_TRUE(ok(rma_unlock(mutexes.get(), 0, 0)));
  }
  barrier();
  if (me() == 0) {
    std::vector<std::size_t> turns(all);
    EXPECT_EQ(word(log), each * all);
    for (std::size_t i = 1; i <= each * all; ++i) {
      const std::uint64_t holder = word(log, i);
      EXPECT_LT(holder, all);
      if (holder < all) ++turns[holder];
    }
    EXPECT_EQ(turns, std::vector<std::size_t>(all, each));
  }
  barrier();
}

TEST(Mutex, HoldsSeveralAtOnce) {
  const Mutexes mutexes(2);
  const int next = neighbour(1);
  // The mutex of the lower owner is locked first, so that no circle of waiting ranks can close.
  const int low = std::min(me(), next);
  const int high = std::max(me(), next);
  for (int i = 0; i < rounds(50); ++i) {
    EXPECT_TRUE(ok(rma_lock(mutexes.get(), 0, low)));
    EXPECT_TRUE(ok(rma_lock(mutexes.get(), 1, high)));
    EXPECT_TRUE(ok(rma_unlock(mutexes.get(), 0, low)));
    EXPECT_TRUE(ok(rma_unlock(mutexes.get(), 1, high)));
  }
  barrier();
}

TEST(Mutex, RefusesWhatIsNotThere) {
  const Mutexes mutexes(2);
  EXPECT_TRUE(
      refused(rma_lock(mutexes.get(), 0, ranks()), RMA_ERR_RANK, {"rma_lock", std::to_string(ranks())}));
  EXPECT_TRUE(refused(rma_lock(mutexes.get(), 0, -1), RMA_ERR_RANK, {"rma_lock", "-1"}));
  EXPECT_TRUE(refused(rma_lock(mutexes.get(), 2, me()), RMA_ERR_ARGUMENT,
                      {"rma_lock", "mutex 2", std::to_string(me())}));
  EXPECT_TRUE(refused(rma_unlock(mutexes.get(), 2, me()), RMA_ERR_ARGUMENT, {"rma_unlock", "2"}));
  EXPECT_TRUE(refused(rma_lock(nullptr, 0, me()), RMA_ERR_ARGUMENT, {"rma_lock"}));
  EXPECT_TRUE(refused(rma_unlock(nullptr, 0, me()), RMA_ERR_ARGUMENT, {"rma_unlock"}));
  EXPECT_TRUE(
      refused(rma_mutexes_create(rma_team_world(), 1, nullptr), RMA_ERR_ARGUMENT, {"rma_mutexes_create"}));
  EXPECT_TRUE(refused(rma_mutexes_destroy(nullptr), RMA_ERR_ARGUMENT, {"rma_mutexes_destroy"}));
  rma_mutexes_t none = nullptr;
  EXPECT_TRUE(refused(rma_mutexes_destroy(&none), RMA_ERR_ARGUMENT, {"rma_mutexes_destroy"}));
  barrier();
}

TEST(Mutex, RefusesWhatDoesNotFitNow) {
  rma_mutexes_t mutexes = nullptr;
  EXPECT_TRUE(ok(rma_mutexes_create(rma_team_world(), 1, &mutexes)));
  EXPECT_TRUE(
      refused(rma_unlock(mutexes, 0, me()), RMA_ERR_STATE, {"rma_unlock", "rank " + std::to_string(me())}));
  EXPECT_TRUE(ok(rma_lock(mutexes, 0, me())));
  EXPECT_TRUE(
      refused(rma_lock(mutexes, 0, me()), RMA_ERR_STATE, {"rma_lock", "rank " + std::to_string(me())}));
  barrier();
  // The mutex belongs to another rank, which holds it.
  for (int other = 0; other < ranks(); ++other) {
    if (other != me()) EXPECT_TRUE(refused(rma_unlock(mutexes, 0, other), RMA_ERR_STATE, {"rma_unlock"}));
  }
  // All members return the same error, and nothing is destroyed.
  EXPECT_TRUE(refused(rma_mutexes_destroy(&mutexes), RMA_ERR_STATE, {"rma_mutexes_destroy", "rank"}));
  EXPECT_NE(mutexes, nullptr);
  EXPECT_TRUE(ok(rma_unlock(mutexes, 0, me())));
  const rma_mutexes_t stale = mutexes;
  EXPECT_TRUE(ok(rma_mutexes_destroy(&mutexes)));
  EXPECT_EQ(mutexes, nullptr);
  EXPECT_TRUE(refused(rma_lock(stale, 0, me()), RMA_ERR_ARGUMENT, {"rma_lock"}));
  barrier();
}

TEST(Mutex, OfASubteamOnly) {
  rma_team_t half = nullptr;
  EXPECT_TRUE(ok(rma_team_split(rma_team_world(), me() % 2, 0, &half)));
  {
    const Mutexes mutexes(1, half);
    const int first = me() % 2;
    for (int i = 0; i < rounds(50); ++i) {
      EXPECT_TRUE(ok(rma_lock(mutexes.get(), 0, first)));
      EXPECT_TRUE(ok(rma_unlock(mutexes.get(), 0, first)));
    }
    if (ranks() > 1) {
      const int outside = 1 - first;
      EXPECT_TRUE(
          refused(rma_lock(mutexes.get(), 0, outside), RMA_ERR_RANK, {"rma_lock", std::to_string(outside)}));
    }
  }
  EXPECT_TRUE(ok(rma_team_free(&half)));
}

}  // namespace
}  // namespace multi
