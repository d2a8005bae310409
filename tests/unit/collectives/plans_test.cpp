// Every plan against the operation's definition, at many numbers of members and sizes around those at which the
// algorithms change.

#include "collectives/plans.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "../seed.hpp"
#include "collectives/reduce.hpp"
#include "plan_network.hpp"

namespace rma {
namespace {

using testing_plans::PlanNetwork;

/// An element of the reductions: the map x -> a * x + b. One map after the other is another one; that is
/// associative and does not commute.
struct Map {
  std::uint64_t a = 1;
  std::uint64_t b = 0;
  bool operator==(const Map&) const = default;
};

Map after(const Map& lower, const Map& higher) {
  return {.a = lower.a * higher.a, .b = lower.b * higher.a + higher.b};
}
/// This one commutes.
Map both(const Map& lower, const Map& higher) { return {.a = lower.a * higher.a, .b = lower.b + higher.b}; }

template <Map (*kCombine)(const Map&, const Map&)>
void combine(const void* in, void* inout, std::size_t count, void* /*context*/) {
  const auto* const from = static_cast<const Map*>(in);
  auto* const to = static_cast<Map*>(inout);
  for (std::size_t i = 0; i < count; ++i) to[i] = kCombine(from[i], to[i]);
}

constexpr std::array kMembers = {1, 2, 3, 4, 5, 7, 8, 11, 16};

class Plans : public testing::TestWithParam<int> {
 protected:
  int members = GetParam();
  std::mt19937_64 random{test_seed() * 100 + static_cast<std::uint64_t>(members)};

  [[nodiscard]] std::size_t n() const { return static_cast<std::size_t>(members); }

  /// Executes the operation that `of` returns for each member.
  void execute(const std::function<rma_collective_t(int)>& of, const char* what) {
    std::vector<Plan> plans;
    for (int member = 0; member < members; ++member) {
      plan_collective(plans.emplace_back(member, members), of(member));
    }
    EXPECT_TRUE(PlanNetwork(plans, of(0).reducer, random()).run()) << what << ", " << members << " members";
  }

