// Collectives with every type, operator and root, from one element to more than is copied through the team's
// own memory. Each rank computes the expected results alone.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "harness.hpp"
#include "numbers.hpp"
#include "rma/collectives.h"
#include "rma/unchecked.h"

namespace multi {
namespace {

constexpr std::array kOperators = {RMA_SUM, RMA_PROD, RMA_MIN, RMA_MAX, RMA_BAND, RMA_BOR, RMA_BXOR};
constexpr std::array<std::size_t, 6> kCounts = {1, 2, 7, 100, 1023, 9000};
constexpr std::array<std::size_t, 8> kCollectiveSizes = {0, 1, 8, 63, 1000, 4096, 32'768, 100'001};

bool defined(rma_type_t type, rma_reduction_t op) {
  if (op == RMA_MIN || op == RMA_MAX) return !is_complex(type);
  return op < RMA_BAND || is_integer(type);
}

/// Whole numbers whose product over 16 ranks still is exact in a float.
std::vector<std::byte> draw_elements(Random& random, rma_type_t type, rma_reduction_t op, std::size_t count) {
  std::vector<std::byte> result(count * type_bytes(type));
  with_type(type, [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t i = 0; i < count; ++i) {
      const T element = op == RMA_PROD ? draw_number<T>(random, 1, 2) : draw_number<T>(random, -1000, 1000);
      std::memcpy(result.data() + i * sizeof(T), &element, sizeof element);
    }
  });
  return result;
}

/// One step of the reduction. Comparisons are those of signed integers.
template <typename T>
T combine(rma_reduction_t op, T one, T other) {
  if (op == RMA_SUM) return static_cast<T>(one + other);
  if (op == RMA_PROD) return static_cast<T>(one * other);
  if constexpr (std::is_integral_v<T>) {
    using Signed = std::make_signed_t<T>;
    const bool less = static_cast<Signed>(one) < static_cast<Signed>(other);
    switch (op) {
      case RMA_MIN:
        return less ? one : other;
      case RMA_MAX:
        return less ? other : one;
      case RMA_BAND:
        return one & other;
      case RMA_BOR:
        return one | other;
      default:
        return one ^ other;
    }
  } else if constexpr (std::is_floating_point_v<T>) {
    return op == RMA_MIN ? std::min(one, other) : std::max(one, other);
  }
  return one;
}

/// Returns the draws of team rank `rank`, which all members can make.
Random draws_of(std::uint64_t key, int rank, std::size_t turn) {
  return {key, static_cast<std::uint64_t>(rank), turn};
}

/// Returns the expected result over `size` members.
std::vector<std::byte> reduced(std::uint64_t key, std::size_t turn, int size, rma_type_t type,
                               rma_reduction_t op, std::size_t count) {
  Random first = draws_of(key, 0, turn);
  std::vector<std::byte> result = draw_elements(first, type, op, count);
  for (int rank = 1; rank < size; ++rank) {
    Random draws = draws_of(key, rank, turn);
    const std::vector<std::byte> next = draw_elements(draws, type, op, count);
    with_type(type, [&](auto zero) {
      using T = decltype(zero);
      for (std::size_t at = 0; at < result.size(); at += sizeof(T)) {
        T one;
        T other;
        std::memcpy(&one, result.data() + at, sizeof one);
        std::memcpy(&other, next.data() + at, sizeof other);
        one = combine(op, one, other);
        std::memcpy(result.data() + at, &one, sizeof one);
      }
    });
  }
  return result;
}

/// Returns whether the numbers are equal; zeros may differ in sign.
bool same_numbers(rma_type_t type, std::span<const std::byte> one, std::span<const std::byte> other) {
  return with_type(type, [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t at = 0; at < one.size(); at += sizeof(T)) {
      T a;
      T b;
      std::memcpy(&a, one.data() + at, sizeof a);
      std::memcpy(&b, other.data() + at, sizeof b);
      if (a != b) return false;
    }
    return true;
  });
}

struct Place {
  rma_team_t team;
  int rank = 0;
  int size = 0;
  explicit Place(rma_team_t of_team) : team(of_team) { EXPECT_TRUE(ok(rma_team_info(team, &rank, &size))); }
};

