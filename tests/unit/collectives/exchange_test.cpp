#include "collectives/exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <tuple>

#include "threads.hpp"

namespace rma {
namespace {

using testing_threads::OwnBlock;
using testing_threads::run_members;
using testing_threads::ThreadRoster;

constexpr std::uint64_t kNever = ~std::uint64_t{0};
constexpr std::size_t kMostBytes = 40000;

/// One member's memory: a heap that all members can use, and memory that only this one can use. Each has room
/// for an allgather's result.
struct Memory {
  explicit Memory(int members)
      : heap((static_cast<std::size_t>(members) + 1) * kMostBytes), other(heap.size()) {}
  std::vector<std::byte> heap;
  std::vector<std::byte> other;
};

class ThreadBuffers final : public Buffers {
 public:
  ThreadBuffers(std::vector<Memory>& memories, int me) : memories_(memories), me_(me) {}

  [[nodiscard]] bool shared(const void* address, std::size_t bytes) const override {
    return inside(address, bytes, me_);
  }
  [[nodiscard]] std::byte* at(const void* address, std::size_t bytes, int member) const override {
    EXPECT_TRUE(inside(address, bytes, member)) << "of member " << member;
    return const_cast<std::byte*>(static_cast<const std::byte*>(address));
  }

 private:
  [[nodiscard]] bool inside(const void* address, std::size_t bytes, int member) const {
    const std::vector<std::byte>& heap = memories_[static_cast<std::size_t>(member)].heap;
    const auto begin = reinterpret_cast<std::uintptr_t>(heap.data());
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return at >= begin && at + bytes <= begin + heap.size();
  }

  std::vector<Memory>& memories_;
  const int me_;
};

/// Return a member's contribution to a step, reproducibly.
std::byte byte_of(std::uint64_t step, int member, std::size_t i) {
  return static_cast<std::byte>(step * 31 + static_cast<std::uint64_t>(member) * 7 + i * 13 + i / 251);
}
double number_of(std::uint64_t step, int member, std::size_t i) {
  return 1.0 / static_cast<double>(step % 17 + static_cast<std::uint64_t>(member) * 3 + i % 101 + 1);
}

/// Returns the sum in the promised order.
double sum_of(std::uint64_t step, int members, std::size_t i) {
  double sum = number_of(step, 0, i);
  for (int member = 1; member < members; ++member) sum += number_of(step, member, i);
  return sum;
}

/// A random sequence of collectives as one member sees it. The draws that all members must agree on come from
/// `shared_`. Each member draws the places of its buffers alone.
class Player {
 public:
  Player(TeamBlock& block, int member, const WaitPolicy& policy, std::vector<Memory>& memories,
         const ThreadRoster& roster, std::uint64_t seed)
      : memory_(memories[static_cast<std::size_t>(member)]),
        buffers_(memories, member),
        exchange_(block, member, policy, buffers_, roster),
        shared_(seed),
        own_(seed + static_cast<std::uint64_t>(member) + 1) {}

  void play(std::uint64_t steps) {
    for (step_ = 0; step_ < steps && !testing::Test::HasFatalFailure(); ++step_) {
      // In half of the steps all members use shared memory, so that buffers are used in place in large teams
      // too.
      all_shared_ = shared_() % 2 == 0;
      const int root = static_cast<int>(shared_() % static_cast<std::uint64_t>(exchange_.members()));
      const std::size_t bytes = draw_bytes();
      switch (shared_() % 5) {
        case 0:
          ASSERT_TRUE(exchange_.barrier().ok());
          break;
        case 1:
          broadcast(bytes, root);
          break;
        case 2:
          reduce(bytes / sizeof(double), root);
          break;
        case 3:
          allreduce(bytes / sizeof(double));
          break;
        default:
          allgather(bytes);
          break;
      }
    }
  }

 private:
  std::size_t draw_bytes() {
    constexpr std::array<std::size_t, 12> kSizes = {
        0,     1,         8,    TeamBlock::kInlineBytes, TeamBlock::kInlineBytes + 8,
        600,   1024,      3000, TeamBlock::kPieceBytes,  TeamBlock::kPieceBytes + 8,
        20000, kMostBytes};
    return kSizes[shared_() % kSizes.size()];
  }

  /// Returns the place of a call's result. The place of its input is behind it.
  std::byte* draw_memory() { return (all_shared_ || own_() % 2 == 0 ? memory_.heap : memory_.other).data(); }

  void broadcast(std::size_t bytes, int root) {
    std::byte* const buffer = draw_memory();
    for (std::size_t i = 0; i < bytes; ++i) {
      buffer[i] = exchange_.member() == root ? byte_of(step_, root, i) : std::byte{0};
    }
    ASSERT_TRUE(exchange_.broadcast(buffer, bytes, root).ok());
    expect_bytes(buffer, bytes, root);
    std::memset(buffer, 0xcc, bytes);  // this member's again: no other may still read it
  }

