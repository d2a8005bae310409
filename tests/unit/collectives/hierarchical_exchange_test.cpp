#include "collectives/shared_memory/hierarchical_exchange.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "collectives/members/reduce.hpp"
#include "collectives/team/engine_table.hpp"
#include "ends_waiting.hpp"
#include "thread_team_carrier.hpp"
#include "threads.hpp"

namespace librma::hierarchical_exchange_test {
namespace {

using testing_threads::Network;
using testing_threads::OwnBlock;
using testing_threads::run_members;
using testing_threads::ThreadRoster;
using testing_threads::ThreadTeamCarrier;

constexpr std::size_t kPiece = TeamBlock::kPieceBytes;
constexpr std::size_t kKinds = RMA_COLLECTIVE_EXSCAN + 1;

/// Memory that no other member reaches, and scratch that all do, if there is some.
class PrivateBuffers final : public Buffers {
 public:
  explicit PrivateBuffers(bool has_scratch) : scratch_(has_scratch ? kScratchBytes : 0) {}
  [[nodiscard]] bool shared(const void* /*address*/, std::size_t /*bytes*/) const override { return false; }
  [[nodiscard]] std::byte* at(const void* address, std::size_t /*bytes*/, int /*member*/) const override {
    return const_cast<std::byte*>(static_cast<const std::byte*>(address));
  }
  [[nodiscard]] bool reaches_all() const override { return false; }
  [[nodiscard]] rma_status_t read(int /*member*/, const void* /*from*/,
                                  std::span<std::byte> /*into*/) const override {
    return RMA_ERR_SYSTEM;
  }
  [[nodiscard]] rma_status_t write(int /*member*/, void* /*to*/,
                                   std::span<const std::byte> /*from*/) const override {
    return RMA_ERR_SYSTEM;
  }
  [[nodiscard]] std::byte* take_scratch() const override {
    return scratch_.empty() ? nullptr : scratch_.data();
  }
  void give_scratch(std::byte* /*scratch*/) const override {}

 private:
  mutable std::vector<std::byte> scratch_;
};

/// The members of one host: those that have ended, and a team that was given up, as HostRoster has them.
class Mates final : public Roster {
 public:
  Mates(const ThreadRoster& team, std::vector<int> members, ThreadTeamCarrier& transport)
      : team_(team), members_(std::move(members)), transport_(transport) {}
  [[nodiscard]] bool ended(int place) const override {
    return team_.ended(members_[static_cast<std::size_t>(place)]) || transport_.revoker() != Network::kNobody;
  }
  [[nodiscard]] Status lost(int /*place*/) const override { return {RMA_ERR_PEER_LOST, "lost"}; }

 private:
  const ThreadRoster& team_;
  const std::vector<int> members_;
  ThreadTeamCarrier& transport_;
};

/// The hosts of a team: the host of each member, and whether the members of a host have scratch.
struct Hosts {
  std::vector<int> of;
  int without_scratch = -1;