void allreduce_once(const Place& place, std::size_t turn, rma_type_t type, rma_reduction_t op,
                    std::size_t count, bool in_place) {
  SCOPED_TRACE(testing::Message() << "type " << type << " op " << op << " count " << count << " team of "
                                  << place.size);
  Random draws = draws_of(81, place.rank, turn);
  std::vector<std::byte> source = draw_elements(draws, type, op, count);
  const std::vector<std::byte> before = source;
  std::vector<std::byte> sink(source.size());
  std::vector<std::byte>& result = in_place ? source : sink;
  EXPECT_TRUE(ok(rma_allreduce(place.team, result.data(), source.data(), count, type, op)));
  EXPECT_TRUE(same_numbers(type, result, reduced(81, turn, place.size, type, op, count)));
  if (!in_place) EXPECT_EQ(source, before);
}

void reduce_once(const Place& place, std::size_t turn, rma_type_t type, rma_reduction_t op, std::size_t count,
                 int root) {
  SCOPED_TRACE(testing::Message() << "type " << type << " op " << op << " count " << count << " root "
                                  << root);
  Random draws = draws_of(82, place.rank, turn);
  const std::vector<std::byte> source = draw_elements(draws, type, op, count);
  std::vector<std::byte> sink(source.size(), std::byte{0x5a});
  const bool receives = place.rank == root;
  // The destinations of other members are not touched, and may be null.
  void* const dst = receives || turn % 2 == 0 ? sink.data() : nullptr;
  EXPECT_TRUE(ok(rma_reduce(place.team, dst, source.data(), count, type, op, root)));
  if (receives) {
    EXPECT_TRUE(same_numbers(type, sink, reduced(82, turn, place.size, type, op, count)));
  } else {
    EXPECT_EQ(sink, std::vector<std::byte>(sink.size(), std::byte{0x5a}));
  }
}

void broadcast_once(const Place& place, std::size_t turn, std::size_t bytes, int root) {
  SCOPED_TRACE(testing::Message() << bytes << " bytes from " << root);
  std::vector<std::byte> expected(bytes);
  draws_of(83, root, turn).fill(expected);
  std::vector<std::byte> buffer = expected;
  if (place.rank != root) std::fill(buffer.begin(), buffer.end(), std::byte{0});
  EXPECT_TRUE(ok(rma_broadcast(place.team, buffer.data(), bytes, root)));
  EXPECT_EQ(first_difference(buffer, expected), bytes);
}

void allgather_once(const Place& place, std::size_t turn, std::size_t bytes) {
  SCOPED_TRACE(testing::Message() << bytes << " bytes each");
  std::vector<std::byte> mine(bytes);
  draws_of(84, place.rank, turn).fill(mine);
  std::vector<std::byte> all(bytes * static_cast<std::size_t>(place.size));
  EXPECT_TRUE(ok(rma_allgather(place.team, all.data(), mine.data(), bytes)));
  std::vector<std::byte> expected;
  for (int rank = 0; rank < place.size; ++rank) {
    std::vector<std::byte> contribution(bytes);
    draws_of(84, rank, turn).fill(contribution);
    expected.insert(expected.end(), contribution.begin(), contribution.end());
  }
  EXPECT_EQ(first_difference(all, expected), all.size());
}

TEST(Collective, Allreduce) {
  const Place world(rma_team_world());
  std::size_t turn = 0;
  for (const rma_type_t type : kTypes) {
    for (const rma_reduction_t op : kOperators) {
      if (!defined(type, op)) continue;
      for (const std::size_t count : kCounts) {
        // Only one operator uses the largest sizes, because there are so many cases.
        if (count > 1023 && op != RMA_SUM) continue;
        if (count > 100 && ranks() > 4 && op != RMA_SUM) continue;
        ++turn;
        allreduce_once(world, turn, type, op, count, turn % 2 == 0);
      }
    }
  }
}

TEST(Collective, ReduceToEveryRoot) {
  const Place world(rma_team_world());
  std::size_t turn = 0;
  for (int root = 0; root < ranks(); ++root) {
    for (const rma_type_t type : kTypes) {
      for (const rma_reduction_t op : kOperators) {
        const std::size_t count = kCounts[turn % (ranks() <= 4 ? 6 : 4)];
        ++turn;
        if (defined(type, op)) reduce_once(world, turn, type, op, count, root);
      }
    }
  }
}