  void reduce(std::size_t count, int root) {
    auto [dst, src] = draw_numbers(count);
    const bool is_root = exchange_.member() == root;
    ASSERT_TRUE(
        exchange_.reduce(is_root ? dst : nullptr, src, count, Reduction::of(RMA_DOUBLE, RMA_SUM), root).ok());
    if (is_root) expect_sums(dst, count);
    std::memset(src, 0xcc, count * sizeof(double));
  }

  void allreduce(std::size_t count) {
    auto [dst, src] = draw_numbers(count);
    ASSERT_TRUE(exchange_.allreduce(dst, src, count, Reduction::of(RMA_DOUBLE, RMA_SUM)).ok());
    expect_sums(dst, count);
    std::memset(src, 0xcc, count * sizeof(double));
    std::memset(dst, 0xcc, count * sizeof(double));
  }

  void allgather(std::size_t bytes) {
    std::byte* const dst = draw_memory();
    const auto me = static_cast<std::size_t>(exchange_.member());
    const auto members = static_cast<std::size_t>(exchange_.members());
    std::memset(dst, 0, members * bytes);
    std::byte* const src = own_() % 2 == 0 ? dst + me * bytes : draw_memory() + members * kMostBytes;
    for (std::size_t i = 0; i < bytes; ++i) src[i] = byte_of(step_, exchange_.member(), i);
    ASSERT_TRUE(exchange_.allgather(dst, src, bytes).ok());
    for (std::size_t from = 0; from < members; ++from) {
      expect_bytes(dst + from * bytes, bytes, static_cast<int>(from));
    }
    std::memset(src, 0xcc, bytes);
  }

  /// Returns a destination and a filled source. The source is the destination or lies elsewhere.
  std::pair<double*, double*> draw_numbers(std::size_t count) {
    auto* const dst = reinterpret_cast<double*>(draw_memory());
    auto* const src = own_() % 2 == 0 ? dst : reinterpret_cast<double*>(draw_memory() + kMostBytes);
    std::memset(dst, 0, count * sizeof(double));
    for (std::size_t i = 0; i < count; ++i) src[i] = number_of(step_, exchange_.member(), i);
    return {dst, src};
  }

  void expect_sums(const double* result, std::size_t count) {
    // The sums must agree in every bit, and so are the same on all members.
    std::size_t right = 0;
    while (right < count && result[right] == sum_of(step_, exchange_.members(), right)) ++right;
    ASSERT_EQ(right, count) << where(count * sizeof(double));
  }

  void expect_bytes(const std::byte* result, std::size_t bytes, int from) {
    std::size_t right = 0;
    while (right < bytes && result[right] == byte_of(step_, from, right)) ++right;
    ASSERT_EQ(right, bytes) << where(bytes) << ", what member " << from << " gave";
  }

  [[nodiscard]] std::string where(std::size_t bytes) const {
    return "step " + std::to_string(step_) + ", member " + std::to_string(exchange_.member()) + ", " +
           std::to_string(bytes) + " bytes";
  }

  Memory& memory_;
  ThreadBuffers buffers_;
  Exchange exchange_;
  std::mt19937_64 shared_;
  std::mt19937_64 own_;
  std::uint64_t step_ = 0;
  bool all_shared_ = false;
};

class ExchangeTest : public testing::TestWithParam<std::tuple<int, bool, std::uint64_t>> {};

TEST_P(ExchangeTest, RandomSequencesGiveTheResultsTheyShould) {
  const auto [members, flat, direct_bytes] = GetParam();
  const std::uint64_t seed = testing_threads::seed();
  constexpr std::uint64_t kSteps = 50;
  for (const WaitPolicy& policy :
       {WaitPolicy{.spins = 0, .yields = 4}, WaitPolicy{.spins = 30, .yields = 0}}) {
    const OwnBlock block(TeamShape{
        .members = static_cast<std::uint32_t>(members), .flat = flat, .direct_bytes = direct_bytes});
    const ThreadRoster roster(members);
    std::vector<Memory> memories(static_cast<std::size_t>(members), Memory(members));
    run_members(members,
                [&](int member) { Player(*block, member, policy, memories, roster, seed).play(kSteps); });
  }
}

INSTANTIATE_TEST_SUITE_P(Teams, ExchangeTest,
                         testing::Combine(testing::Values(1, 2, 3, 7, 16), testing::Bool(),
                                          testing::Values(std::uint64_t{0}, std::uint64_t{4096}, kNever)),
                         [](const auto& each) {
                           const std::uint64_t direct = std::get<2>(each.param);
                           return std::to_string(std::get<0>(each.param)) + "Members" +
                                  (std::get<1>(each.param) ? "Flat" : "Counting") + "Direct" +
                                  (direct == kNever ? "Never" : std::to_string(direct));
                         });

}  // namespace
}  // namespace rma
