#include "strided/host_assisted.hpp"

#include <thread>

#include "../../multi/failing_new.hpp"
#include "../../sanitized.hpp"
#include "../counted.hpp"
#include "../seed.hpp"
#include "host_assisted_world.hpp"

namespace librma {
namespace {

/// Worlds that are made one after the other, each from another draw.
class HostAssistedTest : public testing::TestWithParam<std::uint64_t> {
 protected:
  class World : public HostAssistedWorld {
   public:
    void TestBody() override {}
    using HostAssistedWorld::at;
    using HostAssistedWorld::begin;
    using HostAssistedWorld::below;
    using HostAssistedWorld::channel;
    using HostAssistedWorld::check;
    using HostAssistedWorld::draw;
    using HostAssistedWorld::Drawn;
    using HostAssistedWorld::end;
    using HostAssistedWorld::helper;
    using HostAssistedWorld::hinder;
    using HostAssistedWorld::memory;
    using HostAssistedWorld::open_ranks;
    using HostAssistedWorld::Random;
    using HostAssistedWorld::settle;
    using HostAssistedWorld::step;
  };
  using Random = World::Random;
  using Drawn = World::Drawn;

  HostAssistedTest() : random(test_seed() * 1000003 + GetParam()) {}
  /// Two different ranks.
  std::pair<int, int> two_of(int count) {
    const auto size = static_cast<std::size_t>(count);
    const std::size_t one = World::below(random, size);
    return {static_cast<int>(one), static_cast<int>((one + 1 + World::below(random, size - 1)) % size)};
  }
  static void expect_outcome(const Drawn& drawn) {
    EXPECT_EQ(drawn.status.code(), drawn.reachable ? RMA_SUCCESS : RMA_ERR_ADDRESS) << drawn.status.text();
  }

  Random random;
  World world;
};

/// Many transfers of several ranks at once meet full queues and refusals, and ranks that serve late.
TEST_P(HostAssistedTest, WhatArrivesIsWhatWasSent) {
  const int count = 2 + static_cast<int>(World::below(random, 2));
  world.open_ranks(random, count);
  std::vector<Drawn> all;
  for (int i = 0; i < 60; ++i) {
    const auto [from, to] = two_of(count);
    auto drawn = world.draw(random, from, to, 15);
    if (!drawn) break;
    world.begin(all.emplace_back(std::move(*drawn)));
    if (random() % 3 == 0) world.hinder(random, to);
    if (random() % 3 == 0) world.hinder(random, from);
    // Some ranks look at what has come, others do not.
    for (std::size_t turns = World::below(random, 6); turns > 0; --turns) {
      world.helper(static_cast<int>(World::below(random, static_cast<std::size_t>(count)))).progress();
    }
  }
  EXPECT_GT(all.size(), 5U);
  for (Drawn& drawn : all) {
    world.end(drawn);
    expect_outcome(drawn);
  }
  world.check(all);
}

/// Two ranks lose each other while transfers between all three are under way. The transfers between the two
/// end, with or without success, and new ones fail. Transfers with the third rank go on as before.
TEST_P(HostAssistedTest, ALostRankEndsItsTransfersOnly) {
  constexpr int kRanks = 3;
  world.open_ranks(random, kRanks);
  std::vector<Drawn> all;
  const std::size_t moment = World::below(random, 30);
  bool lost = false;
  for (std::size_t i = 0; i < 40; ++i) {
    const auto [from, to] = two_of(kRanks);
    auto drawn = world.draw(random, from, to, 10);
    if (!drawn) break;
    world.begin(all.emplace_back(std::move(*drawn)));
    EXPECT_TRUE(!lost || from + to != 1 || all.back().status.code() == RMA_ERR_PEER_LOST);
    if (random() % 3 == 0) world.hinder(random, to);
    for (std::size_t turns = World::below(random, 3); turns > 0; --turns) {
      world.helper(static_cast<int>(World::below(random, kRanks))).progress();
    }
    if (i < moment || lost) continue;
    lost = true;
    world.channel(0).fail(1);
    if (random() % 2 == 0) world.helper(0).progress();
    world.channel(1).fail(0);
    ASSERT_TRUE(world.settle());
  }
  for (Drawn& drawn : all) {
    world.end(drawn);
    if (drawn.from + drawn.to == 1) {
      if (drawn.status.code() != RMA_ERR_PEER_LOST) expect_outcome(drawn);
    } else {
      expect_outcome(drawn);
    }
  }
  world.check(all);
}

/// Several threads each begin transfers of any rank, and wait for some of them at once.
TEST_P(HostAssistedTest, ThreadsDoNotMeet) {
  constexpr std::size_t kThreads = 4;
  const int count = 2 + static_cast<int>(World::below(random, 2));
  world.open_ranks(random, count);
  std::vector<Drawn> all;
  while (all.size() < 80) {
    const auto [from, to] = two_of(count);
    auto drawn = world.draw(random, from, to, 15);
    if (!drawn) break;
    all.push_back(std::move(*drawn));
  }
  const std::uint64_t seed = random();
  {
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        Random own(seed + thread);
        std::vector<Drawn*> begun;
        for (std::size_t i = thread; i < all.size(); i += kThreads) {
          world.begin(*begun.emplace_back(&all[i]));
          if (own() % 3 == 0) world.hinder(own, all[i].to);
          if (own() % 4 != 0) continue;
          world.end(*begun.back());
          begun.pop_back();
        }
        for (Drawn* const drawn : begun) world.end(*drawn);
      });
    }
  }
  for (const Drawn& drawn : all) expect_outcome(drawn);
  world.check(all);
}

