// Everything at once, by several threads of each rank: transfers of all kinds, fences, accumulates,
// atomics, mutexes, allocation and registration, notifications, teams. All draws depend on the seed, and
// models check all results.

#include <array>
#include <numeric>
#include <thread>

#include "harness.hpp"

namespace multi {
namespace {

constexpr std::size_t kMixedThreads = 3;
constexpr std::size_t kPart = 2048;  ///< bytes of each thread's part of a slice
constexpr std::size_t kQuarter = kPart / 4;
constexpr std::size_t kSums = 4;  ///< doubles at each rank

/// The data at each rank that all ranks update.
struct Board {
  std::uint64_t counter = 0;
  std::uint64_t guarded = 0;  ///< read and written only under the rank's mutex
  std::array<double, kSums> sums = {};
  std::array<std::uint64_t, kMixedThreads> flags = {};  ///< set by the threads of the previous rank
};

/// The values that this rank has added to each rank's board.
struct Added {
  std::vector<long> counter = std::vector<long>(static_cast<std::size_t>(ranks()));
  std::vector<long> guarded = counter;
  std::vector<long> sums = std::vector<long>(counter.size() * kSums);

  void add(const Added& other) {
    const auto into = [](std::vector<long>& to, const std::vector<long>& from) {
      std::transform(to.begin(), to.end(), from.begin(), to.begin(), std::plus());
    };
    into(counter, other.counter);
    into(guarded, other.guarded);
    into(sums, other.sums);
  }
};

/// The data that all threads share.
struct World {
  Slices window{Remote::window, kPart* kMixedThreads};
  Slices registered{Remote::registered, kPart* kMixedThreads};
  Memory boards{Remote::window, sizeof(Board)};
  rma_mutexes_t mutexes = nullptr;
  std::array<rma_team_t, kMixedThreads> teams = {};

  World() {
    new (boards.mine().data()) Board;
    EXPECT_TRUE(ok(rma_mutexes_create(rma_team_world(), 1, &mutexes)));
    for (std::size_t t = 0; t < kMixedThreads; ++t) {
      EXPECT_TRUE(ok(rma_team_split(rma_team_world(), 0, t % 2 == 0 ? me() : -me(), &teams[t])));
    }
    barrier();
  }
  ~World() {
    for (rma_team_t& team : teams) EXPECT_TRUE(ok(rma_team_free(&team)));
    EXPECT_TRUE(ok(rma_mutexes_destroy(&mutexes)));
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  [[nodiscard]] Board& board(int rank) const { return *reinterpret_cast<Board*>(boards.at(rank)); }
};

/// One thread's part of the slices at one rank, and the operations under way to it.
class Part {
 public:
  Part(Slices& slices, std::size_t thread, int target)
      : there_(slices.at(target) + thread * kPart),
        model_(slices.model(target).subspan(thread * kPart, kPart)),
        target_(target) {}