  [[nodiscard]] int members() const { return static_cast<int>(of.size()); }
  [[nodiscard]] int leader(int member) const {
    const int host = of[static_cast<std::size_t>(member)];
    return static_cast<int>(std::find(of.begin(), of.end(), host) - of.begin());
  }
  [[nodiscard]] std::vector<int> mates(int member) const {
    std::vector<int> result;
    for (int other = 0; other < members(); ++other) {
      if (leader(other) == leader(member)) result.push_back(other);
    }
    return result;
  }
};

/// What the members of a team share.
struct World {
  explicit World(Hosts team_hosts)
      : hosts(std::move(team_hosts)), network(hosts.members()), roster(hosts.members()) {
    for (int member = 0; member < hosts.members(); ++member) {
      const auto mates = static_cast<std::uint32_t>(hosts.mates(member).size());
      blocks.push_back(
          std::make_unique<OwnBlock>(TeamShape{.members = mates, .flat = false, .direct_bytes = kPiece + 1}));
    }
  }
  const Hosts hosts;
  Network network;
  ThreadRoster roster;
  std::vector<std::unique_ptr<OwnBlock>> blocks;  ///< by leader
};

/// One member.
class Member {
 public:
  Member(World& world, int me, int life = ThreadTeamCarrier::kForEver, WaitProgress* progress = nullptr)
      : me_(me),
        transport_(world.network, me, life),
        mates_(world.hosts.mates(me)),
        roster_(world.roster, mates_, transport_),
        buffers_(world.hosts.of[static_cast<std::size_t>(me)] != world.hosts.without_scratch),
        map_(world.hosts.members()),
        scratch_(HierarchicalExchange::kScratch + PlanRunner::kScratch),
        exchange_(map_, me, scratch_.data()) {
    EXPECT_TRUE(map_.fill([&](int member) { return world.hosts.leader(member); }));
    const int leader = mates_.front();
    if (mates_.size() > 1) {
      const auto place = static_cast<int>(std::find(mates_.begin(), mates_.end(), me) - mates_.begin());
      const WaitPolicy policy = {.spins = 0, .yields = 20, .progress = progress};
      within_.emplace(**world.blocks[static_cast<std::size_t>(leader)], place, policy, buffers_, roster_);
    }
    if (leader == me) {
      between_.emplace(transport_, map_.host_of(me), map_.hosts(),
                       scratch_.data() + HierarchicalExchange::kScratch, &map_);
    }
    exchange_.open(within_ ? &*within_ : nullptr, between_ ? &*between_ : nullptr);
  }

  /// Gives the team up if the operation fails, as Team does.
  [[nodiscard]] Status run(const rma_collective_t& collective, bool& done) {
    const TeamLayout layout = {.members = map_.members(),
                               .hosts = map_.hosts(),
                               .hierarchy = true,
                               .consecutive = map_.consecutive()};
    done = EngineTable(layout, AllgatherSetting::automatic).of(collective) == Engine::hosts;
    Status status = transport_.usable();
    if (status.ok() && done) status = exchange_.run(collective);
    return status.ok() ? std::move(status) : transport_.give_up(std::move(status), me_);
  }
  [[nodiscard]] const HostMap& map() const { return map_; }

 private:
  const int me_;
  ThreadTeamCarrier transport_;
  const std::vector<int> mates_;
  const Mates roster_;
  const PrivateBuffers buffers_;
  HostMap map_;
  std::vector<std::byte> scratch_;
  std::optional<SharedExchange> within_;
  std::optional<PlanRunner> between_;
  HierarchicalExchange exchange_;
};

/// A function x -> factor * x + summand modulo 2^32. Chaining such functions is associative and does not
/// commute.
struct Affine {
  std::uint32_t factor = 1;
  std::uint32_t summand = 0;
  [[nodiscard]] Affine then(const Affine& next) const {
    return {.factor = factor * next.factor, .summand = summand * next.factor + next.summand};
  }
  bool operator==(const Affine&) const = default;
};
rma_reducer_t affine() {
  return {.combine =
              [](const void* in, void* inout, std::size_t count, void* /*context*/) {
                const auto* const lower = static_cast<const Affine*>(in);
                auto* const higher = static_cast<Affine*>(inout);
                for (std::size_t i = 0; i < count; ++i) higher[i] = lower[i].then(higher[i]);
              },
          .context = nullptr,
          .element_bytes = sizeof(Affine),
          .commutes = 0};
}

Affine function_of(std::uint64_t step, int member, std::size_t i) {
  const std::uint64_t seed = step % 17 + static_cast<std::uint64_t>(member) * 3 + i % 101 + 1;
  return {.factor = static_cast<std::uint32_t>(2 * seed + 1), .summand = static_cast<std::uint32_t>(seed)};
}
/// The result over the members before `end`.
Affine chain_of(std::uint64_t step, int end, std::size_t i) {
  Affine result;
  for (int member = 0; member < end; ++member) result = result.then(function_of(step, member, i));
  return result;
}

/// A random sequence of collectives as one member sees it. What all must agree on is drawn from `shared_`.
/// The elements are functions; in operations that move data they are only data.
class Player {
 public:
  Player(World& world, int me, std::uint64_t seed)
      : member_(world, me),
        me_(me),
        members_(world.hosts.members()),
        shared_(seed),
        own_(seed + static_cast<std::uint64_t>(me) + 1) {}