  std::vector<std::byte> bytes(std::size_t size) {
    std::vector<std::byte> made(size);
    for (std::byte& one : made) one = static_cast<std::byte>(random());
    return made;
  }
  std::vector<std::vector<std::byte>> of_each(std::size_t size) {
    std::vector<std::vector<std::byte>> made;
    for (int member = 0; member < members; ++member) made.push_back(bytes(size));
    return made;
  }
  /// Returns a list of blocks of random sizes in `buffer`, with gaps.
  std::vector<rma_block_t> spread(std::vector<std::byte>& buffer,
                                  const std::function<std::size_t(int)>& size) {
    std::size_t total = 0;
    for (int member = 0; member < members; ++member) total += size(member) + 3;
    buffer = bytes(total);
    std::vector<rma_block_t> list;
    std::size_t at = 0;
    for (int member = 0; member < members; ++member) {
      list.push_back({.address = buffer.data() + at, .bytes = size(member)});
      at += size(member) + 3;
    }
    return list;
  }
};

std::vector<std::byte> contents(const rma_block_t& block) {
  const auto* const begin = static_cast<const std::byte*>(block.address);
  return {begin, begin + block.bytes};
}

rma_collective_t call_of(rma_collective_kind_t kind) {
  rma_collective_t made = {};
  made.kind = kind;
  return made;
}

TEST_P(Plans, NoMemberLeavesABarrierBeforeAllHaveCome) {
  // A member that has not come sends nothing: the plans of the others do not come to their ends.
  std::vector<Plan> plans;
  for (int member = 0; member < members; ++member) {
    Plan& plan = plans.emplace_back(member, members);
    if (member != members / 2) plan_collective(plan, call_of(RMA_COLLECTIVE_BARRIER));
  }
  EXPECT_EQ(PlanNetwork(plans, {}, random()).run(), members == 1);
  execute([](int) { return call_of(RMA_COLLECTIVE_BARRIER); }, "barrier");
}

TEST_P(Plans, Broadcast) {
  for (const std::size_t size : {0U, 1U, 1000U, 262144U, 300001U}) {
    const int root = static_cast<int>(random() % n());
    auto buffers = of_each(size);
    const std::vector<std::byte> expected = buffers[static_cast<std::size_t>(root)];
    execute(
        [&](int member) {
          rma_collective_t call = call_of(RMA_COLLECTIVE_BROADCAST);
          call.root = root;
          call.dst = buffers[static_cast<std::size_t>(member)].data();
          call.bytes = size;
          return call;
        },
        "broadcast");
    for (const auto& one : buffers) EXPECT_EQ(one, expected);
  }
}

TEST_P(Plans, GatherAndScatter) {
  for (const std::size_t size : {0U, 1U, 100U, 2048U, 5000U}) {
    for (const bool in_place : {false, true}) {
      const int root = static_cast<int>(random() % n());
      const auto at_root = static_cast<std::size_t>(root);
      auto parts = of_each(size);
      const auto expected = parts;
      std::vector<std::byte> whole = bytes(size * n());
      std::copy(parts[at_root].begin(), parts[at_root].end(),
                whole.begin() + static_cast<std::ptrdiff_t>(at_root * size));
      const auto part_of = [&](int member) {
        return in_place && member == root ? whole.data() + at_root * size
                                          : parts[static_cast<std::size_t>(member)].data();
      };
      execute(
          [&](int member) {
            rma_collective_t call = call_of(RMA_COLLECTIVE_GATHER);
            call.root = root;
            call.dst = member == root ? whole.data() : nullptr;
            call.src = part_of(member);
            call.bytes = size;
            return call;
          },
          "gather");
      for (std::size_t member = 0; member < n(); ++member) {
        EXPECT_TRUE(std::equal(expected[member].begin(), expected[member].end(),
                               whole.begin() + static_cast<std::ptrdiff_t>(member * size)));
      }
      for (auto& one : parts) std::fill(one.begin(), one.end(), std::byte{});
      execute(
          [&](int member) {
            rma_collective_t call = call_of(RMA_COLLECTIVE_SCATTER);
            call.root = root;
            call.src = member == root ? whole.data() : nullptr;
            call.dst = part_of(member);
            call.bytes = size;
            return call;
          },
          "scatter");
      for (int member = 0; member < members; ++member) {
        if (in_place && member == root) continue;
        EXPECT_EQ(parts[static_cast<std::size_t>(member)], expected[static_cast<std::size_t>(member)]);
      }
    }
  }
}

TEST_P(Plans, UnevenGatherAndScatter) {
  const int root = static_cast<int>(random() % n());
  const auto size = [](int member) { return static_cast<std::size_t>(member % 3) * 700; };
  std::vector<std::byte> buffer;
  const auto list = spread(buffer, size);
  std::vector<std::vector<std::byte>> parts;
  for (int member = 0; member < members; ++member) parts.push_back(bytes(size(member)));
  const auto of = [&](rma_collective_kind_t kind) {
    return [&, kind](int member) {
      const bool gather = kind == RMA_COLLECTIVE_GATHER;
      rma_collective_t call = call_of(kind);
      auto* const part = parts[static_cast<std::size_t>(member)].data();
      call.root = root;
      call.uneven = 1;
      call.bytes = size(member);
      call.src = gather ? part : nullptr;
      call.dst = gather ? nullptr : part;
      call.dst_blocks = gather && member == root ? list.data() : nullptr;
      call.src_blocks = !gather && member == root ? list.data() : nullptr;
      return call;
    };
  };
  execute(of(RMA_COLLECTIVE_GATHER), "gatherv");
  for (std::size_t member = 0; member < n(); ++member) EXPECT_EQ(contents(list[member]), parts[member]);
  const auto expected = parts;
  for (auto& one : parts) std::fill(one.begin(), one.end(), std::byte{});
  execute(of(RMA_COLLECTIVE_SCATTER), "scatterv");
  EXPECT_EQ(parts, expected);
}

TEST_P(Plans, Allgather) {
  for (const std::size_t size : {0U, 1U, 100U, 9000U, 70000U}) {
    for (const bool uneven : {false, true}) {
      const auto size_of = [&](int member) {
        return uneven ? size * static_cast<std::size_t>(member % 3) : size;
      };
      std::vector<std::vector<std::byte>> parts;
      std::vector<std::vector<std::byte>> buffers(n());
      std::vector<std::vector<rma_block_t>> lists;
      for (int member = 0; member < members; ++member) {
        parts.push_back(bytes(size_of(member)));
        std::vector<std::byte>& buffer = buffers[static_cast<std::size_t>(member)];
        if (!uneven) buffer = bytes(size * n());
        lists.push_back(uneven ? spread(buffer, size_of) : std::vector<rma_block_t>());
        for (std::size_t i = 0; i < n() && !uneven; ++i) {
          lists.back().push_back({.address = buffer.data() + i * size, .bytes = size});
        }
      }
      execute(
          [&](int member) {
            const auto index = static_cast<std::size_t>(member);
            rma_collective_t call = call_of(RMA_COLLECTIVE_ALLGATHER);
            call.src = parts[index].data();
            call.bytes = parts[index].size();
            call.dst = uneven ? nullptr : buffers[index].data();
            call.uneven = uneven ? 1 : 0;
            call.dst_blocks = uneven ? lists[index].data() : nullptr;
            return call;
          },
          "allgather");
      for (const auto& list : lists) {
        for (std::size_t member = 0; member < n(); ++member) EXPECT_EQ(contents(list[member]), parts[member]);
      }
    }
  }
}

TEST_P(Plans, AllToAll) {
  for (const std::size_t size : {0U, 1U, 256U, 257U, 4000U}) {
    for (const bool in_place : {false, true}) {
      auto out = of_each(size * n());
      const auto sent = out;
      auto in = of_each(size * n());
      execute(
          [&](int member) {
            const auto index = static_cast<std::size_t>(member);
            rma_collective_t call = call_of(RMA_COLLECTIVE_ALLTOALL);
            call.src = out[index].data();
            call.dst = in_place ? out[index].data() : in[index].data();
            call.bytes = size;
            return call;
          },
          "alltoall");
      for (std::size_t to = 0; to < n(); ++to) {
        const auto& got = in_place ? out[to] : in[to];
        for (std::size_t from = 0; from < n(); ++from) {
          EXPECT_TRUE(std::equal(got.begin() + static_cast<std::ptrdiff_t>(from * size),
                                 got.begin() + static_cast<std::ptrdiff_t>((from + 1) * size),
                                 sent[from].begin() + static_cast<std::ptrdiff_t>(to * size)));
        }
      }
    }
  }
}

TEST_P(Plans, UnevenAllToAll) {
  for (const bool in_place : {false, true}) {
    // Between two members as many bytes go one way as the other, as an operation in place needs.
    const auto size = [&](int one, int other) {
      return static_cast<std::size_t>((one + other) % 4) *
             (in_place ? 50 : 50 + static_cast<std::size_t>(one));
    };
    std::vector<std::vector<std::byte>> out_buffers(n());
    std::vector<std::vector<std::byte>> in_buffers(n());
    std::vector<std::vector<rma_block_t>> out;
    std::vector<std::vector<rma_block_t>> in;
    std::vector<std::vector<std::vector<std::byte>>> sent(n());
    for (int member = 0; member < members; ++member) {
      const auto index = static_cast<std::size_t>(member);
      out.push_back(spread(out_buffers[index], [&](int to) { return size(member, to); }));
      in.push_back(spread(in_buffers[index], [&](int from) { return size(from, member); }));
      for (const rma_block_t& block : out.back()) sent[index].push_back(contents(block));
    }
    execute(
        [&](int member) {
          const auto index = static_cast<std::size_t>(member);
          rma_collective_t call = call_of(RMA_COLLECTIVE_ALLTOALL);
          call.uneven = 1;
          call.src_blocks = out[index].data();
          call.dst_blocks = in_place ? out[index].data() : in[index].data();
          return call;
        },
        "alltoallv");
    for (std::size_t to = 0; to < n(); ++to) {
      for (std::size_t from = 0; from < n(); ++from) {
        EXPECT_EQ(contents(in_place ? out[to][from] : in[to][from]), sent[from][to]);
      }
    }
  }
}

TEST_P(Plans, NeighborsInTheOrderOfTheLists) {
  // Random edges, some of them parallel and some from a member to itself. Both ends list parallel edges in one order.
  struct Edges {
    std::vector<int> members;
    std::vector<std::vector<std::byte>> data;
    std::vector<rma_block_t> blocks;
  };
  std::vector<Edges> out(n());
  std::vector<Edges> in(n());
  std::vector<std::vector<std::vector<std::byte>>> expected(n());
  for (int edge = 0; edge < 4 * members; ++edge) {
    const auto from = random() % n();
    const auto to = random() % n();
    const std::size_t size = random() % 4 * 500;
    out[from].members.push_back(static_cast<int>(to));
    out[from].data.push_back(bytes(size));
    in[to].members.push_back(static_cast<int>(from));
    in[to].data.push_back(bytes(size));
    expected[to].push_back(out[from].data.back());
  }
  for (std::vector<Edges>* const side : {&out, &in}) {
    for (Edges& edges : *side) {
      for (auto& one : edges.data) edges.blocks.push_back({.address = one.data(), .bytes = one.size()});
    }
  }
  execute(
      [&](int member) {
        const auto index = static_cast<std::size_t>(member);
        rma_collective_t call = call_of(RMA_COLLECTIVE_NEIGHBORS);
        call.sources = in[index].members.data();
        call.source_count = static_cast<int>(in[index].members.size());
        call.destinations = out[index].members.data();
        call.destination_count = static_cast<int>(out[index].members.size());
        call.dst_blocks = in[index].blocks.data();
        call.src_blocks = out[index].blocks.data();
        return call;
      },
      "neighbors");
  for (std::size_t member = 0; member < n(); ++member) EXPECT_EQ(in[member].data, expected[member]);
}

/// The reductions, by both operations and in place or not.
class Reductions : public Plans {
 protected:
  static constexpr std::array<std::size_t, 7> kCounts = {0, 1, 3, 17, 100, 2047, 2500};

