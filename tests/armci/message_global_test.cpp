// Global operations, broadcasts, selections and barriers, compared with the results that each process
// computes by itself.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <span>

#include "message_values.hpp"

using namespace armci_test;  // NOLINT(google-build-using-namespace)
using multi::me;
using multi::ranks;

namespace {

/// The numbers of elements: none, one, some, and more than any message or buffer of the runtime holds.
constexpr std::array<std::size_t, 5> kCounts = {0, 1, 7, 515, 20011};

void gop(int* x, int n, char* op) { armci_msg_igop(x, n, op); }
void gop(long* x, int n, char* op) { armci_msg_lgop(x, n, op); }
void gop(long long* x, int n, char* op) { armci_msg_llgop(x, n, op); }
void gop(float* x, int n, char* op) { armci_msg_fgop(x, n, op); }
void gop(double* x, int n, char* op) { armci_msg_dgop(x, n, op); }
void gop(int* x, int n, char* op, ARMCI_Group* group) { armci_msg_group_igop(x, n, op, group); }
void gop(long* x, int n, char* op, ARMCI_Group* group) { armci_msg_group_lgop(x, n, op, group); }
void gop(long long* x, int n, char* op, ARMCI_Group* group) { armci_msg_group_llgop(x, n, op, group); }
void gop(float* x, int n, char* op, ARMCI_Group* group) { armci_msg_group_fgop(x, n, op, group); }
void gop(double* x, int n, char* op, ARMCI_Group* group) { armci_msg_group_dgop(x, n, op, group); }
void clus_gop(int* x, int n, char* op) { armci_msg_clus_igop(x, n, op); }
void clus_gop(long* x, int n, char* op) { armci_msg_clus_lgop(x, n, op); }
void clus_gop(long long* x, int n, char* op) { armci_msg_clus_llgop(x, n, op); }
void clus_gop(float* x, int n, char* op) { armci_msg_clus_fgop(x, n, op); }
void clus_gop(double* x, int n, char* op) { armci_msg_clus_dgop(x, n, op); }

/// A group of these processes. Its members create it together.
class TestGroup {
 public:
  explicit TestGroup(std::vector<int> processes)
      : processes_(std::move(processes)), member_(contains(processes_, me())) {
    if (member_) ARMCI_Group_create(static_cast<int>(processes_.size()), processes_.data(), &group_);
  }
  ~TestGroup() {
    if (member_) ARMCI_Group_free(&group_);
  }
  TestGroup(const TestGroup&) = delete;
  TestGroup& operator=(const TestGroup&) = delete;

  [[nodiscard]] bool member() const { return member_; }
  [[nodiscard]] const std::vector<int>& processes() const { return processes_; }
  ARMCI_Group* get() { return &group_; }