  void play(std::uint64_t steps) {
    constexpr std::array<std::size_t, 8> kCounts = {0, 1, 3, 20, 300, kPiece / 8, kPiece / 8 + 5, 20'000};
    for (step_ = 0; step_ < steps && !testing::Test::HasFatalFailure(); ++step_) {
      rma_collective_t collective = {};
      collective.kind = static_cast<rma_collective_kind_t>(shared_() % kKinds);
      collective.root = static_cast<int>(shared_() % static_cast<std::uint64_t>(members_));
      collective.count = kCounts[shared_() % kCounts.size()];
      collective.bytes = collective.count * sizeof(Affine);
      collective.reducer = affine();
      uneven_ = shared_() % 2 == 0;
      once(collective);
    }
  }

  void once(rma_collective_t collective) {
    const auto all = static_cast<std::size_t>(members_);
    const std::size_t count = collective.count;
    const bool is_root = me_ == collective.root;
    const rma_collective_kind_t kind = collective.kind;
    std::vector<std::size_t> counts(all, count);
    if (kind == RMA_COLLECTIVE_REDUCE_SCATTER && uneven_) {
      for (std::size_t block = 0; block < all; ++block) counts[block] = count / (block + 1);
      collective.counts = counts.data();
    }
    std::size_t whole = 0;
    std::size_t before_mine = 0;
    for (std::size_t block = 0; block < all; ++block) {
      if (block == static_cast<std::size_t>(me_)) before_mine = whole;
      whole += counts[block];
    }
    const bool many_in = kind == RMA_COLLECTIVE_SCATTER || kind == RMA_COLLECTIVE_REDUCE_SCATTER ||
                         kind == RMA_COLLECTIVE_ALLTOALL;
    const bool many_out =
        kind == RMA_COLLECTIVE_GATHER || kind == RMA_COLLECTIVE_ALLGATHER || kind == RMA_COLLECTIVE_ALLTOALL;
    std::vector<Affine> src(many_in ? whole : count);
    std::vector<Affine> dst(many_out ? whole : count, kUntouched);
    for (std::size_t i = 0; i < src.size(); ++i) src[i] = function_of(step_, me_, i);
    if (kind == RMA_COLLECTIVE_BROADCAST && is_root) dst = src;
    const bool in_place = own_() % 2 == 0 && dst.size() == src.size();
    const bool may_be_equal = kind == RMA_COLLECTIVE_REDUCE || kind == RMA_COLLECTIVE_ALLREDUCE ||
                              kind == RMA_COLLECTIVE_SCAN || kind == RMA_COLLECTIVE_EXSCAN;
    if (in_place && may_be_equal) dst = src;
    const bool excluded = (kind == RMA_COLLECTIVE_REDUCE || kind == RMA_COLLECTIVE_GATHER) && !is_root;
    collective.dst = excluded ? nullptr : dst.data();
    collective.src = in_place && may_be_equal && !excluded ? dst.data() : src.data();
    const std::vector<Affine> before = dst;
    bool done = false;
    ASSERT_TRUE(member_.run(collective, done).ok()) << where(collective);
    done_.push_back(done);
    if (!done) {
      EXPECT_EQ(dst, before);
      return;
    }
    const auto sum = [&](std::size_t i) { return chain_of(step_, members_, i); };
    expect(collective, dst, before, [&](std::size_t i) -> std::optional<Affine> {
      switch (kind) {
        case RMA_COLLECTIVE_BROADCAST:
          return function_of(step_, collective.root, i);
        case RMA_COLLECTIVE_GATHER:
          if (!is_root) return std::nullopt;
          return function_of(step_, static_cast<int>(i / count), i % count);
        case RMA_COLLECTIVE_ALLGATHER:
          return function_of(step_, static_cast<int>(i / count), i % count);
        case RMA_COLLECTIVE_SCATTER:
          return function_of(step_, collective.root, static_cast<std::size_t>(me_) * count + i);
        case RMA_COLLECTIVE_REDUCE:
          if (!is_root) return std::nullopt;
          return sum(i);
        case RMA_COLLECTIVE_ALLREDUCE:
          return sum(i);
        case RMA_COLLECTIVE_REDUCE_SCATTER:
          if (i >= counts[static_cast<std::size_t>(me_)]) return std::nullopt;
          return sum(before_mine + i);
        case RMA_COLLECTIVE_SCAN:
          return chain_of(step_, me_ + 1, i);
        case RMA_COLLECTIVE_EXSCAN:
          if (me_ == 0) return std::nullopt;
          return chain_of(step_, me_, i);
        default:
          return std::nullopt;
      }
    });
  }

  /// Returns which steps were done.
  [[nodiscard]] const std::vector<bool>& done() const { return done_; }

 private:
  static constexpr Affine kUntouched = {.factor = 0xdead, .summand = 0xbeef};

  template <typename Expected>
  void expect(const rma_collective_t& collective, const std::vector<Affine>& dst,
              const std::vector<Affine>& before, const Expected& expected) {
    std::size_t right = 0;
    while (right < dst.size() && dst[right] == expected(right).value_or(before[right])) ++right;
    ASSERT_EQ(right, dst.size()) << where(collective);
  }
  [[nodiscard]] std::string where(const rma_collective_t& collective) const {
    return "step " + std::to_string(step_) + ", kind " + std::to_string(collective.kind) + ", count " +
           std::to_string(collective.count) + ", root " + std::to_string(collective.root) + ", member " +
           std::to_string(me_);
  }

  Member member_;
  const int me_;
  const int members_;
  std::mt19937_64 shared_;
  std::mt19937_64 own_;
  std::vector<bool> done_;
  std::uint64_t step_ = 0;
  bool uneven_ = false;
};

class HierarchicalExchangeTest : public testing::TestWithParam<Hosts> {
 protected:
  void SetUp() override { alarm(240); }
  void TearDown() override { alarm(0); }
};

TEST_P(HierarchicalExchangeTest, RandomSequencesGiveTheResultsTheyShould) {
  const std::uint64_t seed = testing_threads::seed();
  World world(GetParam());
  const int members = world.hosts.members();
  std::vector<std::vector<bool>> done(static_cast<std::size_t>(members));
  run_members(members, [&](int me) {
    Player player(world, me, seed);
    player.play(150);
    done[static_cast<std::size_t>(me)] = player.done();
    EXPECT_EQ(world.network.left(me), 0);
  });
  for (const auto& steps : done) EXPECT_EQ(steps, done.front()) << "all members take one path";
  EXPECT_GT(std::count(done.front().begin(), done.front().end(), true), 20);
}

TEST_P(HierarchicalExchangeTest, RealNumbersGiveTheSameBitsEverywhereAndForEveryRoot) {
  std::mt19937_64 random(testing_threads::seed());
  World world(GetParam());
  const int members = world.hosts.members();
  constexpr std::size_t kCount = 5000;
  std::vector<std::vector<double>> sources(static_cast<std::size_t>(members));
  for (auto& source : sources) {
    for (std::size_t i = 0; i < kCount; ++i) {
      source.push_back(
          std::ldexp(static_cast<double>(random() % 1'999'999), static_cast<int>(random() % 60)));
    }
  }
  std::vector<std::vector<double>> sums(static_cast<std::size_t>(2 * members), std::vector<double>(kCount));
  run_members(members, [&](int me) {
    Member member(world, me);
    rma_collective_t collective = {};
    collective.kind = RMA_COLLECTIVE_ALLREDUCE;
    collective.count = kCount;
    collective.reducer = reducer_of(RMA_DOUBLE, RMA_SUM);
    collective.src = sources[static_cast<std::size_t>(me)].data();
    collective.dst = sums[static_cast<std::size_t>(me)].data();
    bool done = false;
    EXPECT_TRUE(member.run(collective, done).ok() && done);
    collective.kind = RMA_COLLECTIVE_REDUCE;
    for (int root = 0; root < members; ++root) {
      collective.root = root;
      collective.dst = root == me ? sums[static_cast<std::size_t>(members + me)].data() : nullptr;
      EXPECT_TRUE(member.run(collective, done).ok() && done);
    }
  });
  for (const auto& sum : sums) EXPECT_EQ(sum, sums.front());
}

TEST_P(HierarchicalExchangeTest, EveryCollectiveEndsWhenAMemberIsLostInTheMiddle) {
  std::mt19937_64 random(testing_threads::seed());
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    if (kind == RMA_COLLECTIVE_ALLTOALL) continue;
    World world(GetParam());
    const int members = world.hosts.members();
    const int gone = static_cast<int>(random() % static_cast<std::uint64_t>(members));
    const bool leader = world.hosts.leader(gone) == gone;
    // A leader ends between hosts or within its host, others within their host.
    const auto mates = static_cast<int>(world.hosts.mates(gone).size());
    const bool between = leader && mates < members && (mates == 1 || random() % 2 == 0);
    const auto life = static_cast<int>(random() % 12);
    const std::uint64_t looks = random() % 60;
    run_members(members, [&](int me) {
      EndsWaiting ends(looks);
      Member member(world, me, me == gone && between ? life : ThreadTeamCarrier::kForEver,
                    me == gone && !between ? &ends : nullptr);
      constexpr std::size_t kCount = 100;
      std::vector<double> src(kCount * static_cast<std::size_t>(members));
      std::vector<double> dst(src.size());
      rma_collective_t collective = {};
      collective.kind = static_cast<rma_collective_kind_t>(kind);
      collective.src = src.data();
      collective.dst = dst.data();
      collective.count = kCount;
      collective.bytes = kCount * sizeof(double);
      collective.reducer = reducer_of(RMA_DOUBLE, RMA_SUM);
      const auto leave = [&] {
        world.roster.end(me);
        world.network.lose(me);
      };
      try {
        bool done = true;
        Status status;
        while (status.ok() && done) {
          status = member.run(collective, done);
          collective.root = (collective.root + 1) % members;
        }
        if (!done && status.ok()) return;  // this team has no form for it
        if (me == gone) {
          leave();
          return;
        }
        EXPECT_EQ(status.code(), RMA_ERR_PEER_LOST) << "kind " << kind;
        EXPECT_EQ(member.run(collective, done).code(), RMA_ERR_PEER_LOST);
      } catch (const Gone&) {
        leave();
      }
    });
  }
}

std::string name_of(const testing::TestParamInfo<Hosts>& each) {
  std::string name = "On";
  for (const int host : each.param.of) name += static_cast<char>('A' + host);
  return each.param.without_scratch >= 0 ? name + "WithoutScratch" : name;
}

INSTANTIATE_TEST_SUITE_P(Teams, HierarchicalExchangeTest,
                         testing::Values(Hosts{{0, 1, 1, 1}}, Hosts{{0, 0, 0, 1}}, Hosts{{0, 0, 1, 1}},
                                         Hosts{{0, 1, 0, 1}}, Hosts{{1, 0, 0, 2, 1, 2, 2}},
                                         Hosts{{0, 0, 1, 1}, 1}, Hosts{{0, 0, 1, 2, 2, 2, 2}, 2},
                                         Hosts{{0, 0, 0}}, Hosts{{0, 0, 1, 2, 3, 3, 4}}),
                         name_of);

TEST(HostMap, KnowsHostsAndPlaces) {
  HostMap map(6);
  const std::array leaders = {0, 1, 0, 3, 1, 0};
  ASSERT_TRUE(map.fill([&](int member) { return leaders[static_cast<std::size_t>(member)]; }));
  EXPECT_EQ(map.hosts(), 3);
  EXPECT_EQ(map.host_of(4), 1);
  EXPECT_EQ(map.place_of(5), 2);
  EXPECT_EQ(map.leader_of(2), 3);
  EXPECT_EQ(map.size_of(0), 3);
  EXPECT_EQ(std::vector<int>(map.order().begin(), map.order().end()), (std::vector{0, 2, 5, 1, 4, 3}));
  EXPECT_FALSE(map.consecutive());
  EXPECT_FALSE(map.even());
}

TEST(HostMap, RefusesLeadersThatAreNone) {
  HostMap map(3);
  EXPECT_FALSE(map.fill([](int member) { return member == 1 ? -1 : 0; }));
  EXPECT_FALSE(map.fill([](int member) { return member == 0 ? 1 : 1; }));
  EXPECT_FALSE(map.fill([](int member) { return member == 2 ? 1 : 0; }));
  EXPECT_TRUE(map.fill([](int member) { return member; }));
}

}  // namespace
}  // namespace librma::hierarchical_exchange_test
