// Several threads of each rank at once: transfers on parts of their own, one counter, one sum, requests,
// teams.

#include <algorithm>
#include <array>
#include <string>
#include <thread>

#include "harness.hpp"
#include "numbers.hpp"

namespace multi {
namespace {

constexpr std::size_t kThreads = 3;

/// Runs work(number of the thread) on kThreads threads.
template <typename Work>
void on_threads(const Work& work) {
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) threads.emplace_back([&work, t] { work(t); });
  for (std::thread& thread : threads) thread.join();
}

void transfers(Remote remote, int count) {
  constexpr std::size_t kPart = 4096;
  Slices slices(remote, kPart * kThreads);
  on_threads([&](std::size_t t) {
    Random random({111, static_cast<std::uint64_t>(me()), t});
    for (int round = 0; round < count; ++round) {
      const int target = static_cast<int>(random.below(static_cast<std::size_t>(ranks())));
      const std::span<std::byte> model = slices.model(target).subspan(t * kPart, kPart);
      std::byte* const there = slices.at(target) + t * kPart;
      std::vector<std::byte> block(random.below(1000));
      const std::size_t at = random.below(kPart - block.size());
      rma_request_t request = RMA_REQUEST_NULL;
      if (random.chance(50)) {
        random.fill(block);
        EXPECT_TRUE(ok(rma_put_nb(there + at, block.data(), block.size(), target, &request)));
        EXPECT_TRUE(ok(rma_wait(&request)));
        std::copy(block.begin(), block.end(), model.begin() + static_cast<std::ptrdiff_t>(at));
      } else {
        EXPECT_TRUE(ok(rma_get_nb(block.data(), there + at, block.size(), target, &request)));
        EXPECT_TRUE(ok(rma_wait(&request)));
        EXPECT_EQ(first_difference(block, model.subspan(at, block.size())), block.size());
      }
    }
  });
  slices.check();
}

TEST(Thread, TransfersWithTheHeap) { transfers(Remote::window, rounds(ranks() <= 4 ? 1000 : 100)); }

TEST(Thread, TransfersWithRegisteredMemory) {
  transfers(Remote::registered, rounds(ranks() <= 4 ? 500 : 50));
}

TEST(Thread, OneCounterAndOneSum) {
  for (const Remote remote : kRemotes) {
    const Memory memory(remote, 64);
    std::fill(memory.mine().begin(), memory.mine().end(), std::byte{0});
    barrier();
    const int each = rounds(remote == Remote::window ? 300 : 30);
    const int keeper = ranks() - 1;  // the rank that holds the sum
    on_threads([&](std::size_t) {
      const double half = 0.5;
      for (int i = 0; i < each; ++i) {
        auto* const counter = reinterpret_cast<std::uint64_t*>(memory.at(0));
        EXPECT_TRUE(ok(rma_atomic64(RMA_FETCH_ADD, counter, 1, 0, nullptr, 0)));
        EXPECT_TRUE(ok(rma_acc(memory.at(keeper) + 8, &half, 1, RMA_DOUBLE, nullptr, keeper)));
      }
    });
    barrier();
    const auto by_each = static_cast<std::uint64_t>(each) * kThreads;
    std::uint64_t count = 0;
    double sum = 0;
    std::memcpy(&count, memory.mine().data(), sizeof count);
    std::memcpy(&sum, memory.mine().data() + 8, sizeof sum);
    EXPECT_EQ(count, me() == 0 ? by_each * static_cast<std::uint64_t>(ranks()) : 0);
    EXPECT_EQ(sum, me() == keeper ? 0.5 * static_cast<double>(by_each) * ranks() : 0);
    barrier();
  }
}

TEST(Thread, ImplicitOnesAndTheFenceOfTheirThread) {
  constexpr std::size_t kPart = 2048;
  Slices slices(Remote::registered, kPart * kThreads);
  const int target = neighbour(1);
  on_threads([&](std::size_t t) {
    Random random({112, static_cast<std::uint64_t>(me()), t});
    std::vector<std::byte> block(kPart);
    for (int round = 0; round < rounds(20); ++round) {
      random.fill(block);
      for (std::size_t at = 0; at < kPart; at += 128) {
        EXPECT_TRUE(ok(rma_put_nbi(slices.at(target) + t * kPart + at, block.data() + at, 128, target)));
      }
      EXPECT_TRUE(ok(rma_fence(target)));
    }
    std::copy(block.begin(), block.end(),
              slices.model(target).begin() + static_cast<std::ptrdiff_t>(t * kPart));
  });
  slices.check();
}

TEST(Thread, EachItsOwnTeam) {
  // Collectives of different teams go on at the same time.
  std::array<rma_team_t, kThreads> teams = {};
  for (rma_team_t& team : teams) EXPECT_TRUE(ok(rma_team_split(rma_team_world(), 0, -me(), &team)));
  on_threads([&](std::size_t t) {
    for (long round = 0; round < rounds(50); ++round) {
      const long mine = round * static_cast<long>(t + 1) + me();
      long sum = 0;
      EXPECT_TRUE(ok(rma_allreduce(teams[t], &sum, &mine, 1, RMA_LONG, RMA_SUM)));
      const long size = ranks();
      EXPECT_EQ(sum, size * round * static_cast<long>(t + 1) + size * (size - 1) / 2);
      void* block = nullptr;
      EXPECT_TRUE(ok(rma_malloc(teams[t], 64, 0, nullptr, &block)));
      EXPECT_TRUE(ok(rma_free(teams[t], block)));
    }
  });
  for (rma_team_t& team : teams) EXPECT_TRUE(ok(rma_team_free(&team)));
}

TEST(Thread, WaitersOfOneProcess) {
  // Each thread waits on a word of its own, which another rank's thread of the same number sets.
  const Memory flags(Remote::window, kThreads * sizeof(std::uint64_t));
  std::fill(flags.mine().begin(), flags.mine().end(), std::byte{0});
  barrier();
  const int next = neighbour(1);
  on_threads([&](std::size_t t) {
    auto* const mine = reinterpret_cast<std::uint64_t*>(flags.at(me())) + t;
    auto* const theirs = reinterpret_cast<std::uint64_t*>(flags.at(next)) + t;
    for (std::uint64_t round = 1; round <= rounds(100U); ++round) {
      EXPECT_TRUE(ok(rma_put_notify(nullptr, nullptr, 0, theirs, round, next)));
      EXPECT_TRUE(ok(rma_wait_until(mine, RMA_GE, round, nullptr)));
    }
  });
  barrier();
}

TEST(Thread, LastErrorsAreTheirOwn) {
  on_threads([&](std::size_t t) {
    const int rank = ranks() + 10 + static_cast<int>(t);
    for (int i = 0; i < 100; ++i) {
      EXPECT_TRUE(refused(rma_fence(rank), RMA_ERR_RANK, {"rma_fence", std::to_string(rank)}));
    }
  });
  barrier();
}

}  // namespace
}  // namespace multi
