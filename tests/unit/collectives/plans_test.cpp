// Every plan against the operation's definition, at many numbers of members and sizes around those at which
// the algorithms change.

#include "plans_fixture.hpp"

#include "collectives/members/reduce.hpp"

namespace librma {
namespace {

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
  for (const std::size_t size : {0U, 1U, 1000U, 262144U, 300001U, 1'600'000U}) {
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
  // Random edges, some of them parallel and some from a member to itself. Both ends list parallel edges in
  // one order.
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

TEST_P(Reductions, AReduceToAnyRootGivesTheBitsOfAnAllreduce) {
  for (const std::size_t count : {1U, 100U, 6000U, 20'000U}) {
    std::vector<std::vector<double>> src(n());
    for (auto& one : src) {
      one.resize(count);
      for (double& number : one) number = std::uniform_real_distribution<double>(-1e3, 1e3)(random) / 3;
    }
    std::vector<std::vector<double>> sums(n(), std::vector<double>(count));
    std::vector<double> result(count);
    const auto sum = [&](rma_collective_kind_t kind, int member, double* dst) {
      rma_collective_t call = call_of(kind);
      call.dst = dst;
      call.src = src[static_cast<std::size_t>(member)].data();
      call.count = count;
      call.reducer = reducer_of(RMA_DOUBLE, RMA_SUM);
      return call;
    };
    execute(
        [&](int member) {
          return sum(RMA_COLLECTIVE_ALLREDUCE, member, sums[static_cast<std::size_t>(member)].data());
        },
        "allreduce");
    for (int root = 0; root < members; ++root) {
      execute(
          [&](int member) {
            rma_collective_t call =
                sum(RMA_COLLECTIVE_REDUCE, member, member == root ? result.data() : nullptr);
            call.root = root;
            return call;
          },
          "reduce");
      EXPECT_EQ(result, sums[0]) << "root " << root;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Plans, testing::ValuesIn(team_sizes()));
INSTANTIATE_TEST_SUITE_P(Sizes, Reductions, testing::ValuesIn(team_sizes()));

}  // namespace
}  // namespace librma