  /// Calls `check` for each count, operation and way. `commutes` and `in_place` are members then.
  void each(const std::function<void(std::size_t)>& check) {
    for (const std::size_t count : kCounts) {
      for (const bool commuting : {false, true}) {
        for (const bool same_buffer : {false, true}) {
          SCOPED_TRACE(testing::Message()
                       << count << " elements, commutes " << commuting << ", in place " << same_buffer);
          commutes = commuting;
          in_place = same_buffer;
          check(count);
        }
      }
    }
  }
  std::vector<std::vector<Map>> draw(std::size_t count) {
    std::vector<std::vector<Map>> made(n());
    for (auto& one : made) {
      one.resize(count);
      for (Map& map : one) map = {.a = random(), .b = random()};
    }
    return made;
  }
  [[nodiscard]] Map combined(const std::vector<std::vector<Map>>& of, std::size_t i, std::size_t end) const {
    Map sum = of[0][i];
    for (std::size_t member = 1; member < end; ++member) {
      sum = commutes ? both(sum, of[member][i]) : after(sum, of[member][i]);
    }
    return sum;
  }
  [[nodiscard]] rma_collective_t reduction(rma_collective_kind_t kind, Map* dst, const Map* src,
                                           std::size_t count) const {
    rma_collective_t call = call_of(kind);
    call.dst = dst;
    call.src = in_place ? dst : src;
    call.count = count;
    call.reducer = {.combine = commutes ? combine<both> : combine<after>,
                    .context = nullptr,
                    .element_bytes = sizeof(Map),
                    .commutes = commutes ? 1 : 0};
    return call;
  }

