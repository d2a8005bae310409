// Ranks that compute and never call the library, while others execute all operations on their memory. A
// computing rank reads one word of its own until another rank stores it. If an operation on its memory needed
// its program, that operation would never complete, and neither would the test.

#include <algorithm>
#include <array>
#include <atomic>
#include <string>

#include "harness.hpp"

namespace multi {
namespace {

/// The word that a computing rank reads.
bool told(const std::byte* word) {
  // Acquire: pairs with the last put of the other process.
  return std::atomic_ref(*reinterpret_cast<const std::uint64_t*>(word)).load(std::memory_order_acquire) != 0;
}
/// Computes until it is told to stop. Returns the result, so that the compiler does not
/// remove the computation.
double compute_until_told(const std::byte* word) {
  double sum = 1;
  while (!told(word)) {
    for (int i = 0; i < 1000; ++i) sum = sum * 1.0000001 + 0.5;
    if (sum > 1e30) sum = 1;
  }
  return sum;
}

/// The parts of each rank's memory. Every working rank has a slice of its own in each but the shared ones.
struct Parts {
  static constexpr std::size_t kContiguous = 60'000;
  static constexpr std::size_t kRows = 40;
  static constexpr std::size_t kGrid = 32'768;
  static constexpr std::size_t kSums = 500;

  std::array<std::uint64_t, 8> told;  ///< only the first is used: a line of its own
  std::uint64_t shared_count;         ///< all working ranks add to it, by the device where it can
  std::uint32_t shared_count4;        ///< likewise, by the owner's helper
  std::uint32_t unused;
  std::array<double, kSums> shared_sums;
  struct Mine {
    std::array<std::byte, kContiguous> contiguous;
    std::array<std::byte, kGrid> grid;
  };
};

std::size_t slice_at(int worker) {
  return sizeof(Parts) + static_cast<std::size_t>(worker) * sizeof(Parts::Mine);
}

/// The operations of one working rank on a computing rank's memory.
class Work {
 public:
  /// `flags` are words of the heap, one for each rank that works.
  Work(const Memory& memory, const Memory& flags, rma_mutexes_t mutexes, int target)
      : memory_(memory),
        flags_(flags),
        mutexes_(mutexes),
        target_(target),
        random_({0xb5, static_cast<std::uint64_t>(me())}) {}

  void contiguous(std::size_t bytes) {
    std::vector<std::byte> block(bytes);
    random_.fill(block);
    std::byte* const there = mine() + offsetof(Parts::Mine, contiguous);
    EXPECT_TRUE(ok(rma_put(there, block.data(), bytes, target_)));
    EXPECT_TRUE(ok(rma_fence(target_)));
    std::vector<std::byte> back(bytes);
    EXPECT_TRUE(ok(rma_get(back.data(), there, bytes, target_)));
    EXPECT_EQ(first_difference(back, block), bytes) << bytes << " contiguous bytes";
  }
  void strided(std::size_t segment) {
    const std::size_t rows = std::min(Parts::kRows, Parts::kGrid / (2 * segment));
    std::vector<std::byte> block(rows * segment);
    random_.fill(block);
    std::vector<std::byte> back(block.size());
    const std::array<std::size_t, 2> counts = {segment, rows};
    const auto apart = static_cast<std::ptrdiff_t>(2 * segment);
    const auto packed = static_cast<std::ptrdiff_t>(segment);
    std::byte* const there = mine() + offsetof(Parts::Mine, grid);
    EXPECT_TRUE(ok(rma_put_strided(there, &apart, block.data(), &packed, counts.data(), 1, target_)));
    EXPECT_TRUE(ok(rma_fence(target_)));
    EXPECT_TRUE(ok(rma_get_strided(back.data(), &packed, there, &apart, counts.data(), 1, target_)));
    EXPECT_EQ(first_difference(back, block), block.size()) << rows << " segments of " << segment << " bytes";
  }
  void update() {
    auto* const count = reinterpret_cast<std::uint64_t*>(shared(offsetof(Parts, shared_count)));
    auto* const count4 = reinterpret_cast<std::uint32_t*>(shared(offsetof(Parts, shared_count4)));
    EXPECT_TRUE(ok(rma_atomic64(RMA_FETCH_ADD, count, 1, 0, nullptr, target_)));
    EXPECT_TRUE(ok(rma_atomic32(RMA_FETCH_ADD, count4, 1, 0, nullptr, target_)));
    const std::vector<double> ones(Parts::kSums, 1.0);
    const double half = 0.5;
    EXPECT_TRUE(ok(
        rma_acc(shared(offsetof(Parts, shared_sums)), ones.data(), ones.size(), RMA_DOUBLE, &half, target_)));
  }
  void lock() {
    EXPECT_TRUE(ok(rma_lock(mutexes_, 0, target_)));
    EXPECT_TRUE(ok(rma_unlock(mutexes_, 0, target_)));
  }
  void notify(std::uint64_t value) {
    std::array<std::byte, 100> data;
    data.fill(static_cast<std::byte>(value));
    auto* const flag = reinterpret_cast<std::uint64_t*>(flags_.at(target_)) + me();
    EXPECT_TRUE(ok(rma_put_notify(mine() + offsetof(Parts::Mine, contiguous), data.data(), data.size(), flag,
                                  value, target_)));
    EXPECT_TRUE(ok(rma_fence(target_)));
    std::uint64_t seen = 0;
    EXPECT_TRUE(ok(rma_get(&seen, flag, sizeof seen, target_)));
    EXPECT_EQ(seen, value);
  }
  void stop() {
    const std::uint64_t one = 1;
    EXPECT_TRUE(ok(rma_put(shared(offsetof(Parts, told)), &one, sizeof one, target_)));
    EXPECT_TRUE(ok(rma_fence(target_)));
  }