 private:
  std::vector<int> processes_;
  bool member_;
  ARMCI_Group group_ = {};
};

/// Draws some of the processes, in any order. Every process draws the same for the same key.
std::vector<int> drawn_processes(std::uint64_t key) {
  multi::Random random({0x61, key});
  std::vector<int> all = everyone();
  std::shuffle(all.begin(), all.end(), random.engine());
  all.resize(1 + random.below(all.size()));
  return all;
}

/// If messages take long (multi::rounds), tests that do not depend on the operator use only one.
bool left_out(const std::string& op) { return op != "+" && multi::fewer_rounds() > 1; }

TEST(Message, EveryOperatorTypeAndLength) {
  for_types([](auto zero) {
    using T = decltype(zero);
    for (const std::string& op : operators<T>()) {
      for (const std::size_t count : kCounts) {
        if (count != kCounts[2] && left_out(op)) continue;
        std::vector<T> x = elements<T>(op, me(), count, 1);
        gop(x.data(), static_cast<int>(count), spelled(op));
        EXPECT_EQ(x, combined<T>(op, everyone(), count, 1))
            << op << ", type " << type_of<T>() << ", " << count;

        std::vector<T> again = elements<T>(op, me(), count, 2);
        armci_msg_gop_scope(SCOPE_ALL, again.data(), static_cast<int>(count), spelled(op), type_of<T>());
        EXPECT_EQ(again, combined<T>(op, everyone(), count, 2)) << op << ", scope, type " << type_of<T>();
      }
    }
  });
}

TEST(Message, OperatorsNeedNoEnd) {
  for (const std::string& op : operators<int>()) {
    std::vector<int> x = elements<int>(op, me(), 9, 3);
    gop(x.data(), 9, spelled(op + "xabs+"));
    EXPECT_EQ(x, combined<int>(op, everyone(), 9, 3)) << op;
  }
}

TEST(Message, ReduceGivesTheFirstMemberTheResult) {
  for_types([](auto zero) {
    using T = decltype(zero);
    for (const std::string& op : operators<T>()) {
      for (const std::size_t count : {std::size_t{1}, std::size_t{20011}}) {
        if (count != 1 && left_out(op)) continue;
        std::vector<T> x = elements<T>(op, me(), count, 4);
        armci_msg_reduce(x.data(), static_cast<int>(count), spelled(op), type_of<T>());
        if (me() == 0) EXPECT_EQ(x, combined<T>(op, everyone(), count, 4)) << op;
        std::vector<T> y = elements<T>(op, me(), count, 5);
        const std::vector<int> here = on_my_host(everyone());
        armci_msg_reduce_scope(SCOPE_NODE, y.data(), static_cast<int>(count), spelled(op), type_of<T>());
        if (me() == here.front()) EXPECT_EQ(y, combined<T>(op, here, count, 5)) << op;
      }
    }
  });
}

/// Tests sums of fractions, which depend on the order of adding.
TEST(Message, ResultsAreTheSameBitForBit) {
  for (const std::size_t count : kCounts) {
    std::vector<double> x(count);
    for (std::size_t i = 0; i < count; ++i) {
      x[i] = 1.0 / static_cast<double>(1 + mixed(static_cast<std::uint64_t>(me()), i) % 1000);
    }
    gop(x.data(), static_cast<int>(count), spelled("+"));
    std::vector<double> first = x;
    armci_msg_bcast(first.data(), static_cast<int>(count * sizeof(double)), 0);
    EXPECT_TRUE(std::ranges::equal(std::as_bytes(std::span(x)), std::as_bytes(std::span(first)))) << count;
  }
}

TEST(Message, BroadcastsFromEachRoot) {
  for (int root = 0; root < ranks(); ++root) {
    for (const std::size_t count : {0U, 1U, 13U, 8193U, 300001U}) {
      const auto key = static_cast<std::uint64_t>(root);
      const std::vector<std::byte> expected = bytes(count, 6, key);
      const int len = static_cast<int>(count);
      std::vector<std::byte> a(count);
      std::vector<std::byte> b(count);
      std::vector<std::byte> c(count);
      if (me() == root) a = b = c = expected;
      armci_msg_bcast(a.data(), len, root);
      armci_msg_brdcst(b.data(), len, root);
      armci_msg_bcast_scope(SCOPE_ALL, c.data(), len, root);
      EXPECT_EQ(a, expected) << "root " << root << ", " << count << " bytes";
      EXPECT_EQ(b, expected) << "root " << root << ", " << count << " bytes";
      EXPECT_EQ(c, expected) << "root " << root << ", " << count << " bytes";
    }
  }
}

TEST(Message, SelectsWhatAContributorHas) {
  struct Info {
    std::array<std::byte, 8> number;
    std::array<int, 9> extra;
  };
  const auto info = [](auto number, int rank) {
    Info made = {};
    std::memcpy(made.number.data(), &number, sizeof number);
    made.extra.fill(rank);
    return made;
  };
  for_types([&](auto zero) {
    using T = decltype(zero);
    for (std::uint64_t round = 0; round < multi::rounds(40U); ++round) {
      // The numbers are few, so that many are equal. In every tenth round no process contributes.
      const auto number = [&](int rank) {
        return static_cast<T>(static_cast<int>(mixed(static_cast<std::uint64_t>(rank), round, 7) % 7) - 3);
      };
      const auto contributes = [&](int rank) {
        return round % 10 != 9 && mixed(static_cast<std::uint64_t>(rank), round, 8) % 3 != 0;
      };
      for (const char* const op : {"min", "max"}) {
        int best = -1;
        for (const int rank : everyone()) {
          if (!contributes(rank)) continue;
          const bool better = best < 0 || (std::strcmp(op, "min") == 0 ? number(rank) < number(best)
                                                                       : number(rank) > number(best));
          if (better) best = rank;
        }
        best = std::max(best, 0);
        const Info expected = info(number(best), best);
        Info x = info(number(me()), me());
        armci_msg_sel(&x, sizeof x, const_cast<char*>(op), type_of<T>(), contributes(me()) ? 1 : 0);
        EXPECT_EQ(std::memcmp(&x, &expected, sizeof x), 0) << op << ", round " << round;
        Info y = info(number(me()), me());
        armci_msg_sel_scope(SCOPE_ALL, &y, sizeof y, const_cast<char*>(op), type_of<T>(),
                            contributes(me()) ? 77 : 0);
        EXPECT_EQ(std::memcmp(&y, &expected, sizeof y), 0) << op << ", scope, round " << round;
      }
    }
  });
}

TEST(Message, GroupsOfAnyMembersAndOrder) {
  for (std::uint64_t round = 0; round < multi::rounds(12U); ++round) {
    // There are two groups at a time, which may have members in common.
    TestGroup one(drawn_processes(2 * round));
    TestGroup other(drawn_processes(2 * round + 1));
    for (TestGroup* const group : {&one, &other}) {
      if (!group->member()) continue;
      const std::vector<int>& processes = group->processes();
      for_types([&](auto zero) {
        using T = decltype(zero);
        for (const std::string& op : operators<T>()) {
          if (left_out(op)) continue;
          std::vector<T> x = elements<T>(op, me(), 31, round);
          gop(x.data(), 31, spelled(op), group->get());
          EXPECT_EQ(x, combined<T>(op, processes, 31, round)) << op << ", round " << round;
          std::vector<T> y = elements<T>(op, me(), 2111, round);
          armci_msg_group_gop_scope(SCOPE_ALL, y.data(), 2111, spelled(op), type_of<T>(), group->get());
          EXPECT_EQ(y, combined<T>(op, processes, 2111, round)) << op << ", round " << round;
        }
      });
      for (const int root : processes) {
        const std::vector<std::byte> expected = bytes(999, 9, static_cast<std::uint64_t>(root), round);
        std::vector<std::byte> x = me() == root ? expected : std::vector<std::byte>(999);
        armci_msg_group_bcast_scope(SCOPE_ALL, x.data(), 999, root, group->get());
        EXPECT_EQ(x, expected) << "root " << root << ", round " << round;
      }
      armci_msg_group_barrier(group->get());
    }
  }
}

TEST(Message, CallsWithoutAGroupTakeTheDefaultGroup) {
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  for (std::uint64_t round = 0; round < multi::rounds(6U); ++round) {
    TestGroup group(drawn_processes(100 + round));
    if (group.member()) {
      const std::vector<int>& processes = group.processes();
      ARMCI_Group_set_default(group.get());
      std::vector<int> x = elements<int>("+", me(), 100, round);
      gop(x.data(), 100, spelled("+"));
      EXPECT_EQ(x, combined<int>("+", processes, 100, round));
      armci_msg_barrier();
      // The root is one of the group's ranks.
      int from = me();
      armci_msg_bcast(&from, sizeof from, static_cast<int>(processes.size()) - 1);
      EXPECT_EQ(from, processes.back());
      long least = me() + 10L;
      armci_msg_sel(&least, sizeof least, spelled("min"), ARMCI_LONG, 1);
      EXPECT_EQ(least, *std::min_element(processes.begin(), processes.end()) + 10);
      ARMCI_Group_set_default(&world);
    }
  }
  int count = 1;
  gop(&count, 1, spelled("+"));
  EXPECT_EQ(count, ranks());
}

TEST(Message, ScopesAreHostsAndTheirFirstMembers) {
  for (std::uint64_t round = 0; round < multi::rounds(8U); ++round) {
    TestGroup group(round == 0 ? everyone() : drawn_processes(200 + round));
    const std::vector<int> masters = masters_of(group.processes());
    if (!group.member()) continue;
    const std::vector<int> here = on_my_host(group.processes());
    const bool master = contains(masters, me());
    std::vector<int> x = elements<int>("max", me(), 50, round);
    armci_msg_group_gop_scope(SCOPE_NODE, x.data(), 50, spelled("max"), ARMCI_INT, group.get());
    EXPECT_EQ(x, combined<int>("max", here, 50, round)) << "round " << round;

    std::vector<double> y = elements<double>("+", me(), 50, round);
    const std::vector<double> mine = y;
    armci_msg_group_gop_scope(SCOPE_MASTERS, y.data(), 50, spelled("+"), ARMCI_DOUBLE, group.get());
    EXPECT_EQ(y, master ? combined<double>("+", masters, 50, round) : mine) << "round " << round;

    for (const int root : group.processes()) {
      if (contains(here, root)) {
        const std::vector<std::byte> expected = bytes(77, 10, static_cast<std::uint64_t>(root), round);
        std::vector<std::byte> z = me() == root ? expected : std::vector<std::byte>(77);
        armci_msg_group_bcast_scope(SCOPE_NODE, z.data(), 77, root, group.get());
        EXPECT_EQ(z, expected) << "root " << root << ", round " << round;
      }
      // The message is short and then long, because a root that is no master sends it to one.
      for (const std::size_t count : {std::size_t{77}, std::size_t{70000}}) {
        const std::vector<std::byte> expected = bytes(count, 11, static_cast<std::uint64_t>(root), round);
        std::vector<std::byte> w = me() == root ? expected : std::vector<std::byte>(count);
        armci_msg_group_bcast_scope(SCOPE_MASTERS, w.data(), static_cast<int>(count), root, group.get());
        EXPECT_EQ(w, master || me() == root ? expected : std::vector<std::byte>(count))
            << "root " << root << ", round " << round;
      }
    }
  }
}

TEST(Message, HostsByThemselves) {
  const std::vector<int> here = on_my_host(everyone());
  for_types([&](auto zero) {
    using T = decltype(zero);
    for (const std::string& op : operators<T>()) {
      std::vector<T> x = elements<T>(op, me(), 40, 12);
      clus_gop(x.data(), 40, spelled(op));
      EXPECT_EQ(x, combined<T>(op, here, 40, 12)) << op;
    }
  });
  std::vector<std::byte> data = bytes(5000, 13, static_cast<std::uint64_t>(me()));
  armci_msg_clus_brdcst(data.data(), 5000);
  EXPECT_EQ(data, bytes(5000, 13, static_cast<std::uint64_t>(here.front())));
}

TEST(Message, BroadcastsToConsecutiveMembers) {
  TestGroup group(everyone());
  for (int first = 0; first < ranks(); ++first) {
    for (int count = 1; first + count <= ranks(); ++count) {
      int from = me();
      armci_grp_clus_brdcst(&from, sizeof from, first, count, group.get());
      EXPECT_EQ(from, me() >= first && me() < first + count ? first : me());
    }
  }
}

TEST(Message, ExchangesAddresses) {
  const auto pointer = [](int rank) {
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(mixed(static_cast<std::uint64_t>(rank), 14)));
  };
  std::vector<void*> all(static_cast<std::size_t>(ranks()), nullptr);
  all[static_cast<std::size_t>(me())] = pointer(me());
  armci_exchange_address(all.data(), ranks());
  for (int rank = 0; rank < ranks(); ++rank) EXPECT_EQ(all[static_cast<std::size_t>(rank)], pointer(rank));