  bool commutes = false;
  bool in_place = false;
};

TEST_P(Reductions, Reduce) {
  each([&](std::size_t count) {
    const auto root = random() % n();
    const auto src = draw(count);
    std::vector<Map> result = src[root];
    execute(
        [&](int member) {
          const auto index = static_cast<std::size_t>(member);
          const bool at_root = index == root;
          rma_collective_t call =
              reduction(RMA_COLLECTIVE_REDUCE, at_root ? result.data() : nullptr, src[index].data(), count);
          if (!at_root) call.src = src[index].data();
          call.root = static_cast<int>(root);
          return call;
        },
        "reduce");
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(result[i], combined(src, i, n()));
  });
}

TEST_P(Reductions, Allreduce) {
  each([&](std::size_t count) {
    const auto src = draw(count);
    auto results = src;
    execute(
        [&](int member) {
          const auto index = static_cast<std::size_t>(member);
          return reduction(RMA_COLLECTIVE_ALLREDUCE, results[index].data(), src[index].data(), count);
        },
        "allreduce");
    std::vector<Map> expected(count);
    for (std::size_t i = 0; i < count; ++i) expected[i] = combined(src, i, n());
    for (const auto& result : results) EXPECT_TRUE(result == expected);
  });
}

TEST_P(Reductions, ReduceScatter) {
  each([&](std::size_t count) {
    for (const bool uneven : {false, true}) {
      std::vector<std::size_t> counts;
      std::vector<std::size_t> begins = {0};
      for (std::size_t member = 0; member < n(); ++member) {
        counts.push_back(uneven ? count * (member % 3) : count);
        begins.push_back(begins.back() + counts.back());
      }
      const auto src = draw(begins.back());
      auto results = src;
      execute(
          [&](int member) {
            const auto index = static_cast<std::size_t>(member);
            rma_collective_t call =
                reduction(RMA_COLLECTIVE_REDUCE_SCATTER, results[index].data(), src[index].data(), count);
            if (uneven) call.counts = counts.data();
            return call;
          },
          "reduce_scatter");
      for (std::size_t member = 0; member < n(); ++member) {
        for (std::size_t i = 0; i < counts[member]; ++i) {
          EXPECT_EQ(results[member][i], combined(src, begins[member] + i, n()));
        }
      }
    }
  });
}

TEST_P(Reductions, Scans) {
  each([&](std::size_t count) {
    for (const bool exclusive : {false, true}) {
      const auto src = draw(count);
      auto results = src;
      execute(
          [&](int member) {
            const auto index = static_cast<std::size_t>(member);
            return reduction(exclusive ? RMA_COLLECTIVE_EXSCAN : RMA_COLLECTIVE_SCAN, results[index].data(),
                             src[index].data(), count);
          },
          "scan");
      for (std::size_t member = 0; member < n(); ++member) {
        for (std::size_t i = 0; i < count; ++i) {
          const bool unchanged = exclusive && member == 0;
          const Map expected = unchanged ? src[0][i] : combined(src, i, exclusive ? member : member + 1);
          EXPECT_EQ(results[member][i], expected);
        }
      }
    }
  });
}

TEST_P(Reductions, AllMembersGetTheSameBitsOfAFloatingPointSum) {
  for (const std::size_t count : {1U, 100U, 6000U}) {
    std::vector<std::vector<double>> src(n());
    for (auto& one : src) {
      one.resize(count);
      for (double& number : one) number = std::uniform_real_distribution<double>(-1e3, 1e3)(random) / 3;
    }
    execute(
        [&](int member) {
          rma_collective_t call = call_of(RMA_COLLECTIVE_ALLREDUCE);
          auto& mine = src[static_cast<std::size_t>(member)];
          call.dst = mine.data();
          call.src = mine.data();
          call.count = count;
          call.reducer = reducer_of(RMA_DOUBLE, RMA_SUM);
          return call;
        },
        "allreduce");
    for (const auto& one : src) EXPECT_EQ(std::memcmp(one.data(), src[0].data(), count * sizeof(double)), 0);
  }
}

/// Operations between two groups. The members from `first` on are the second one.
class TwoGroups : public Reductions {
 protected:
  /// Calls `check` with groups of drawn sizes; `first` is the size of the first one then.
  void each_division(const std::function<void()>& check) {
    if (members == 1) return;
    for (int turn = 0; turn < 3; ++turn) {
      first = 1 + static_cast<int>(random() % (n() - 1));
      SCOPED_TRACE(testing::Message() << "the first group has " << first);
      check();
    }
  }
  [[nodiscard]] bool in_first(int member) const { return member < first; }
  /// Returns the members of the group in which a member is not, or is.
  [[nodiscard]] std::vector<int> others(int member) const { return group(!in_first(member)); }
  [[nodiscard]] std::vector<int> own(int member) const { return group(in_first(member)); }
  [[nodiscard]] std::vector<int> group(bool the_first) const {
    std::vector<int> made;
    for (int member = 0; member < members; ++member) {
      if (in_first(member) == the_first) made.push_back(member);
    }
    return made;
  }
  /// Returns the root that a member passes.
  [[nodiscard]] int passed(int member, int root) const {
    return member != root && in_first(member) == in_first(root) ? -1 : root;
  }
  [[nodiscard]] rma_collective_t between(rma_collective_kind_t kind) const {
    rma_collective_t call = call_of(kind);
    call.first_group = first;
    call.uneven = 1;
    return call;
  }
  /// Returns what the members of a group have combined.
  [[nodiscard]] std::vector<Map> combined_of(const std::vector<std::vector<Map>>& src,
                                             const std::vector<int>& of) const {
    std::vector<Map> sum = src[static_cast<std::size_t>(of.front())];
    for (std::size_t i = 1; i < of.size(); ++i) {
      const auto& next = src[static_cast<std::size_t>(of[i])];
      for (std::size_t j = 0; j < sum.size(); ++j)
        sum[j] = commutes ? both(sum[j], next[j]) : after(sum[j], next[j]);
    }
    return sum;
  }

