// Contiguous put, get and accumulate: every size and completion between every two kinds of memory.

#include <algorithm>

#include "harness.hpp"
#include "numbers.hpp"

namespace multi {
namespace {

constexpr std::array<std::size_t, 16> kSizes = {0,   1,   3,    8,    15,    16,    64,      100,
                                                255, 256, 1000, 4096, 32768, 65537, 262'143, (1U << 20) + 1};

/// The largest transfer: many ranks on a small machine move less.
std::size_t most_bytes() { return ranks() <= 4 ? kSizes.back() : 4096; }

void put(Mode mode, void* dst, const void* src, std::size_t bytes, int rank) {
  run(mode, rank, rma_put, rma_put_nb, rma_put_nbi, dst, src, bytes);
}

void get(Mode mode, void* dst, const void* src, std::size_t bytes, int rank) {
  run(mode, rank, rma_get, rma_get_nb, rma_get_nbi, dst, src, bytes);
}

void acc(Mode mode, void* dst, const void* src, std::size_t count, rma_type_t type, const void* scale,
         int rank) {
  run(mode, rank, rma_acc, rma_acc_nb, rma_acc_nbi, dst, src, count, type, scale);
}

/// Returns targets: this rank, the next, and any.
std::array<int, 3> targets(Random& random) {
  return {me(), neighbour(1), static_cast<int>(random.below(static_cast<std::size_t>(ranks())))};
}

/// The largest size that every kind of memory and completion has. A third of them, drawn at random, have the
/// larger ones too, which take most of the time between emulated hosts.
constexpr std::size_t kMostOfEach = 65'537;

/// Calls work(target, size) for all sizes, each time another of the targets.
template <typename Work>
void each_size(Random& random, std::size_t unit, const Work& work) {
  std::size_t turn = random.below(3);  // otherwise a size would always have the same target
  const std::size_t most = random.below(3) == 0 ? most_bytes() : std::min(most_bytes(), kMostOfEach);
  for (const std::size_t size : kSizes) {
    if (size > most) continue;
    SCOPED_TRACE(testing::Message() << size << " bytes");
    work(targets(random)[turn++ % 3], size / unit * unit);
  }
}

/// Calls work for all kinds of memory and completion.
template <typename Work>
void each_kind(Remote remote, const Work& work) {
  for (const Local local : kLocals) {
    for (const Mode mode : kModes) {
      SCOPED_TRACE(testing::Message() << name(remote) << ", " << name(local) << ", " << name(mode));
      work(local, mode);
    }
  }
}

TEST(Contiguous, Put) {
  for (const Remote remote : kRemotes) {
    Slices slices(remote, most_bytes() + 500);
    Random random({1, static_cast<std::uint64_t>(me())});
    each_kind(remote, [&](Local local, Mode mode) {
      const Buffer source(local, slices.bytes());
      random.fill(source.bytes());
      each_size(random, 1, [&](int target, std::size_t size) {
        const std::size_t to = random.below(slices.bytes() - size + 1);
        const std::size_t from = random.below(slices.bytes() - size + 1);
        put(mode, slices.at(target) + to, source.data() + from, size, target);
        std::copy_n(source.data() + from, size, slices.model(target).data() + to);
      });
    });
    slices.check();
  }
}

TEST(Contiguous, Get) {
  for (const Remote remote : kRemotes) {
    Slices slices(remote, most_bytes() + 500);
    Random random({2, static_cast<std::uint64_t>(me())});
    each_kind(remote, [&](Local local, Mode mode) {
      const Buffer sink(local, slices.bytes());
      random.fill(sink.bytes());
      std::vector<std::byte> expected(sink.bytes().begin(), sink.bytes().end());
      each_size(random, 1, [&](int target, std::size_t size) {
        const std::size_t to = random.below(slices.bytes() - size + 1);
        const std::size_t from = random.below(slices.bytes() - size + 1);
        get(mode, sink.data() + to, slices.at(target) + from, size, target);
        std::copy_n(slices.model(target).data() + from, size, expected.data() + to);
      });
      EXPECT_EQ(first_difference(sink.bytes(), expected), expected.size());
    });
    slices.check();
  }
}

TEST(Contiguous, Accumulate) {
  for (const rma_type_t type : kTypes) {
    SCOPED_TRACE(testing::Message() << "type " << type);
    const std::size_t room = std::min<std::size_t>(most_bytes(), 65'537) / 16 * 16 + 512;
    for (const Remote remote : kRemotes) {
      Slices slices(remote, room,
                    [&](Random& draws, std::span<std::byte> bytes) { fill_numbers(draws, type, bytes); });
      Random random({3, static_cast<std::uint64_t>(me()), static_cast<std::uint64_t>(type)});
      each_kind(remote, [&](Local local, Mode mode) {
        const Buffer source(local, room + 1);
        // Only the destination must be aligned.
        std::byte* const first = source.data() + random.below(2);
        fill_numbers(random, type, {first, room});
        each_size(random, type_bytes(type), [&](int target, std::size_t size) {
          if (size > room) return;
          const std::size_t to = random.below((room - size) / part_bytes(type) + 1) * part_bytes(type);
          // A complex number may begin where an earlier one has its second part.
          const Scale scale(random, type);
          acc(mode, slices.at(target) + to, first, size / type_bytes(type), type, scale.get(), target);
          model_acc(type, slices.model(target).data() + to, first, size, scale.get());
        });
      });
      slices.check();
    }
  }
}

TEST(Contiguous, ManyImplicitToManyTargetsThenOneFence) {
  Slices slices(Remote::registered, 4096);
  Random random({4, static_cast<std::uint64_t>(me())});
  std::vector<std::byte> source(4096);
  random.fill(source);
  for (int target = 0; target < ranks(); ++target) {
    for (std::size_t at = 0; at < 4096; at += 64) {
      EXPECT_TRUE(ok(rma_put_nbi(slices.at(target) + at, source.data() + at, 64, target)));
    }
    std::copy(source.begin(), source.end(), slices.model(target).begin());
  }
  EXPECT_TRUE(ok(rma_fence_all()));
  slices.check();
}

}  // namespace
}  // namespace multi