 private:
  [[nodiscard]] std::byte* shared(std::size_t offset) const { return memory_.at(target_) + offset; }
  [[nodiscard]] std::byte* mine() const { return memory_.at(target_) + slice_at(me()); }

  const Memory& memory_;
  const Memory& flags_;
  rma_mutexes_t mutexes_;
  const int target_;
  Random random_;
};

/// The first `workers` ranks work on the memory of all others, which compute. The last working rank that has
/// finished with a computing rank tells it to stop.
void work_on_computing_ranks(int workers, Remote kind) {
  const Memory memory(kind, slice_at(ranks()));
  std::fill(memory.mine().begin(), memory.mine().end(), std::byte{0});
  rma_mutexes_t mutexes = nullptr;
  EXPECT_TRUE(ok(rma_mutexes_create(rma_team_world(), 1, &mutexes)));
  const std::size_t words = sizeof(std::uint64_t) * static_cast<std::size_t>(ranks());
  const Memory flags(Remote::window, words);
  const Memory done(Remote::window, words);  // counted at rank 0, for each computing rank
  for (const Memory* const each : {&flags, &done}) {
    std::fill(each->mine().begin(), each->mine().end(), std::byte{0});
  }
  const auto each = static_cast<std::uint64_t>(rounds(40));
  barrier();
  if (me() >= workers) {
    EXPECT_GT(compute_until_told(memory.mine().data() + offsetof(Parts, told)), 0);
  } else {
    for (int target = workers; target < ranks(); ++target) {
      Work work(memory, flags, mutexes, target);
      for (std::uint64_t round = 1; round <= each; ++round) {
        for (const std::size_t bytes : {8U, 3000U, 60'000U}) work.contiguous(bytes);
        for (const std::size_t segment : {8U, 200U, 4096U}) work.strided(segment);
        work.update();
        work.lock();
        work.notify(round);
      }
      auto* const finished = reinterpret_cast<std::uint64_t*>(done.at(0)) + target;
      std::uint64_t before = 0;
      EXPECT_TRUE(ok(rma_atomic64(RMA_FETCH_ADD, finished, 1, 0, &before, 0)));
      if (before + 1 == static_cast<std::uint64_t>(workers)) work.stop();
    }
  }
  barrier();
  if (me() >= workers) {
    const auto* const mine = reinterpret_cast<const Parts*>(memory.mine().data());
    const std::uint64_t all = each * static_cast<std::uint64_t>(workers);
    EXPECT_EQ(mine->shared_count, all);
    EXPECT_EQ(mine->shared_count4, all);
    for (const double sum : mine->shared_sums) EXPECT_EQ(sum, 0.5 * static_cast<double>(all));
  }
  barrier();
  EXPECT_TRUE(ok(rma_mutexes_destroy(&mutexes)));
}

/// One rank computes, and all others work.
TEST(Busy, OneComputingRank) {
  for (const Remote kind : kRemotes) work_on_computing_ranks(std::max(1, ranks() - 1), kind);
}

/// One rank works, and all others compute. On most machines these are more ranks than processors.
TEST(Busy, OneWorkingRank) { work_on_computing_ranks(1, Remote::window); }

}  // namespace
}  // namespace multi