/// The memory runs out at any allocation of a call that starts a transfer. The call fails or not, each part
/// that has begun ends, and so do the transfers before it and behind it.
TEST_P(HostAssistedTest, WithoutMemoryWhatHasBegunEnds) {
  world.open_ranks(random, 2);
  std::vector<Drawn> all;
  all.reserve(100);
  while (all.size() < 60) {
    auto drawn = world.draw(random, 0, 1, 0);
    if (!drawn) break;
    if (random() % 3 == 0) world.hinder(random, 0);
    const auto failing = static_cast<std::int64_t>(World::below(random, 40));
    world.begin(all.emplace_back(std::move(*drawn)), [&] { let_fail(failing, random() % 2 == 0); });
    end_failing();
  }
  for (Drawn& drawn : all) {
    world.end(drawn);
    // Without memory to register this side's, the caller takes another protocol.
    const rma_status_t code = drawn.status.code();
    if (code != RMA_ERR_NO_MEMORY && code != RMA_ERR_UNSUPPORTED) expect_outcome(drawn);
  }
  world.check(all);
}

INSTANTIATE_TEST_SUITE_P(Draws, HostAssistedTest, testing::Range<std::uint64_t>(0, fewer_if_sanitized(24U)));

/// Cases that are too rare to be drawn.
class HostAssistedCase : public HostAssistedWorld {
 protected:
  HostAssistedCase() : random(test_seed()) {}
  Drawn drawn_of(bool put, std::shared_ptr<const Layout> remote, std::shared_ptr<const Layout> local) {
    return {.from = 0, .to = 1, .put = put, .remote = std::move(remote), .local = std::move(local)};
  }
  static std::uint64_t messages() { return counted(Counter::message); }
  Random random;
};

/// Memory is unregistered when part of it has moved. The transfer fails, the granted scatters are used up,
/// and the transfers behind it go on as before.
TEST_F(HostAssistedCase, MemoryThatIsTakenAwayMeanwhile) {
  open_ranks(random, 2);
  for (const bool put : {true, false}) {
    SCOPED_TRACE(put ? "put" : "get");
    for (int progressed = 0; progressed < 12; ++progressed) {
      std::vector<Drawn> all;
      for (int i = 0; i < 3; ++i) {
        const auto remote = draw_strided(random, 1, static_cast<std::size_t>(i % 2), 100, {10, 3});
        const auto local = draw_strided(random, 0, 0, 100, {10, 3});
        ASSERT_TRUE(remote && local);
        all.push_back(drawn_of(put, std::make_shared<Layout>(*remote), std::make_shared<Layout>(*local)));
        begin(all.back());
      }
      for (int i = 0; i < progressed; ++i) helper(i % 2).progress();
      Registered gone;
      {
        const std::lock_guard guard(memory(1).lock);
        gone = memory(1).registered[1];
        memory(1).registered.pop_back();
      }
      for (Drawn& drawn : all) end(drawn);
      EXPECT_EQ(all[0].status.code(), RMA_SUCCESS) << all[0].status.text();
      EXPECT_TRUE(all[1].status.ok() || all[1].status.code() == RMA_ERR_ADDRESS) << all[1].status.text();
      EXPECT_EQ(all[2].status.code(), RMA_SUCCESS) << all[2].status.text();
      check(all);
      const std::lock_guard guard(memory(1).lock);
      memory(1).registered.push_back(gone);
    }
  }
}