  /// Puts a block from memory that is registered or not.
  void put(Random& random) {
    settle(random);
    const std::size_t bytes = random.below(kPart);
    const std::size_t at = random.below(kPart - bytes);
    void* block = nullptr;
    const bool heap = random.chance(30);
    std::vector<std::byte> own(bytes);
    if (heap) EXPECT_TRUE(ok(rma_malloc_local(bytes + 1, 0, &block)));
    auto* const from = heap ? static_cast<std::byte*>(block) : own.data();
    random.fill({from, bytes});
    EXPECT_TRUE(ok(rma_put(there_ + at, from, bytes, target_)));
    std::copy_n(from, bytes, model_.begin() + static_cast<std::ptrdiff_t>(at));
    if (heap) EXPECT_TRUE(ok(rma_free_local(block)));
  }
  void put_rows(Random& random) {
    settle(random);
    const std::array<std::size_t, 2> count = {1 + random.below(24), 1 + random.below(16)};
    const std::ptrdiff_t stride = 64;
    const auto row = static_cast<std::ptrdiff_t>(count[0]);
    std::vector<std::byte> block(count[0] * count[1]);
    random.fill(block);
    EXPECT_TRUE(ok(rma_put_strided(there_, &stride, block.data(), &row, count.data(), 1, target_)));
    for (std::size_t i = 0; i < count[1]; ++i) {
      std::copy_n(block.data() + i * count[0], count[0], model_.data() + i * 64);
    }
  }
  /// Puts or gets some of the quarters, each by an operation that is completed later.
  void put_later(Random& random) {
    settle(random);
    for (std::size_t at = 0; at < kPart; at += kQuarter) {
      if (random.chance(30)) continue;
      auto& block = blocks_.emplace_back(kQuarter);
      random.fill(block);
      std::copy(block.begin(), block.end(), model_.begin() + static_cast<std::ptrdiff_t>(at));
      if (random.chance(50)) {
        rma_request_t& request = requests_.emplace_back(RMA_REQUEST_NULL);
        EXPECT_TRUE(ok(rma_put_nb(there_ + at, block.data(), kQuarter, target_, &request)));
      } else {
        EXPECT_TRUE(ok(rma_put_nbi(there_ + at, block.data(), kQuarter, target_)));
        fence_ = true;
      }
    }
  }
  void check(Random& random) {
    settle(random);
    std::vector<std::byte> found(kPart);
    if (random.chance(50)) {
      EXPECT_TRUE(ok(rma_get(found.data(), there_, kPart, target_)));
    } else {
      EXPECT_TRUE(ok(rma_get_nbi(found.data(), there_, kPart, target_)));
      EXPECT_TRUE(ok(rma_fence(target_)));
    }
    EXPECT_EQ(first_difference(found, model_), kPart) << "at rank " << target_;
  }
  /// Completes the operations under way.
  void settle(Random& random) {
    if (!requests_.empty() && random.chance(30)) {
      int done = 0;
      while (done == 0) EXPECT_TRUE(ok(rma_test(&requests_.front(), &done)));
    }
    if (!requests_.empty()) EXPECT_TRUE(ok(rma_wait_all(requests_.data(), requests_.size())));
    requests_.clear();
    if (fence_) EXPECT_TRUE(ok(random.chance(50) ? rma_fence(target_) : rma_fence_all()));
    fence_ = false;
    blocks_.clear();
  }

 private:
  std::byte* there_;
  std::span<std::byte> model_;
  int target_;
  std::vector<std::vector<std::byte>> blocks_;  ///< the blocks of operations under way
  std::vector<rma_request_t> requests_;
  bool fence_ = false;
};

/// One thread's steps.
class Worker {
 public:
  Worker(const World& world, std::vector<Part> parts, std::size_t thread)
      : world_(world),
        parts_(std::move(parts)),
        thread_(thread),
        random_({211, static_cast<std::uint64_t>(me()), thread}) {}

  void work(int steps) {
    for (int step = 1; step <= steps; ++step) {
      any_step();
      // These steps are collective with the threads of the same number on other ranks, and so come at the
      // same steps of all of them.
      if (step % 8 == 0) notify(static_cast<std::uint64_t>(step));
      if (step % 32 == 0) meet(step);
    }
    for (Part& part : parts_) part.settle(random_);
  }
  [[nodiscard]] const Added& added() const { return added_; }

