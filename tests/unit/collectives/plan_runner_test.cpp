#include "collectives/schedules/plan_runner.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <barrier>
#include <bit>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "../../sanitized.hpp"
#include "allocations.hpp"
#include "collectives/members/reduce.hpp"
#include "thread_team_carrier.hpp"
#include "threads.hpp"

namespace librma::plan_runner_test {
namespace {

using testing_threads::Network;
using testing_threads::run_members;
using testing_threads::ThreadTeamCarrier;

/// The sizes around which algorithms and pieces change.
constexpr std::array<std::size_t, 12> kSizes = {
    0, 1, 8, 64, 1000, 4000, 32'768, 32'776, PlanRunner::kScratch + 8, 160'000, 262'145, 700'000};

std::byte byte_of(std::uint64_t step, int member, std::size_t i) {
  return static_cast<std::byte>(step * 31 + static_cast<std::uint64_t>(member) * 7 + i * 13 + i / 251);
}
double number_of(std::uint64_t step, int member, std::size_t i) {
  return 1.0 / static_cast<double>(step % 17 + static_cast<std::uint64_t>(member) * 3 + i % 101 + 1);
}
/// The sum of all members in the promised order: each of the first odd members is added to its neighbour
/// below, and then always two sums next to each other are added.
double sum_of(std::uint64_t step, int members, std::size_t i) {
  const auto takers = static_cast<int>(std::bit_floor(static_cast<unsigned>(members)));
  std::vector<double> sums;
  for (int member = 0; member < members; ++member) {
    const double mine = number_of(step, member, i);
    if (member % 2 != 0 && member < 2 * (members - takers)) {
      sums.back() += mine;
    } else {
      sums.push_back(mine);
    }
  }
  for (; sums.size() > 1; sums.resize(sums.size() / 2)) {
    for (std::size_t k = 0; k < sums.size() / 2; ++k) sums[k] = sums[2 * k] + sums[2 * k + 1];
  }
  return sums.front();
}

rma_collective_t broadcast_of(void* buffer, std::size_t bytes, int root) {
  rma_collective_t call = {};
  call.kind = RMA_COLLECTIVE_BROADCAST;
  call.root = root;
  call.dst = buffer;
  call.bytes = bytes;
  return call;
}
rma_collective_t sum_call(rma_collective_kind_t kind, double* dst, const double* src, std::size_t count,
                          int root) {
  rma_collective_t call = {};
  call.kind = kind;
  call.root = root;
  call.dst = dst;
  call.src = src;
  call.count = count;
  call.reducer = reducer_of(RMA_DOUBLE, RMA_SUM);
  return call;
}
rma_collective_t allgather_of(void* dst, const void* src, std::size_t bytes) {
  rma_collective_t call = {};
  call.kind = RMA_COLLECTIVE_ALLGATHER;
  call.dst = dst;
  call.src = src;
  call.bytes = bytes;
  return call;
}

/// A random sequence of collectives as one member sees it. What all must agree on is drawn from `shared_`.
class Player {
 public:
  Player(Network& network, int me, int members, std::uint64_t seed)
      : transport_(network, me),
        me_(me),
        members_(members),
        scratch_(PlanRunner::kScratch),
        runner_(transport_, me, members, scratch_.data()),
        shared_(seed),
        own_(seed + static_cast<std::uint64_t>(me) + 1) {}

  void play(std::uint64_t steps) {
    for (step_ = 0; step_ < steps && !testing::Test::HasFatalFailure(); ++step_) {
      const int root = static_cast<int>(shared_() % static_cast<std::uint64_t>(members_));
      const std::size_t bytes = kSizes[shared_() % kSizes.size()];
      const std::size_t count = bytes / sizeof(double);
      switch (shared_() % 5) {
        case 0:
          ASSERT_TRUE(runner_.run({}).ok());
          break;
        case 1:
          broadcast(bytes, root);
          break;
        case 2:
          reduce(count, root);
          break;
        case 3:
          allreduce(count);
          break;
        default:
          allgather(bytes);
          break;
      }
    }
    ASSERT_TRUE(runner_.part().ok());
  }

 private:
  void broadcast(std::size_t bytes, int root) {
    std::vector<std::byte> buffer(bytes);
    if (me_ == root) {
      for (std::size_t i = 0; i < bytes; ++i) buffer[i] = byte_of(step_, root, i);
    }
    ASSERT_TRUE(runner_.run(broadcast_of(buffer.data(), bytes, root)).ok());
    expect_bytes(buffer.data(), bytes, root);
  }

  void reduce(std::size_t count, int root) {
    std::vector<double> src = numbers(count);
    std::vector<double> other(count);
    const bool is_root = me_ == root;
    double* const dst = !is_root ? nullptr : own_() % 2 == 0 ? src.data() : other.data();
    ASSERT_TRUE(runner_.run(sum_call(RMA_COLLECTIVE_REDUCE, dst, src.data(), count, root)).ok());
    if (is_root) expect_sums(dst, count);
  }

  void allreduce(std::size_t count) {
    std::vector<double> src = numbers(count);
    std::vector<double> other(count);
    double* const dst = own_() % 2 == 0 ? src.data() : other.data();
    ASSERT_TRUE(runner_.run(sum_call(RMA_COLLECTIVE_ALLREDUCE, dst, src.data(), count, 0)).ok());
    expect_sums(dst, count);
  }

  void allgather(std::size_t bytes) {
    const auto me = static_cast<std::size_t>(me_);
    const auto members = static_cast<std::size_t>(members_);
    std::vector<std::byte> dst(members * bytes);
    std::vector<std::byte> other(bytes);
    std::byte* const src = own_() % 2 == 0 ? dst.data() + me * bytes : other.data();
    for (std::size_t i = 0; i < bytes; ++i) src[i] = byte_of(step_, me_, i);
    ASSERT_TRUE(runner_.run(allgather_of(dst.data(), src, bytes)).ok());
    for (std::size_t from = 0; from < members; ++from) {
      expect_bytes(dst.data() + from * bytes, bytes, static_cast<int>(from));
    }
  }

  std::vector<double> numbers(std::size_t count) {
    std::vector<double> result(count);
    for (std::size_t i = 0; i < count; ++i) result[i] = number_of(step_, me_, i);
    return result;
  }

  void expect_sums(const double* result, std::size_t count) {
    std::size_t right = 0;  // in every bit, and so the same on all members and for every root
    while (right < count && result[right] == sum_of(step_, members_, right)) {
      ++right;
    }
    ASSERT_EQ(right, count) << where();
  }

  void expect_bytes(const std::byte* result, std::size_t bytes, int from) {
    std::size_t right = 0;
    while (right < bytes && result[right] == byte_of(step_, from, right)) ++right;
    ASSERT_EQ(right, bytes) << where() << ", what member " << from << " gave";
  }

  [[nodiscard]] std::string where() const {
    return "step " + std::to_string(step_) + ", member " + std::to_string(me_);
  }

  ThreadTeamCarrier transport_;
  const int me_;
  const int members_;
  std::vector<std::byte> scratch_;
  PlanRunner runner_;
  std::mt19937_64 shared_;
  std::mt19937_64 own_;
  std::uint64_t step_ = 0;
};

class PlanRunnerTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { alarm(240); }
  void TearDown() override { alarm(0); }
};

TEST_P(PlanRunnerTest, RandomSequencesGiveTheResultsTheyShould) {
  const int members = GetParam();
  const std::uint64_t seed = testing_threads::seed();
  Network network(members);
  run_members(members, [&](int me) {
    Player(network, me, members, seed).play(fewer_if_sanitized(60U));
    EXPECT_EQ(network.left(me), 0);
  });
}

TEST_P(PlanRunnerTest, EveryCollectiveEndsWhenAMemberIsLostInTheMiddle) {
  const int members = GetParam();
  if (members == 1) GTEST_SKIP() << "nobody to lose";
  std::mt19937_64 random(testing_threads::seed());
  constexpr int kCollectives = 5;
  for (int round = 0; round < fewer_if_sanitized(5) * kCollectives; ++round) {
    const int what = round % kCollectives;
    const int life = round < kCollectives ? 0 : static_cast<int>(random() % 8);
    const int gone = static_cast<int>(random() % static_cast<std::uint64_t>(members));
    const int root = static_cast<int>(random() % static_cast<std::uint64_t>(members));
    Network network(members);
    run_members(members, [&](int me) {
      ThreadTeamCarrier transport(network, me, me == gone ? life : ThreadTeamCarrier::kForEver);
      std::vector<std::byte> scratch(PlanRunner::kScratch);
      PlanRunner runner(transport, me, members, scratch.data());
      constexpr std::size_t kCount = 65'536;
      std::vector<double> src(kCount);
      std::vector<double> dst(what == 3 ? kCount * static_cast<std::size_t>(members) : kCount);
      rma_collective_t call = {};
      if (what == 0) call = broadcast_of(src.data(), kCount * sizeof(double), root);
      if (what == 1) call = sum_call(RMA_COLLECTIVE_REDUCE, dst.data(), src.data(), kCount, root);
      if (what == 2) call = sum_call(RMA_COLLECTIVE_ALLREDUCE, dst.data(), src.data(), kCount, 0);
      if (what == 3) call = allgather_of(dst.data(), src.data(), kCount * sizeof(double));
      Status status = runner.run(call);
      if (me == gone) {
        network.lose(me);
        return;
      }
      // A member that needs nothing of the lost one may succeed. The next call fails.
      if (status.ok()) status = runner.run({});
      EXPECT_EQ(status.code(), RMA_ERR_PEER_LOST) << "collective " << what << ", member " << me << " of "
                                                  << members << " without " << gone << " after " << life;
      EXPECT_EQ(runner.run({}).code(), RMA_ERR_PEER_LOST);
      EXPECT_EQ(runner.part().code(), RMA_ERR_PEER_LOST);
    });
  }
}

TEST_P(PlanRunnerTest, NobodyLeavesABarrierBeforeAllHaveCome) {
  const int members = GetParam();
  constexpr int kRounds = 60;
  Network network(members);
  std::vector<int> arrived(static_cast<std::size_t>(members) * 16);  // plain: barriers order memory
  run_members(members, [&](int me) {
    ThreadTeamCarrier transport(network, me);
    PlanRunner runner(transport, me, members, nullptr);
    for (int round = 1; round <= kRounds; ++round) {
      arrived[static_cast<std::size_t>(me) * 16] = round;
      ASSERT_TRUE(runner.run({}).ok());
      for (int other = 0; other < members; ++other) {
        ASSERT_EQ(arrived[static_cast<std::size_t>(other) * 16], round);
      }
      ASSERT_TRUE(runner.run({}).ok());
    }
  });
}

TEST_P(PlanRunnerTest, AMemberLostWhileOthersPartKeepsNobodyWaiting) {
  const int members = GetParam();
  if (members == 1) GTEST_SKIP() << "nobody to lose";
  Network network(members);
  std::atomic<int> well = 0;
  std::barrier all_have_met(members);
  run_members(members, [&](int me) {
    ThreadTeamCarrier transport(network, me);
    PlanRunner runner(transport, me, members, nullptr);
    EXPECT_TRUE(runner.run({}).ok());
    all_have_met.arrive_and_wait();
    if (me == members - 1) {
      network.lose(me);
      return;
    }
    const Status status = runner.part();
    if (status.ok())
      ++well;
    else
      EXPECT_EQ(status.code(), RMA_ERR_PEER_LOST);
    EXPECT_EQ(transport.revoker(), Network::kNobody) << "a member that has parted well may be told";
  });
  EXPECT_EQ(well, 0);  // all others missed the member that never came
}

/// Takes every message at once, and has every message that is asked for. It allocates nothing.
class EmptyTransport final : public TeamCarrier {
 public:
  [[nodiscard]] Status start(int member, int /*tag*/, const void* /*data*/, std::size_t /*bytes*/,
                             Sending& sending) override {
    sending.member = member;
    return {};
  }
  [[nodiscard]] Status finish(Sending& /*sending*/) override { return {}; }
  [[nodiscard]] Status receive(int /*member*/, int& /*tag*/, void* data, std::size_t bytes) override {
    if (bytes != 0) std::memset(data, 0, bytes);
    return {};
  }
  [[nodiscard]] Status usable() override { return {}; }
  [[nodiscard]] Status give_up(Status failure, int /*member*/) override { return failure; }
};

TEST_P(PlanRunnerTest, NoCallAllocatesMemory) {
  const int members = GetParam();
  std::vector<std::byte> scratch(PlanRunner::kScratch);
  std::vector<double> src(100'000);
  std::vector<double> dst(src.size() * static_cast<std::size_t>(members));
  EmptyTransport transport;
  for (int me = 0; me < members; ++me) {
    PlanRunner runner(transport, me, members, scratch.data());
    const std::size_t before = testing_threads::allocations;
    for (const std::size_t count : {std::size_t{1}, src.size()}) {
      ASSERT_TRUE(runner.run({}).ok());
      ASSERT_TRUE(runner.run(broadcast_of(dst.data(), count * sizeof(double), members - 1)).ok());
      ASSERT_TRUE(runner.run(allgather_of(dst.data(), src.data(), count * sizeof(double))).ok());
      ASSERT_TRUE(
          runner.run(sum_call(RMA_COLLECTIVE_REDUCE, dst.data(), src.data(), count, members / 2)).ok());
      ASSERT_TRUE(runner.run(sum_call(RMA_COLLECTIVE_ALLREDUCE, dst.data(), src.data(), count, 0)).ok());
    }
    EXPECT_EQ(testing_threads::allocations, before) << "member " << me;
  }
}

INSTANTIATE_TEST_SUITE_P(Teams, PlanRunnerTest, testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 13));

}  // namespace
}  // namespace librma::plan_runner_test