/// This side's memory cannot be registered: no transfer starts, and the caller has to take another protocol.
TEST_F(HostAssistedCase, MemoryOfThisSideThatCannotBeRegistered) {
  open_ranks(random, 2);
  for (const bool put : {true, false}) {
    at(0).endpoint->set_faults({.registrations = 0});
    std::vector<Drawn> all;
    all.push_back(drawn_of(put, std::make_shared<Layout>(*draw_strided(random, 1, 0, 64, {4})),
                           std::make_shared<Layout>(*draw_strided(random, 0, 2, 64, {4}))));
    begin(all[0]);
    EXPECT_EQ(all[0].status.code(), RMA_ERR_UNSUPPORTED);
    end(all[0]);
    EXPECT_EQ(all[0].status.code(), RMA_ERR_UNSUPPORTED);
    check(all);
  }
}

/// A receiver that has posted all its scatters grants those that become free together, not one by one, and
/// the sender uses them as quickly. So in either direction a transfer of many chunks takes few messages.
TEST_F(HostAssistedCase, ChunksAreGrantedTogether) {
  constexpr std::uint32_t kScatters = 8;
  constexpr std::size_t kChunks = 96;
  open_ranks(random, 2);
  for (int rank = 0; rank < 2; ++rank) {
    transport::MessageEndpoint::Limits limits = at(rank).endpoint->messages().limits();
    limits.gather = 1;
    limits.scatters = kScatters;
    at(rank).endpoint->messages().set_limits(limits);
  }
  for (const bool put : {true, false}) {
    SCOPED_TRACE(put ? "put" : "get");
    std::vector<Drawn> all;
    all.push_back(drawn_of(put, std::make_shared<Layout>(*draw_strided(random, 1, 0, 100, {kChunks})),
                           std::make_shared<Layout>(*draw_strided(random, 0, 0, 100, {kChunks}))));
    const std::uint64_t before = messages();
    begin(all[0]);
    end(all[0]);
    EXPECT_TRUE(all[0].status.ok()) << all[0].status.text();
    check(all);
    // One request, the first grant, then one grant for each half of the scatters; and as many returned
    // credits.
    const std::uint64_t grants = 1 + (kChunks - kScatters) / (kScatters / 2);
    EXPECT_LE(messages() - before, 2 * (1 + grants));
  }
}

/// A gather that fails ends the connection, so no rank waits for data that never comes.
TEST_F(HostAssistedCase, AFailedGatherEndsEverythingWithItsRank) {
  open_ranks(random, 2);
  std::vector<Drawn> all;
  const auto one_more = [&] {
    all.push_back(drawn_of(true, std::make_shared<Layout>(*draw_strided(random, 1, 0, 100, {10, 3})),
                           std::make_shared<Layout>(*draw_strided(random, 0, 0, 100, {10, 3}))));
    begin(all.back());
  };
  for (int i = 0; i < 6; ++i) one_more();
  // The device forgets a registration that the process still uses.
  at(1).rails->remove(memory(1).registered[0]);
  for (Drawn& drawn : all) {
    end(drawn);
    EXPECT_FALSE(drawn.status.ok());
  }
  ASSERT_TRUE(settle());
  one_more();
  end(all.back());
  EXPECT_EQ(all.back().status.code(), RMA_ERR_PEER_LOST) << all.back().status.text();
}

/// More messages are sent than a peer may keep waiting: the sender is held back, and no rank is given up.
TEST_F(HostAssistedCase, AFloodOfQuestionsIsHeldBack) {
  open_ranks(random, 2);
  constexpr std::size_t kSegments = 6120;
  const auto single_bytes = [this](int rank) {
    std::vector<Layout::Segment> segments(kSegments);
    std::uintptr_t next = *take(rank, 0, 3 * kSegments);
    for (Layout::Segment& segment : segments) {
      segment = {.address = next, .bytes = 1};
      next += 2 + below(random, 2);
    }
    return std::make_shared<Layout>(Layout::list(std::move(segments)));
  };
  const auto remote = single_bytes(1);
  const auto local = single_bytes(0);
  std::vector<Drawn> all;
  for (int i = 0; i < 280; ++i) {
    all.push_back(drawn_of(true, remote, local));
    begin(all.back());
  }
  for (Drawn& drawn : all) {
    end(drawn);
    ASSERT_TRUE(drawn.status.ok()) << drawn.status.text();
  }
  all.resize(1);
  check(all);
}

}  // namespace
}  // namespace librma
