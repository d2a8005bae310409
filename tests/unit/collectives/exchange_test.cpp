#include "collectives/shared_memory/exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

#include "collectives/members/reduce.hpp"
#include "ends_waiting.hpp"
#include "exchange_player.hpp"
#include "thread_memory.hpp"
#include "threads.hpp"

namespace librma {
namespace {

using testing_threads::Memory;
using testing_threads::OwnBlock;
using testing_threads::Player;
using testing_threads::Reach;
using testing_threads::run_members;
using testing_threads::ThreadBuffers;
using testing_threads::ThreadRoster;

constexpr std::uint64_t kNever = ~std::uint64_t{0};

class ExchangeTest : public testing::TestWithParam<std::tuple<int, bool, std::uint64_t, Reach>> {};

TEST_P(ExchangeTest, RandomSequencesGiveTheResultsTheyShould) {
  const auto [members, flat, direct_bytes, reach] = GetParam();
  const std::uint64_t seed = testing_threads::seed();
  constexpr std::uint64_t kSteps = 40;
  for (const WaitPolicy& policy :
       {WaitPolicy{.spins = 0, .yields = 4}, WaitPolicy{.spins = 30, .yields = 0}}) {
    const OwnBlock block(TeamShape{.members = static_cast<std::uint32_t>(members),
                                   .flat = flat,
                                   .crowded = policy.spins == 0,
                                   .direct_bytes = direct_bytes});
    const ThreadRoster roster(members);
    std::vector<Memory> memories(static_cast<std::size_t>(members), Memory(members));
    std::vector<std::uint64_t> done(static_cast<std::size_t>(members));
    run_members(members, [&, reach = reach](int member) {
      Player player(*block, member, policy, memories, roster, reach, seed);
      player.play(kSteps);
      done[static_cast<std::size_t>(member)] = player.done();
    });
    EXPECT_EQ(std::count(done.begin(), done.end(), done.front()), members) << "all members take one path";
    EXPECT_GT(done.front(), kSteps / 4);
  }
}

class LittleExchangeTest : public testing::TestWithParam<std::tuple<int, bool, bool>> {};

TEST_P(LittleExchangeTest, RandomSequencesGiveTheResultsTheyShouldHoweverFarMembersRunAhead) {
  const auto [members, flat, crowded] = GetParam();
  const std::uint64_t seed = testing_threads::seed();
  for (const WaitPolicy& policy :
       {WaitPolicy{.spins = 0, .yields = 0}, WaitPolicy{.spins = 30, .yields = 4}}) {
    const OwnBlock block(TeamShape{.members = static_cast<std::uint32_t>(members),
                                   .flat = flat,
                                   .crowded = crowded,
                                   .direct_bytes = kNever});
    const ThreadRoster roster(members);
    std::vector<Memory> memories(static_cast<std::size_t>(members), Memory(members));
    run_members(members, [&](int member) {
      Player player(*block, member, policy, memories, roster, Reach::all, seed);
      player.play_little(3 * TeamBlock::kOneWayLines);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Teams, LittleExchangeTest,
                         testing::Combine(testing::Values(1, 2, 3, 4, 8, 16), testing::Bool(),
                                          testing::Bool()),
                         [](const auto& each) {
                           return std::to_string(std::get<0>(each.param)) + "Members" +
                                  (std::get<1>(each.param) ? "Flat" : "Counting") +
                                  (std::get<2>(each.param) ? "Crowded" : "");
                         });

class ExchangeLostTest : public testing::TestWithParam<std::tuple<int, int>> {};

/// The buffers of one member. They outlive all members, because one that has failed may return while others
/// still read its memory.
struct LostBuffers {
  std::vector<double> src;
  std::vector<double> dst;
};

/// Executes operations of one kind, with blocks of `bytes` bytes, until one fails.
Status until_failure(SharedExchange& exchange, rma_collective_kind_t kind, std::size_t bytes,
                     LostBuffers& buffers) {
  auto& [src, dst] = buffers;
  rma_collective_t collective = {};
  collective.kind = kind;
  collective.dst = dst.data();
  collective.src = src.data();
  collective.bytes = bytes;
  collective.count = bytes / sizeof(double);
  collective.reducer = reducer_of(RMA_DOUBLE, RMA_SUM);
  while (true) {
    bool done = false;
    Status status = exchange.run(collective, done);
    EXPECT_TRUE(done || !status.ok());
    if (!status.ok()) return status;
    collective.root = (collective.root + 1) % exchange.members();
  }
}

TEST_P(ExchangeLostTest, EveryCollectiveEndsWhenAMemberIsLostInTheMiddle) {
  const auto [kind, members] = GetParam();
  std::mt19937_64 random(testing_threads::seed());
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{300000}}) {
    const bool flat = random() % 2 == 0;
    const OwnBlock block(TeamShape{.members = static_cast<std::uint32_t>(members),
                                   .flat = flat,
                                   .crowded = !flat,
                                   .direct_bytes = 4096});
    ThreadRoster roster(members);
    std::vector<Memory> memories(static_cast<std::size_t>(members), Memory(members));
    const int gone = static_cast<int>(random() % static_cast<std::uint64_t>(members));
    const std::uint64_t looks = random() % 20;
    const std::vector<double> zeros(static_cast<std::size_t>(members) * bytes / sizeof(double));
    std::vector<LostBuffers> data(static_cast<std::size_t>(members), {.src = zeros, .dst = zeros});
    run_members(members, [&, kind = kind](int member) {
      EndsWaiting ends(looks);
      const WaitPolicy policy = {.spins = 0, .yields = 1000, .progress = member == gone ? &ends : nullptr};
      const ThreadBuffers buffers(memories, member, Reach::all);
      SharedExchange exchange(*block, member, policy, buffers, roster);
      try {
        const Status status = until_failure(exchange, static_cast<rma_collective_kind_t>(kind), bytes,
                                            data[static_cast<std::size_t>(member)]);
        EXPECT_EQ(status.code(), RMA_ERR_PEER_LOST);
        EXPECT_EQ(status.text(), std::to_string(gone));
        EXPECT_EQ(exchange.barrier().code(), RMA_ERR_PEER_LOST);
      } catch (const Gone&) {
        roster.end(member);
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, ExchangeLostTest,
                         testing::Combine(testing::Range(0, 11), testing::Values(2, 5)));

std::string name_of(const testing::TestParamInfo<ExchangeTest::ParamType>& each) {
  const auto [members, flat, direct, reach] = each.param;
  std::string name = std::to_string(members) + "Members" + (flat ? "Flat" : "Counting") + "Direct";
  name += direct == kNever ? "Never" : std::to_string(direct);
  return name + "Reaching" + (reach == Reach::all ? "All" : reach == Reach::some ? "Some" : "None");
}

INSTANTIATE_TEST_SUITE_P(Teams, ExchangeTest,
                         testing::Combine(testing::Values(1, 2, 3, 7, 16), testing::Bool(),
                                          testing::Values(std::uint64_t{0}, std::uint64_t{4096}, kNever),
                                          testing::Values(Reach::all, Reach::some, Reach::none)),
                         name_of);

}  // namespace
}  // namespace librma