TEST(Collective, BroadcastFromEveryRoot) {
  const Place world(rma_team_world());
  std::size_t turn = 0;
  for (int root = 0; root < ranks(); ++root) {
    for (const std::size_t bytes : kCollectiveSizes) broadcast_once(world, ++turn, bytes, root);
  }
}

TEST(Collective, Allgather) {
  const Place world(rma_team_world());
  std::size_t turn = 0;
  for (const std::size_t bytes : kCollectiveSizes) allgather_once(world, ++turn, bytes);
}

TEST(Collective, RealNumbersGiveTheSameBitsEverywhereAndAgain) {
  for (const rma_type_t type : {RMA_FLOAT, RMA_DOUBLE, RMA_COMPLEX_DOUBLE}) {
    for (const std::size_t count : kCounts) {
      Random random({85, static_cast<std::uint64_t>(me()), count});
      const std::size_t parts = count * (is_complex(type) ? 2 : 1);
      std::vector<std::byte> source(count * type_bytes(type));
      for (std::size_t i = 0; i < parts; ++i) {  // of very different sizes, so that the order of adding shows
        const double value = std::ldexp(static_cast<double>(random.between(-999'999, 999'999)),
                                        static_cast<int>(random.between(-30, 30)));
        const auto single = static_cast<float>(value);
        if (type == RMA_FLOAT) {
          std::memcpy(source.data() + i * sizeof single, &single, sizeof single);
        } else {
          std::memcpy(source.data() + i * sizeof value, &value, sizeof value);
        }
      }
      std::vector<std::byte> first(source.size());
      std::vector<std::byte> second(source.size());
      EXPECT_TRUE(ok(rma_allreduce(rma_team_world(), first.data(), source.data(), count, type, RMA_SUM)));
      EXPECT_TRUE(ok(rma_allreduce(rma_team_world(), second.data(), source.data(), count, type, RMA_SUM)));
      EXPECT_EQ(first, second);
      std::vector<std::byte> of_rank_0 = first;
      EXPECT_TRUE(ok(rma_broadcast(rma_team_world(), of_rank_0.data(), of_rank_0.size(), 0)));
      EXPECT_EQ(first, of_rank_0);
    }
  }
}

TEST(Collective, MixedOnOverlappingTeams) {
  // The teams are the world, every second rank, every third, the lower half, and the world backwards. Each
  // rank uses those of which it is a member, in one order that all ranks know.
  std::vector<rma_team_t> teams(5, nullptr);
  const rma_team_t world = rma_team_world();
  teams[0] = world;
  EXPECT_TRUE(ok(rma_team_split(world, me() % 2 == 0 ? 0 : -1, 0, &teams[1])));
  EXPECT_TRUE(ok(rma_team_split(world, me() % 3 == 0 ? 0 : -1, 0, &teams[2])));
  EXPECT_TRUE(ok(rma_team_split(world, me() <= ranks() / 2 ? 0 : -1, 0, &teams[3])));
  EXPECT_TRUE(ok(rma_team_split(world, 0, -me(), &teams[4])));
  Random order({86});  // the same on all ranks
  const int many = rounds(ranks() <= 4 ? 400 : 100);
  for (int round = 0; round < many; ++round) {
    const rma_team_t team = order.pick(teams);
    const std::size_t what = order.below(5);
    const std::size_t draw = order.below(1000);
    const std::size_t turn = static_cast<std::size_t>(round) + 1000;
    if (team == nullptr) continue;
    const Place place(team);
    const rma_type_t type = kTypes[draw % kTypes.size()];
    const std::size_t count = kCounts[draw % 5];
    const std::size_t bytes = kCollectiveSizes[draw % kCollectiveSizes.size()];
    const int root = static_cast<int>(draw % static_cast<std::size_t>(place.size));
    if (what == 0) EXPECT_TRUE(ok(rma_barrier(team)));
    if (what == 1) allreduce_once(place, turn, type, RMA_SUM, count, false);
    if (what == 2) reduce_once(place, turn, type, RMA_PROD, count, root);
    if (what == 3) broadcast_once(place, turn, bytes, root);
    if (what == 4) allgather_once(place, turn, bytes);
  }
  barrier();
  for (std::size_t i = 1; i < teams.size(); ++i) {
    if (teams[i] != nullptr) EXPECT_TRUE(ok(rma_team_free(&teams[i])));
  }
}

