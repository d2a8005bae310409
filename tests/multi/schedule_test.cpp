// Nonblocking collectives and those that rma.h has not (rma/collectives.h): by their names and by the general
// form, on the world team, on teams that were made in every way, and beside blocking collectives.

#include <functional>
#include <memory>
#include <numeric>

#include "harness.hpp"
#include "rma/collectives.h"

namespace multi {
namespace {

using Values = std::vector<std::int64_t>;

constexpr std::array<std::size_t, 6> kElements = {0, 1, 7, 300, 5000, 40'000};

/// The teams of a test, freed at its end: world, its split into halves, a created one in the opposite order,
/// and an attached one.
class TestTeams {
 public:
  TestTeams() {
    std::vector<int> all(static_cast<std::size_t>(ranks()));
    std::iota(all.rbegin(), all.rend(), 0);
    EXPECT_TRUE(ok(rma_team_split(rma_team_world(), me() % 2, me(), &teams_[1])));
    EXPECT_TRUE(ok(rma_team_create(all.data(), ranks(), &teams_[2])));
    EXPECT_TRUE(ok(rma_team_attach(all.data(), ranks(), 3, &teams_[3])));
    teams_[0] = rma_team_world();
  }
  ~TestTeams() {
    for (std::size_t i = 1; i < teams_.size(); ++i) EXPECT_TRUE(ok(rma_team_free(&teams_[i])));
  }
  TestTeams(const TestTeams&) = delete;
  TestTeams& operator=(const TestTeams&) = delete;
  [[nodiscard]] const std::array<rma_team_t, 4>& all() const { return teams_; }

 private:
  std::array<rma_team_t, 4> teams_ = {};
};

struct Place {
  explicit Place(rma_team_t of) : team(of) { EXPECT_TRUE(ok(rma_team_info(of, &rank, &size))); }
  rma_team_t team;
  int rank = -1;
  int size = 0;
  [[nodiscard]] std::size_t n() const { return static_cast<std::size_t>(size); }
};

std::int64_t number(int member, std::size_t i, std::uint64_t salt) {
  return member * 1'000'003 + static_cast<std::int64_t>(i * 31 + salt);
}
Values numbers(int member, std::size_t from, std::size_t count, std::uint64_t salt) {
  Values made(count);
  for (std::size_t i = 0; i < count; ++i) made[i] = number(member, from + i, salt);
  return made;
}
Values sums(int members, std::size_t from, std::size_t count, std::uint64_t salt) {
  Values made(count);
  for (int member = 0; member < members; ++member) {
    for (std::size_t i = 0; i < count; ++i) made[i] += number(member, from + i, salt);
  }
  return made;
}

/// A call under way: its buffers and what they must hold at the end.
struct Open {
  Values src;
  Values dst;
  Values expected;
  rma_request_t request = RMA_REQUEST_NULL;
};

/// Starts call number `kind` on a team. `blocking`: makes the blocking form, if this file has tests of it.
std::unique_ptr<Open> start(const Place& place, std::size_t kind, std::size_t count, int root,
                            std::uint64_t salt, bool blocking) {
  auto open = std::make_unique<Open>();
  const std::size_t bytes = count * sizeof(std::int64_t);
  const std::size_t whole = count * place.n();
  Values& src = open->src;
  Values& dst = open->dst;
  Values& expected = open->expected;
  rma_request_t* const request = &open->request;
  const rma_team_t team = place.team;
  const bool at_root = place.rank == root;
  src = numbers(place.rank, 0, count, salt);
  dst.assign(count, -1);
  expected = dst;
  const auto gathered = [&] {
    Values all;
    for (int member = 0; member < place.size; ++member) {
      const Values part = numbers(member, 0, count, salt);
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  };
  switch (kind) {
    case 0:
      EXPECT_TRUE(ok(rma_barrier_nb(team, request)));
      break;
    case 1:
      if (at_root) dst = numbers(root, 0, count, salt);
      expected = numbers(root, 0, count, salt);
      EXPECT_TRUE(ok(rma_broadcast_nb(team, dst.data(), bytes, root, request)));
      break;
    case 2:
      if (at_root) {
        dst.assign(whole, -1);
        expected = gathered();
      }
      EXPECT_TRUE(ok(blocking ? rma_gather(team, dst.data(), src.data(), bytes, root)
                              : rma_gather_nb(team, dst.data(), src.data(), bytes, root, request)));
      break;
    case 3:
      src = at_root ? numbers(root, 0, whole, salt) : Values();
      expected = numbers(root, count * static_cast<std::size_t>(place.rank), count, salt);
      EXPECT_TRUE(ok(blocking ? rma_scatter(team, dst.data(), src.data(), bytes, root)
                              : rma_scatter_nb(team, dst.data(), src.data(), bytes, root, request)));
      break;
    case 4:
      dst.assign(whole, -1);
      expected = gathered();
      EXPECT_TRUE(ok(rma_allgather_nb(team, dst.data(), src.data(), bytes, request)));
      break;
    case 5:
      src = numbers(place.rank, 0, whole, salt);
      dst.assign(whole, -1);
      expected.clear();
      for (int member = 0; member < place.size; ++member) {
        const Values part = numbers(member, count * static_cast<std::size_t>(place.rank), count, salt);
        expected.insert(expected.end(), part.begin(), part.end());
      }
      EXPECT_TRUE(ok(blocking ? rma_alltoall(team, dst.data(), src.data(), bytes)
                              : rma_alltoall_nb(team, dst.data(), src.data(), bytes, request)));
      break;
    case 6:
      if (at_root) expected = sums(place.size, 0, count, salt);
      EXPECT_TRUE(ok(rma_reduce_nb(team, at_root ? dst.data() : nullptr, src.data(), count, RMA_LONG, RMA_SUM,
                                   root, request)));
      break;
    case 7:
      expected = sums(place.size, 0, count, salt);
      EXPECT_TRUE(ok(rma_allreduce_nb(team, dst.data(), src.data(), count, RMA_LONG, RMA_SUM, request)));
      break;
    case 8:
      src = numbers(place.rank, 0, whole, salt);
      expected = sums(place.size, count * static_cast<std::size_t>(place.rank), count, salt);
      EXPECT_TRUE(ok(
          blocking ? rma_reduce_scatter(team, dst.data(), src.data(), count, RMA_LONG, RMA_SUM)
                   : rma_reduce_scatter_nb(team, dst.data(), src.data(), count, RMA_LONG, RMA_SUM, request)));
      break;
    default:
      expected = sums(place.rank + 1, 0, count, salt);
      EXPECT_TRUE(ok(blocking
                         ? rma_scan(team, dst.data(), src.data(), count, RMA_LONG, RMA_SUM)
                         : rma_scan_nb(team, dst.data(), src.data(), count, RMA_LONG, RMA_SUM, request)));
      break;
  }
  return open;
}

constexpr std::size_t kCalls = 10;

TEST(Schedule, CallsOfAllKindsAreOpenAtOnce) {
  const TestTeams teams;
  Random random{1};
  Random own{2, static_cast<std::uint64_t>(me())};
  for (int round = 0; round < rounds(12); ++round) {
    std::vector<std::unique_ptr<Open>> open;
    for (int i = 0; i < 25; ++i) {
      const Place place(random.pick(teams.all()));
      const std::size_t kind = random.below(kCalls);
      const std::size_t count = random.pick(kElements) / (kind == 5 ? place.n() : 1);
      const int root = static_cast<int>(random.word() % place.n());
      open.push_back(start(place, kind, count, root, random.below(1000), random.chance(20)));
      // Blocking collectives of rma.h on the same teams.
      if (random.chance(10)) EXPECT_TRUE(ok(rma_barrier(place.team)));
      int done = 0;
      if (own.chance(50)) EXPECT_TRUE(ok(rma_test(&open[own.below(open.size())]->request, &done)));
    }
    std::shuffle(open.begin(), open.end(), own.engine());
    for (const auto& one : open) {
      EXPECT_TRUE(ok(rma_wait(&one->request)));
      EXPECT_EQ(one->dst, one->expected);
    }
  }
}

TEST(Schedule, AThreadThatWaitsAtADoorbellGoesOn) {
  // Rank 0 is in the blocking barrier, in shared memory, while the others need its part of the open calls.
  for (std::size_t kind = 0; kind < kCalls; ++kind) {
    const Place place(rma_team_world());
    const auto open = start(place, kind, 3000, 0, kind, false);
    if (me() != 0) EXPECT_TRUE(ok(rma_wait(&open->request)));
    EXPECT_TRUE(ok(rma_barrier(rma_team_world())));
    EXPECT_TRUE(ok(rma_wait(&open->request)));
    EXPECT_EQ(open->dst, open->expected);
  }
}

TEST(Schedule, AnAttachedTeamHasAllCollectives) {
  std::vector<int> all(static_cast<std::size_t>(ranks()));
  std::iota(all.begin(), all.end(), 0);
  rma_team_t team = nullptr;
  ASSERT_TRUE(ok(rma_team_attach(all.data(), ranks(), 9, &team)));
  int value = me() == 0 ? 41 : 0;
  EXPECT_TRUE(ok(rma_broadcast(team, &value, sizeof value, 0)));
  EXPECT_EQ(value, 41);
  int sum = 0;
  EXPECT_TRUE(ok(rma_allreduce(team, &sum, &value, 1, RMA_INT, RMA_SUM)));
  EXPECT_EQ(sum, 41 * ranks());
  sum = 0;
  EXPECT_TRUE(ok(rma_reduce(team, &sum, &value, 1, RMA_INT, RMA_SUM, ranks() - 1)));
  EXPECT_EQ(sum, me() == ranks() - 1 ? 41 * ranks() : 0);
  EXPECT_EQ(gather(me(), team), all);
  EXPECT_TRUE(ok(rma_barrier(team)));
  void* mine = nullptr;
  EXPECT_TRUE(ok(rma_malloc(team, 100, 0, nullptr, &mine)));
  EXPECT_TRUE(ok(rma_free(team, mine)));
  rma_team_t part = nullptr;
  EXPECT_TRUE(ok(rma_team_split(team, me() % 2, me(), &part)));
  EXPECT_TRUE(ok(rma_barrier(part)));
  EXPECT_TRUE(ok(rma_team_free(&part)));
  EXPECT_TRUE(ok(rma_team_free(&team)));
}

/// Appends text to text: `inout` becomes `in` and then `inout`. Each element is a length and as many letters.
constexpr std::size_t kLetters = 64;
void append(const void* in, void* inout, std::size_t count, void* context) {
  ++*static_cast<int*>(context);
  for (std::size_t i = 0; i < count; ++i) {
    const char* const lower = static_cast<const char*>(in) + i * kLetters;
    char* const higher = static_cast<char*>(inout) + i * kLetters;
    const std::string both = std::string(lower) + higher;
    std::memcpy(higher, both.c_str(), both.size() + 1);
  }
}

TEST(Schedule, AFunctionOfTheProgramCombinesInTheOrderOfRanks) {
  constexpr std::size_t kCount = 900;
  const Place place(rma_team_world());
  int calls = 0;
  rma_collective_t call = {};
  std::vector<char> src(kCount * kLetters);
  std::vector<char> dst(src.size());
  for (std::size_t i = 0; i < kCount; ++i) src[i * kLetters] = static_cast<char>('a' + place.rank);
  call.kind = RMA_COLLECTIVE_ALLREDUCE;
  call.src = src.data();
  call.dst = dst.data();
  call.count = kCount;
  call.reducer = {append, &calls, kLetters, 0};
  std::string expected;
  for (int member = 0; member < place.size; ++member) expected += static_cast<char>('a' + member);
  rma_persistent_t persistent = nullptr;
  ASSERT_TRUE(ok(rma_collective_init(place.team, &call, &persistent)));
  for (int round = 0; round < 3; ++round) {
    std::fill(dst.begin(), dst.end(), '?');
    rma_request_t request = RMA_REQUEST_NULL;
    EXPECT_TRUE(ok(rma_start(persistent, &request)));
    EXPECT_TRUE(ok(rma_wait(&request)));
    for (std::size_t i = 0; i < kCount; ++i) EXPECT_EQ(std::string(dst.data() + i * kLetters), expected);
  }
  EXPECT_TRUE(ok(rma_persistent_free(&persistent)));
  // Not every member combines anything, but some do.
  const std::vector<int> all_calls = gather(calls);
  EXPECT_EQ(std::accumulate(all_calls.begin(), all_calls.end(), 0) == 0, ranks() == 1);
}

TEST(Schedule, BlocksOfDifferentSizes) {
  const Place place(rma_team_world());
  const auto size_of = [](int member) { return static_cast<std::size_t>(member % 3) * 1000; };
  std::vector<std::byte> mine(size_of(place.rank));
  Random{7, static_cast<std::uint64_t>(place.rank)}.fill(mine);
  std::vector<std::vector<std::byte>> all(place.n());
  std::vector<rma_block_t> blocks;
  for (int member = 0; member < place.size; ++member) {
    auto& part = all[static_cast<std::size_t>(member)];
    part.resize(size_of(member));
    blocks.push_back({part.data(), part.size()});
  }
  rma_collective_t call = {};
  call.kind = RMA_COLLECTIVE_ALLGATHER;
  call.uneven = 1;
  call.src = mine.data();
  call.bytes = mine.size();
  call.dst_blocks = blocks.data();
  rma_request_t request = RMA_REQUEST_NULL;
  EXPECT_TRUE(ok(rma_collective_nb(place.team, &call, &request)));
  blocks.assign(blocks.size(), {});  // the call needs the list no more
  EXPECT_TRUE(ok(rma_wait(&request)));
  for (int member = 0; member < place.size; ++member) {
    std::vector<std::byte> expected(size_of(member));
    Random{7, static_cast<std::uint64_t>(member)}.fill(expected);
    EXPECT_EQ(all[static_cast<std::size_t>(member)], expected);
  }
}

TEST(Schedule, BadArgumentsAreRefused) {
  const rma_team_t world = rma_team_world();
  int value = 0;
  rma_request_t request = 77;
  EXPECT_TRUE(refused(rma_barrier_nb(world, nullptr), RMA_ERR_ARGUMENT, {"request"}));
  EXPECT_TRUE(refused(rma_barrier_nb(nullptr, &request), RMA_ERR_ARGUMENT));
  EXPECT_EQ(request, RMA_REQUEST_NULL);
  EXPECT_TRUE(refused(rma_broadcast_nb(world, &value, 4, ranks(), &request), RMA_ERR_RANK));
  EXPECT_TRUE(refused(rma_broadcast_nb(world, nullptr, 4, 0, &request), RMA_ERR_ARGUMENT, {"dst"}));
  EXPECT_TRUE(refused(rma_alltoall(world, &value, &value, SIZE_MAX), RMA_ERR_SIZE));
  EXPECT_TRUE(refused(rma_scan(world, &value, &value, 1, RMA_DOUBLE, RMA_BAND), RMA_ERR_ARGUMENT));
  auto* const odd = reinterpret_cast<std::byte*>(&value) + 1;
  EXPECT_TRUE(refused(rma_scan(world, odd, &value, 1, RMA_INT, RMA_SUM), RMA_ERR_ALIGNMENT));
  rma_collective_t call = {};
  call.kind = static_cast<rma_collective_kind_t>(12);
  EXPECT_TRUE(refused(rma_collective_nb(world, &call, &request), RMA_ERR_ARGUMENT, {"12"}));
  call.kind = RMA_COLLECTIVE_SCAN;
  EXPECT_TRUE(refused(rma_collective_nb(world, &call, &request), RMA_ERR_ARGUMENT, {"reducer.combine"}));
  call.reducer = {append, &value, 0, 0};
  EXPECT_TRUE(refused(rma_collective_nb(world, &call, &request), RMA_ERR_ARGUMENT, {"0 bytes"}));
  call.kind = RMA_COLLECTIVE_ALLTOALL;
  call.uneven = 1;
  EXPECT_TRUE(refused(rma_collective_nb(world, &call, &request), RMA_ERR_ARGUMENT, {"src_blocks"}));
  EXPECT_TRUE(refused(rma_collective_nb(world, nullptr, &request), RMA_ERR_ARGUMENT, {"collective"}));
  EXPECT_TRUE(refused(rma_collective_init(world, &call, nullptr), RMA_ERR_ARGUMENT, {"persistent"}));
  rma_team_t team = nullptr;
  const std::array<int, 2> twice = {me(), me()};
  EXPECT_TRUE(refused(rma_team_attach(twice.data(), 2, 1, &team), RMA_ERR_ARGUMENT, {"twice"}));
  EXPECT_TRUE(refused(rma_team_attach(twice.data(), 0, 1, &team), RMA_ERR_ARGUMENT));
  EXPECT_TRUE(refused(rma_team_attach(twice.data(), 1, RMA_CONTEXT_LAST + 1, &team), RMA_ERR_ARGUMENT));
}

}  // namespace
}  // namespace multi
