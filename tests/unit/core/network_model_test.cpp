// Random operations against a model: an array of bytes.

#include <cstring>

#include "network_world.hpp"

namespace librma {
namespace {

struct Setup {
  LocalBufferSetting strategy;
  std::size_t rails;
};

class NetworkModel : public NetworkWorld, public testing::WithParamInterface<Setup> {
 protected:
  struct Range {
    std::size_t begin;
    std::size_t end;
  };

  [[nodiscard]] std::size_t below(std::size_t end) { return random() % end; }
  [[nodiscard]] std::size_t some_bytes(std::size_t most) {
    static constexpr std::array<std::size_t, 5> kMost = {8, 40, 600, 20'000, 100'000};
    return std::min(most, below(kMost[below(kMost.size())] + 1));
  }
  /// Returns a random part of this process's memory, inside or outside its heap.
  [[nodiscard]] std::byte* local(std::size_t bytes) {
    const Pages& memory = below(2) == 0 ? own : outside;
    return memory.data() + below(memory.size() - bytes + 1);
  }
  void fence() {
    ASSERT_TRUE(pending.fence(1).ok());
    unfenced.clear();
    kept.clear();
  }
  /// Fences if an operation that waits for a fence overlaps `range`, because it has no order with later ones.
  void settle(const Range& range) {
    for (const Range& one : unfenced) {
      if (one.begin < range.end && range.begin < one.end) return fence();
    }
  }

  void blocking_put() {
    const std::size_t bytes = some_bytes(kTheirs);
    const std::size_t to = below(kTheirs - bytes + 1);
    settle({to, to + bytes});
    std::byte* const from = local(bytes);
    fill(from, bytes, static_cast<unsigned>(below(10'000)));
    std::copy_n(from, bytes, model.data() + to);
    ASSERT_TRUE(put(to, from, bytes).ok());
    fill(from, bytes, 1);
  }
  void nonblocking_put() {
    const std::size_t bytes = some_bytes(kTheirs);
    const std::size_t to = below(kTheirs - bytes + 1);
    settle({to, to + bytes});
    kept.push_back(std::make_unique<std::vector<std::byte>>(bytes));
    fill(kept.back()->data(), bytes, static_cast<unsigned>(below(10'000)));
    std::copy_n(kept.back()->data(), bytes, model.data() + to);
    ASSERT_TRUE(leave_put(to, kept.back()->data(), bytes).ok());
    unfenced.push_back({to, to + bytes});
  }
  void blocking_get() {
    const std::size_t bytes = some_bytes(kTheirs);
    const std::size_t from = below(kTheirs - bytes + 1);
    settle({from, from + bytes});
    std::byte* const to = local(bytes);
    std::fill_n(to, bytes, std::byte{0});
    ASSERT_TRUE(get(to, from, bytes).ok());
    ASSERT_TRUE(same(to, model.data() + from, bytes)) << bytes << " bytes at " << from;
  }
  void atomic() {
    const std::size_t at = below(kTheirs / 8) * 8;
    settle({at, at + 8});
    std::uint64_t before = 0;
    std::memcpy(&before, model.data() + at, 8);
    const std::uint64_t operand = random();
    const bool add = below(2) == 0;
    const std::uint64_t compare = below(2) == 0 ? before : operand;
    const auto old =
        network->words().atomic(add ? RMA_FETCH_ADD : RMA_COMPARE_SWAP,
                                reinterpret_cast<std::uint64_t*>(theirs.data() + at), operand, compare, 1);
    ASSERT_TRUE(old.ok());
    ASSERT_EQ(old.value(), before);
    const std::uint64_t after = add ? before + operand : before == compare ? operand : before;
    std::memcpy(model.data() + at, &after, 8);
  }
  void register_again() {
    fence();
    unlist_user();
    user = list(kUser, kExtent, kRegionForeign);
  }

  std::mt19937_64 random{seed};
  std::vector<std::byte> model = std::vector<std::byte>(kTheirs);
  std::vector<Range> unfenced;  ///< puts that wait for a fence
  std::vector<std::unique_ptr<std::vector<std::byte>>> kept;
};

TEST_P(NetworkModel, RandomOperationsDoWhatTheModelSays) {
  settings.local_buffers = GetParam().strategy;
  open(GetParam().rails);
  for (std::size_t step = 0; step < 1500; ++step) {
    SCOPED_TRACE(testing::Message() << "step " << step);
    if (step % 100 == 0) {
      for (SlowRail* const rail : rails) rail->do_at_most(1 + below(6));
    }
    // At half-time the last of three rails breaks: it carries only parts that another can take over.
    if (step == 750 && GetParam().rails == 3) {
      fence();
      rails[2]->break_after(1 + below(5));
    }
    const std::size_t kind = below(100);
    if (kind < 35) {
      blocking_put();
    } else if (kind < 60) {
      nonblocking_put();
    } else if (kind < 85) {
      blocking_get();
    } else if (kind < 95) {
      atomic();
    } else if (kind < 98) {
      fence();
    } else {
      register_again();
    }
    if (HasFatalFailure()) return;
  }
  fence();
  EXPECT_TRUE(same(theirs.data(), model.data(), kTheirs));
}

INSTANTIATE_TEST_SUITE_P(Setups, NetworkModel,
                         testing::Values(Setup{LocalBufferSetting::cache, 1},
                                         Setup{LocalBufferSetting::cache, 2},
                                         Setup{LocalBufferSetting::register_each, 3},
                                         Setup{LocalBufferSetting::pipeline, 3},
                                         Setup{LocalBufferSetting::bounce, 2}));

}  // namespace
}  // namespace librma