TEST(Collective, BarriersKeepRanksTogether) {
  // Every rank adds 1 at rank 0 before each barrier. After the barrier, all ranks must have added.
  const Memory memory(Remote::window, sizeof(std::uint64_t));
  std::fill(memory.mine().begin(), memory.mine().end(), std::byte{0});
  barrier();
  auto* const counter = reinterpret_cast<std::uint64_t*>(memory.at(0));
  for (std::uint64_t round = 1; round <= rounds(200U); ++round) {
    EXPECT_TRUE(ok(rma_atomic64(RMA_FETCH_ADD, counter, 1, 0, nullptr, 0)));
    barrier();
    std::uint64_t value = 0;
    EXPECT_TRUE(ok(rma_atomic64(RMA_FETCH, counter, 0, 0, &value, 0)));
    EXPECT_EQ(value, round * static_cast<std::uint64_t>(ranks()));
    barrier();
  }
}

TEST(Collective, OnWindowMemory) {
  const Buffer source(Local::window, 200'000);
  const Buffer sink(Local::window, 200'000 * static_cast<std::size_t>(ranks()));
  std::fill(source.bytes().begin(), source.bytes().end(), static_cast<std::byte>(me()));
  EXPECT_TRUE(ok(rma_allgather(rma_team_world(), sink.data(), source.data(), 200'000)));
  for (std::size_t i = 0; i < sink.bytes().size(); i += 997) {
    EXPECT_EQ(sink.bytes()[i], static_cast<std::byte>(i / 200'000));
  }
  auto* const numbers = reinterpret_cast<long*>(source.data());
  std::fill_n(numbers, 25'000, 3L);
  EXPECT_TRUE(ok(rma_allreduce(rma_team_world(), numbers, numbers, 25'000, RMA_LONG, RMA_SUM)));
  EXPECT_EQ(std::count(numbers, numbers + 25'000, 3L * ranks()), 25'000);
}

/// A sum of longs in the general form.
rma_collective_t sum_of(const std::vector<long>& mine, std::vector<long>& all) {
  rma_collective_t sum = {};
  sum.kind = RMA_COLLECTIVE_ALLREDUCE;
  sum.dst = all.data();
  sum.src = mine.data();
  sum.count = mine.size();
  sum.reducer = {.combine =
                     [](const void* in, void* inout, std::size_t count, void* /*context*/) {
                       for (std::size_t i = 0; i < count; ++i)
                         static_cast<long*>(inout)[i] += static_cast<const long*>(in)[i];
                     },
                 .context = nullptr,
                 .element_bytes = sizeof(long),
                 .commutes = 1};
  return sum;
}

// Members that take the short way of rma/unchecked.h and members that take the general one find each other.
TEST(Collective, ShortWaysAndGeneralOnesMeet) {
  std::vector<int> all_ranks(static_cast<std::size_t>(ranks()));
  std::iota(all_ranks.begin(), all_ranks.end(), 0);
  rma_team_t team = nullptr;
  EXPECT_TRUE(ok(rma_team_attach(all_ranks.data(), ranks(), 5, &team)));
  EXPECT_EQ(rma_team_meeting(team), nullptr) << "the members have not met";
  EXPECT_EQ(rma_team_meeting(nullptr), nullptr);
  rma_collective_t meet = {};
  EXPECT_TRUE(ok(rma_collective_run(team, &meet)));
  const rma_meeting_t meeting = rma_team_meeting(team);
  EXPECT_EQ(meeting != nullptr, rma_team_meeting(rma_team_world()) != nullptr);
  const bool one_round = ranks() == 1 || std::getenv("RMA_COLL_DIRECT") == nullptr;
  for (int round = 0; round < 40; ++round) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{128}, std::size_t{129}}) {
      const std::vector<long> mine(count, me() + round);
      std::vector<long> all(count, -1);
      const rma_collective_t sum = sum_of(mine, all);
      const bool turn = meeting != nullptr && (me() + round) % 2 == 0;
      const bool done = turn && rma_try_allreduce(meeting, all.data(), mine.data(), count, &sum.reducer) != 0;
      if (turn && (one_round || count > 128)) EXPECT_EQ(done, count <= 128) << count;
      if (!done) EXPECT_TRUE(ok(rma_collective_run(team, &sum)));
      const long expected = ranks() * (ranks() - 1) / 2 + round * ranks();
      EXPECT_EQ(std::count(all.begin(), all.end(), expected), static_cast<std::ptrdiff_t>(count));
      const bool met = turn && rma_try_barrier(meeting) != 0;
      EXPECT_EQ(met, turn);
      if (!met) EXPECT_TRUE(ok(rma_collective_run(team, &meet)));
    }
  }
  if (meeting != nullptr) {
    long number = 0;
    const std::vector<long> none;
    std::vector<long> nowhere;
    const rma_reducer_t reducer = sum_of(none, nowhere).reducer;
    for (const std::size_t count : {std::size_t{0}, SIZE_MAX, SIZE_MAX / 8 + 2})
      EXPECT_EQ(rma_try_allreduce(meeting, &number, &number, count, &reducer), 0) << count;
  }
  EXPECT_TRUE(ok(rma_team_free(&team)));
}

TEST(Collective, RefusesBadArgumentsAlike) {
  std::array<double, 4> values = {1, 2, 3, 4};
  std::array<double, 4> sink = {};
  const rma_team_t world = rma_team_world();
  EXPECT_TRUE(refused(rma_broadcast(world, values.data(), 8, ranks()), RMA_ERR_RANK,
                      {"rma_broadcast", std::to_string(ranks())}));
  EXPECT_TRUE(refused(rma_broadcast(world, values.data(), 8, -1), RMA_ERR_RANK, {"rma_broadcast", "-1"}));
  EXPECT_TRUE(refused(rma_broadcast(world, nullptr, 8, 0), RMA_ERR_ARGUMENT, {"rma_broadcast", "buffer"}));
  for (const rma_reduction_t op : {RMA_BAND, RMA_BOR, RMA_BXOR}) {
    EXPECT_TRUE(refused(rma_allreduce(world, sink.data(), values.data(), 4, RMA_DOUBLE, op), RMA_ERR_ARGUMENT,
                        {"rma_allreduce"}));
  }
  for (const rma_reduction_t op : {RMA_MIN, RMA_MAX}) {
    EXPECT_TRUE(refused(rma_reduce(world, sink.data(), values.data(), 2, RMA_COMPLEX_DOUBLE, op, 0),
                        RMA_ERR_ARGUMENT, {"rma_reduce"}));
  }
  EXPECT_TRUE(
      refused(rma_allreduce(world, sink.data(), values.data(), 4, static_cast<rma_type_t>(7), RMA_SUM),
              RMA_ERR_ARGUMENT, {"rma_allreduce", "7"}));
  EXPECT_TRUE(refused(
      rma_allreduce(world, sink.data(), values.data(), 4, RMA_DOUBLE, static_cast<rma_reduction_t>(9)),
      RMA_ERR_ARGUMENT, {"rma_allreduce", "9"}));
  EXPECT_TRUE(refused(rma_allreduce(world, sink.data(), values.data(), SIZE_MAX / 4, RMA_DOUBLE, RMA_SUM),
                      RMA_ERR_SIZE, {"rma_allreduce", std::to_string(SIZE_MAX / 4)}));
  EXPECT_TRUE(
      refused(rma_allgather(world, sink.data(), values.data(), SIZE_MAX), RMA_ERR_SIZE, {"rma_allgather"}));
  EXPECT_TRUE(ok(rma_allreduce(world, nullptr, nullptr, 0, RMA_DOUBLE, RMA_SUM)));
  EXPECT_EQ(sink, (std::array<double, 4>{}));
  barrier();
}

}  // namespace
}  // namespace multi