 private:
  void any_step() {
    Part& part = parts_[random_.below(parts_.size())];
    const int target = static_cast<int>(random_.below(static_cast<std::size_t>(ranks())));
    switch (random_.below(9)) {
      case 0:
        return part.put(random_);
      case 1:
        return part.put_rows(random_);
      case 2:
      case 3:
        return part.put_later(random_);
      case 4:
        return part.check(random_);
      case 5:
        return accumulate(target);
      case 6:
        return count(target);
      case 7:
        return update_guarded(target);
      default:
        return use_registered_memory();
    }
  }
  void accumulate(int target) {
    const std::size_t sum = random_.below(kSums);
    const double value = static_cast<double>(random_.below(100));
    double* const there = &world_.board(target).sums[sum];
    if (random_.chance(50)) {
      EXPECT_TRUE(ok(rma_acc(there, &value, 1, RMA_DOUBLE, nullptr, target)));
    } else {
      EXPECT_TRUE(ok(rma_acc_nbi(there, &value, 1, RMA_DOUBLE, nullptr, target)));
      EXPECT_TRUE(ok(rma_fence_all()));
    }
    added_.sums[static_cast<std::size_t>(target) * kSums + sum] += static_cast<long>(value);
  }
  void count(int target) {
    std::uint64_t before = 0;
    const std::uint64_t value = 1 + random_.below(9);
    EXPECT_TRUE(ok(rma_atomic64(RMA_FETCH_ADD, &world_.board(target).counter, value, 0, &before, target)));
    added_.counter[static_cast<std::size_t>(target)] += static_cast<long>(value);
  }
  void update_guarded(int target) {
    std::uint64_t* const there = &world_.board(target).guarded;
    std::uint64_t value = 0;
    EXPECT_TRUE(ok(rma_lock(world_.mutexes, 0, target)));
    EXPECT_TRUE(ok(rma_get(&value, there, sizeof value, target)));
    ++value;
    EXPECT_TRUE(ok(rma_put(there, &value, sizeof value, target)));
    EXPECT_TRUE(ok(rma_unlock(world_.mutexes, 0, target)));
    ++added_.guarded[static_cast<std::size_t>(target)];
  }
  void use_registered_memory() {
    std::vector<std::byte> there(1 + random_.below(10000));
    std::vector<std::byte> block(there.size());
    random_.fill(block);
    EXPECT_TRUE(ok(rma_register(there.data(), there.size())));
    EXPECT_TRUE(ok(rma_put(there.data(), block.data(), block.size(), me())));
    EXPECT_TRUE(ok(rma_unregister(there.data())));
    EXPECT_EQ(first_difference(there, block), block.size());
  }
  void notify(std::uint64_t step) {
    const int next = neighbour(1);
    std::uint64_t* const theirs = &world_.board(next).flags[thread_];
    EXPECT_TRUE(ok(rma_put_notify(nullptr, nullptr, 0, theirs, step, next)));
    EXPECT_TRUE(ok(rma_wait_until(&world_.board(me()).flags[thread_], RMA_GE, step, nullptr)));
  }
  void meet(int step) {
    rma_team_t team = world_.teams[thread_];
    // Two threads of this rank split at the same time, into teams with opposite orders of the members. The
    // third thread uses the team that it has.
    const bool splits = thread_ < 2;
    if (splits) {
      const int key = thread_ == 0 ? me() : -me();
      EXPECT_TRUE(ok(rma_team_split(world_.teams[thread_], 0, key, &team)));
    }
    const long mine = me() + step;
    long sum = 0;
    EXPECT_TRUE(ok(rma_allreduce(team, &sum, &mine, 1, RMA_LONG, RMA_SUM)));
    const long size = ranks();
    EXPECT_EQ(sum, size * step + size * (size - 1) / 2);
    void* block = nullptr;
    EXPECT_TRUE(ok(rma_malloc(team, 256, 0, nullptr, &block)));
    EXPECT_TRUE(ok(rma_barrier(team)));
    EXPECT_TRUE(ok(rma_free(team, block)));
    if (splits) EXPECT_TRUE(ok(rma_team_free(&team)));
  }

  const World& world_;
  std::vector<Part> parts_;
  const std::size_t thread_;
  Random random_;
  Added added_;
};

TEST(Mixed, EverythingByAllThreads) {
  World world;
  Added added;
  {
    std::vector<Worker> workers;
    for (std::size_t t = 0; t < kMixedThreads; ++t) {
      std::vector<Part> parts;
      for (int target = 0; target < ranks(); ++target) {
        parts.emplace_back(world.window, t, target);
        parts.emplace_back(world.registered, t, target);
      }
      workers.emplace_back(world, std::move(parts), t);
    }
    const int steps = std::max(32, rounds(ranks() <= 4 ? 640 : 96) / 32 * 32);
    std::vector<std::thread> threads;
    for (Worker& worker : workers) threads.emplace_back([&worker, steps] { worker.work(steps); });
    for (std::thread& thread : threads) thread.join();
    for (const Worker& worker : workers) added.add(worker.added());
  }
  world.window.check();
  world.registered.check();
  barrier();
  Added all;
  const auto sum_up = [](std::vector<long>& to, const std::vector<long>& from) {
    EXPECT_TRUE(ok(rma_allreduce(rma_team_world(), to.data(), from.data(), from.size(), RMA_LONG, RMA_SUM)));
  };
  sum_up(all.counter, added.counter);
  sum_up(all.guarded, added.guarded);
  sum_up(all.sums, added.sums);
  const Board& board = world.board(me());
  const auto own = static_cast<std::size_t>(me());
  EXPECT_EQ(board.counter, static_cast<std::uint64_t>(all.counter[own]));
  EXPECT_EQ(board.guarded, static_cast<std::uint64_t>(all.guarded[own]));
  for (std::size_t i = 0; i < kSums; ++i) {
    EXPECT_EQ(board.sums[i], static_cast<double>(all.sums[own * kSums + i])) << "sum " << i;
  }
  barrier();
}

}  // namespace
}  // namespace multi
