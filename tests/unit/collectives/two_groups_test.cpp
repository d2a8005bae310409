// The plans of operations between two groups, against the operations' definitions.

#include "plans_fixture.hpp"

namespace librma {
namespace {

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

INSTANTIATE_TEST_SUITE_P(Sizes, TwoGroups, testing::ValuesIn(team_sizes()));

}  // namespace
}  // namespace librma