  int first = 0;
};

TEST_P(TwoGroups, Broadcast) {
  each_division([&] {
    const int root = static_cast<int>(random() % n());
    auto buffers = of_each(1000);
    auto expected = buffers;
    for (const int member : others(root))
      expected[static_cast<std::size_t>(member)] = buffers[static_cast<std::size_t>(root)];
    execute(
        [&](int member) {
          rma_collective_t call = between(RMA_COLLECTIVE_BROADCAST);
          call.root = passed(member, root);
          call.dst = buffers[static_cast<std::size_t>(member)].data();
          call.bytes = 1000;
          return call;
        },
        "broadcast");
    EXPECT_EQ(buffers, expected);
  });
}

TEST_P(TwoGroups, GatherAndScatter) {
  each_division([&] {
    const int root = static_cast<int>(random() % n());
    const auto size = [](int member) { return static_cast<std::size_t>(member % 3) * 700; };
    std::vector<std::byte> buffer;
    const auto list = spread(buffer, size);
    std::vector<rma_block_t> blocks;
    for (const int member : others(root)) blocks.push_back(list[static_cast<std::size_t>(member)]);
    std::vector<std::vector<std::byte>> parts;
    for (int member = 0; member < members; ++member) parts.push_back(bytes(size(member)));
    const auto of = [&](rma_collective_kind_t kind) {
      return [&, kind](int member) {
        const bool gather = kind == RMA_COLLECTIVE_GATHER;
        rma_collective_t call = between(kind);
        auto& part = parts[static_cast<std::size_t>(member)];
        call.root = passed(member, root);
        call.bytes = part.size();
        call.src = gather ? part.data() : nullptr;
        call.dst = gather ? nullptr : part.data();
        call.dst_blocks = gather && member == root ? blocks.data() : nullptr;
        call.src_blocks = !gather && member == root ? blocks.data() : nullptr;
        return call;
      };
    };
    execute(of(RMA_COLLECTIVE_GATHER), "gather");
    const std::vector<int> givers = others(root);
    for (std::size_t i = 0; i < givers.size(); ++i)
      EXPECT_EQ(contents(blocks[i]), parts[static_cast<std::size_t>(givers[i])]);
    const auto expected = parts;
    for (const int member : givers) {
      auto& part = parts[static_cast<std::size_t>(member)];
      std::fill(part.begin(), part.end(), std::byte{});
    }
    execute(of(RMA_COLLECTIVE_SCATTER), "scatter");
    EXPECT_EQ(parts, expected);
  });
}

TEST_P(TwoGroups, AllgatherAndAllToAll) {
  each_division([&] {
    // A block from one member to another has a size that both know, and differs between the groups.
    const auto size = [&](int from, int to) {
      return static_cast<std::size_t>((from + 2 * to) % 4) * (in_first(from) ? 100 : 70);
    };
    for (const bool same : {false, true}) {
      const auto size_of = [&](int from, int to) { return same ? size(from, 0) : size(from, to); };
      std::vector<std::vector<std::byte>> out_buffers(n());
      std::vector<std::vector<std::byte>> in_buffers(n());
      std::vector<std::vector<rma_block_t>> out;
      std::vector<std::vector<rma_block_t>> in;
      for (int member = 0; member < members; ++member) {
        const auto index = static_cast<std::size_t>(member);
        const auto outward = spread(out_buffers[index], [&](int to) { return size_of(member, to); });
        const auto inward = spread(in_buffers[index], [&](int from) { return size_of(from, member); });
        out.emplace_back();
        in.emplace_back();
        for (const int other : others(member)) {
          out.back().push_back(outward[same ? 0 : static_cast<std::size_t>(other)]);
          in.back().push_back(inward[static_cast<std::size_t>(other)]);
        }
      }
      execute(
          [&](int member) {
            const auto index = static_cast<std::size_t>(member);
            rma_collective_t call = between(same ? RMA_COLLECTIVE_ALLGATHER : RMA_COLLECTIVE_ALLTOALL);
            call.src = out[index][0].address;
            call.bytes = out[index][0].bytes;
            call.src_blocks = out[index].data();
            call.dst_blocks = in[index].data();
            return call;
          },
          same ? "allgather" : "alltoall");
      for (int member = 0; member < members; ++member) {
        const std::vector<int> from = others(member);
        const int place = in_first(member) ? member : member - first;
        for (std::size_t i = 0; i < from.size(); ++i) {
          const auto sender = static_cast<std::size_t>(from[i]);
          EXPECT_EQ(contents(in[static_cast<std::size_t>(member)][i]),
                    contents(out[sender][static_cast<std::size_t>(place)]));
        }
      }
    }
  });
}

TEST_P(TwoGroups, Reductions) {
  each_division([&] {
    for (const bool commuting : {false, true}) {
      commutes = commuting;
      for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{17}, std::size_t{2500}}) {
        const auto src = draw(count);
        const auto root = static_cast<int>(random() % n());
        auto results = draw(count);
        auto expected = results;
        expected[static_cast<std::size_t>(root)] = combined_of(src, others(root));
        const auto of = [&](rma_collective_kind_t kind, int member) {
          const auto index = static_cast<std::size_t>(member);
          rma_collective_t call = reduction(kind, results[index].data(), src[index].data(), count);
          call.first_group = first;
          return call;
        };
        execute(
            [&](int member) {
              rma_collective_t call = of(RMA_COLLECTIVE_REDUCE, member);
              call.root = passed(member, root);
              return call;
            },
            "reduce");
        EXPECT_TRUE(results == expected);
        for (int member = 0; member < members; ++member)
          expected[static_cast<std::size_t>(member)] = combined_of(src, others(member));
        execute([&](int member) { return of(RMA_COLLECTIVE_ALLREDUCE, member); }, "allreduce");
        EXPECT_TRUE(results == expected);
      }
    }
  });
}