  TestGroup group(drawn_processes(300));
  if (!group.member()) return;
  const std::vector<int>& processes = group.processes();
  std::vector<void*> some(processes.size(), nullptr);
  const auto mine =
      static_cast<std::size_t>(std::find(processes.begin(), processes.end(), me()) - processes.begin());
  some[mine] = pointer(me());
  armci_exchange_address_grp(some.data(), static_cast<int>(processes.size()), group.get());
  for (std::size_t i = 0; i < processes.size(); ++i) EXPECT_EQ(some[i], pointer(processes[i]));
}

TEST(Message, TreeHasEveryMemberOnce) {
  const std::vector<int> here = on_my_host(everyone());
  const std::vector<int> masters = masters_of(everyone());
  for (const int scope : {SCOPE_ALL, SCOPE_NODE, SCOPE_MASTERS}) {
    const std::vector<int> members = scope == SCOPE_ALL ? everyone() : scope == SCOPE_NODE ? here : masters;
    struct Place {
      int root, up, left, right;
    } mine = {-9, -9, -9, -9};
    armci_msg_bintree(scope, &mine.root, &mine.up, &mine.left, &mine.right);
    const std::vector<Place> places = multi::gather(mine);
    EXPECT_EQ(mine.root, members.front()) << scope;
    EXPECT_EQ(mine.up == -1, me() == mine.root || !contains(members, me())) << scope;
    if (!contains(members, me())) {
      EXPECT_EQ(mine.left, -1);
      EXPECT_EQ(mine.right, -1);
      continue;
    }
    // A walk from the root reaches each member once, and each child knows its parent.
    std::vector<int> met = {members.front()};
    std::size_t deepest = 0;
    for (std::size_t i = 0; i < met.size() && met.size() <= members.size(); ++i) {
      const Place& place = places[static_cast<std::size_t>(met[i])];
      for (const int child : {place.left, place.right}) {
        if (child < 0) continue;
        EXPECT_EQ(places[static_cast<std::size_t>(child)].up, met[i]);
        met.push_back(child);
      }
    }
    for (int at = met.back(); at != members.front() && deepest <= members.size(); ++deepest) {
      at = places[static_cast<std::size_t>(at)].up;
    }
    EXPECT_LE(std::size_t{1} << deepest, members.size()) << "deeper than a full tree";
    std::sort(met.begin(), met.end());
    std::vector<int> sorted = members;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(met, sorted) << scope;
  }
}

TEST(Message, BarrierShowsWhatWasPutBefore) {
  multi::Memory memory(multi::Remote::window, sizeof(long) * static_cast<std::size_t>(ranks()));
  for (long round = 1; round < multi::rounds(200L); ++round) {
    for (int to = 0; to < ranks(); ++to) {
      EXPECT_EQ(rma_put_nbi(memory.at(to) + sizeof(long) * static_cast<std::size_t>(me()), &round,
                            sizeof round, to),
                RMA_SUCCESS);
    }
    armci_msg_barrier();
    for (int from = 0; from < ranks(); ++from) {
      long seen = 0;
      std::memcpy(&seen, memory.mine().data() + sizeof(long) * static_cast<std::size_t>(from), sizeof seen);
      EXPECT_EQ(seen, round);
    }
    armci_msg_barrier();
  }
}

TEST(Message, WhoAndHowMany) {
  EXPECT_EQ(armci_msg_me(), me());
  EXPECT_EQ(armci_msg_nproc(), ranks());
  const double before = armci_timer();
  EXPECT_GE(armci_timer(), before);
}

}  // namespace
