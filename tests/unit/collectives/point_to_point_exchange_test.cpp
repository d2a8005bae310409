#include "collectives/messages/point_to_point_exchange.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "collectives/members/reduce.hpp"
#include "thread_team_transport.hpp"
#include "threads.hpp"

namespace rma {
namespace {

using testing_threads::Network;
using testing_threads::run_members;
using testing_threads::ThreadTeamTransport;

constexpr std::array<std::size_t, 11> kSizes = {0,
                                                1,
                                                8,
                                                64,
                                                1000,
                                                4000,
                                                PointToPointExchange::kReductionPiece,
                                                PointToPointExchange::kReductionPiece + 8,
                                                5 * PointToPointExchange::kReductionPiece,
                                                PointToPointExchange::kBroadcastPiece + 1,
                                                8};

std::byte byte_of(std::uint64_t step, int member, std::size_t i) {
  return static_cast<std::byte>(step * 31 + static_cast<std::uint64_t>(member) * 7 + i * 13 + i / 251);
}
double number_of(std::uint64_t step, int member, std::size_t i) {
  return 1.0 / static_cast<double>(step % 17 + static_cast<std::uint64_t>(member) * 3 + i % 101 + 1);
}
/// The sum of the members first .. first + width - 1 (as far as they exist) in the promised order.
double sum_of(std::uint64_t step, int first, int width, int members, std::size_t i) {
  double sum = number_of(step, first, i);
  for (int distance = 1; distance < width && first + distance < members; distance *= 2) {
    sum += sum_of(step, first + distance, distance, members, i);
  }
  return sum;
}

/// A random sequence of collectives as one member sees it. What all must agree on is drawn from `shared_`.
class Player {
 public:
  Player(Network& network, int me, int members, std::uint64_t seed)
      : transport_(network, me),
        p2p_(me, members, me, transport_),
        scratch_(PointToPointExchange::kScratch),
        exchange_(p2p_, scratch_.data()),
        shared_(seed),
        own_(seed + static_cast<std::uint64_t>(me) + 1) {}