TEST_P(TwoGroups, ReduceScatter) {
  each_division([&] {
    // Both groups divide vectors of one length, each among its own members.
    const std::size_t length = 12 * n();
    const auto src = draw(length);
    const auto counts_of = [&](const std::vector<int>& group) {
      std::vector<std::size_t> counts(group.size(), length / group.size());
      counts.back() += length % group.size();
      return counts;
    };
    const std::vector<std::size_t> first_counts = counts_of(group(true));
    const std::vector<std::size_t> second_counts = counts_of(group(false));
    std::vector<std::vector<Map>> results(n());
    for (auto& one : results) one.resize(length);
    execute(
        [&](int member) {
          const auto index = static_cast<std::size_t>(member);
          rma_collective_t call =
              reduction(RMA_COLLECTIVE_REDUCE_SCATTER, results[index].data(), src[index].data(), 0);
          call.first_group = first;
          call.counts = in_first(member) ? first_counts.data() : second_counts.data();
          return call;
        },
        "reduce_scatter");
    for (int member = 0; member < members; ++member) {
      const std::vector<Map> sum = combined_of(src, others(member));
      const auto& counts = in_first(member) ? first_counts : second_counts;
      const auto place = static_cast<std::size_t>(in_first(member) ? member : member - first);
      std::size_t begin = 0;
      for (std::size_t i = 0; i < place; ++i) begin += counts[i];
      for (std::size_t i = 0; i < counts[place]; ++i)
        EXPECT_EQ(results[static_cast<std::size_t>(member)][i], sum[begin + i]);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Sizes, Plans, testing::ValuesIn(kMembers));
INSTANTIATE_TEST_SUITE_P(Sizes, Reductions, testing::ValuesIn(kMembers));
INSTANTIATE_TEST_SUITE_P(Sizes, TwoGroups, testing::ValuesIn(kMembers));

}  // namespace
}  // namespace rma