  void play(std::uint64_t steps) {
    for (step_ = 0; step_ < steps && !testing::Test::HasFatalFailure(); ++step_) {
      const int root = static_cast<int>(shared_() % static_cast<std::uint64_t>(p2p_.members()));
      const std::size_t bytes = kSizes[shared_() % kSizes.size()];
      const std::size_t count = bytes / sizeof(double);
      switch (shared_() % 5) {
        case 0:
          ASSERT_TRUE(exchange_.barrier().ok());
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
    ASSERT_TRUE(p2p_.part().ok());
  }

 private:
  void broadcast(std::size_t bytes, int root) {
    std::vector<std::byte> buffer(bytes);
    if (p2p_.member() == root) {
      for (std::size_t i = 0; i < bytes; ++i) buffer[i] = byte_of(step_, root, i);
    }
    ASSERT_TRUE(exchange_.broadcast(buffer.data(), bytes, root).ok());
    expect_bytes(buffer.data(), bytes, root);
  }

  void reduce(std::size_t count, int root) {
    std::vector<double> src = numbers(count);
    std::vector<double> other(count);
    const bool is_root = p2p_.member() == root;
    double* const dst = !is_root ? nullptr : own_() % 2 == 0 ? src.data() : other.data();
    ASSERT_TRUE(exchange_.reduce(dst, src.data(), count, reducer_of(RMA_DOUBLE, RMA_SUM), root).ok());
    if (is_root) expect_sums(dst, count);
  }

  void allreduce(std::size_t count) {
    std::vector<double> src = numbers(count);
    std::vector<double> other(count);
    double* const dst = own_() % 2 == 0 ? src.data() : other.data();
    ASSERT_TRUE(exchange_.allreduce(dst, src.data(), count, reducer_of(RMA_DOUBLE, RMA_SUM)).ok());
    expect_sums(dst, count);
  }

  void allgather(std::size_t bytes) {
    const auto me = static_cast<std::size_t>(p2p_.member());
    const auto members = static_cast<std::size_t>(p2p_.members());
    std::vector<std::byte> dst(members * bytes);
    std::vector<std::byte> other(bytes);
    std::byte* const src = own_() % 2 == 0 ? dst.data() + me * bytes : other.data();
    for (std::size_t i = 0; i < bytes; ++i) src[i] = byte_of(step_, p2p_.member(), i);
    ASSERT_TRUE(exchange_.allgather(dst.data(), src, bytes).ok());
    for (std::size_t from = 0; from < members; ++from) {
      expect_bytes(dst.data() + from * bytes, bytes, static_cast<int>(from));
    }
  }

  std::vector<double> numbers(std::size_t count) {
    std::vector<double> result(count);
    for (std::size_t i = 0; i < count; ++i) result[i] = number_of(step_, p2p_.member(), i);
    return result;
  }

  void expect_sums(const double* result, std::size_t count) {
    std::size_t right = 0;  // in every bit, and so the same on all members and for every root
    while (right < count && result[right] == sum_of(step_, 0, 1 << p2p_.distances(), p2p_.members(), right)) {
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
    return "step " + std::to_string(step_) + ", member " + std::to_string(p2p_.member());
  }

  ThreadTeamTransport transport_;
  PointToPoint p2p_;
  std::vector<std::byte> scratch_;
  PointToPointExchange exchange_;
  std::mt19937_64 shared_;
  std::mt19937_64 own_;
  std::uint64_t step_ = 0;
};

class PointToPointExchangeTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { alarm(240); }
  void TearDown() override { alarm(0); }
};

TEST_P(PointToPointExchangeTest, RandomSequencesGiveTheResultsTheyShould) {
  const int members = GetParam();
  const std::uint64_t seed = testing_threads::seed();
  Network network(members);
  run_members(members, [&](int me) {
    Player(network, me, members, seed).play(60);
    EXPECT_EQ(network.left(me), 0);
  });
}

TEST_P(PointToPointExchangeTest, EveryCollectiveEndsWhenAMemberIsLostInTheMiddle) {
  const int members = GetParam();
  if (members == 1) GTEST_SKIP() << "nobody to lose";
  std::mt19937_64 random(testing_threads::seed());
  constexpr int kCollectives = 5;
  for (int round = 0; round < 5 * kCollectives; ++round) {
    const int what = round % kCollectives;
    const int life = round < kCollectives ? 0 : static_cast<int>(random() % 8);
    const int gone = static_cast<int>(random() % static_cast<std::uint64_t>(members));
    const int root = static_cast<int>(random() % static_cast<std::uint64_t>(members));
    Network network(members);
    run_members(members, [&](int me) {
      ThreadTeamTransport transport(network, me, me == gone ? life : ThreadTeamTransport::kForEver);
      PointToPoint p2p(me, members, me, transport);
      std::vector<std::byte> scratch(PointToPointExchange::kScratch);
      PointToPointExchange exchange(p2p, scratch.data());
      constexpr std::size_t kCount = 2 * PointToPointExchange::kBroadcastPiece / sizeof(double);
      std::vector<double> src(kCount);
      std::vector<double> dst(what == 3 ? kCount * static_cast<std::size_t>(members) : kCount);
      Status status;
      const rma_reducer_t sum = reducer_of(RMA_DOUBLE, RMA_SUM);
      if (what == 0) status = exchange.broadcast(src.data(), kCount * sizeof(double), root);
      if (what == 1) status = exchange.reduce(dst.data(), src.data(), kCount, sum, root);
      if (what == 2) status = exchange.allreduce(dst.data(), src.data(), kCount, sum);
      if (what == 3) status = exchange.allgather(dst.data(), src.data(), kCount * sizeof(double));
      if (what == 4) status = exchange.barrier();
      if (me == gone) {
        network.lose(me);
        return;
      }
      // A member that needs nothing of the lost one may succeed. The next call fails.
      if (status.ok()) status = exchange.barrier();
      EXPECT_EQ(status.code(), RMA_ERR_PEER_LOST) << "collective " << what << ", member " << me << " of "
                                                  << members << " without " << gone << " after " << life;
      EXPECT_EQ(exchange.barrier().code(), RMA_ERR_PEER_LOST);
      EXPECT_EQ(p2p.part().code(), RMA_ERR_PEER_LOST);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Teams, PointToPointExchangeTest, testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 13));

}  // namespace
}  // namespace rma
