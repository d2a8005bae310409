// Strided put, get and accumulate: random shapes from a seed, between every two kinds of memory. The
// definition, segment by segment, is the model. The bytes between the segments must not change.

#include <algorithm>

#include "harness.hpp"
#include "numbers.hpp"
#include "shapes.hpp"

namespace multi {
namespace {

constexpr std::size_t kRoom = 16384;

int many() { return rounds(ranks() <= 4 ? 40 : 8); }

std::string text(const Strided& shape) {
  std::string result = "counts";
  for (std::size_t i = 0; i <= static_cast<std::size_t>(shape.levels); ++i) {
    result += " " + std::to_string(shape.counts[i]);
  }
  for (const Side* side : {&shape.dst, &shape.src}) {
    result += side == &shape.dst ? "; dst" : "; src";
    for (std::size_t i = 0; i < static_cast<std::size_t>(shape.levels); ++i) {
      result += " " + std::to_string(side->strides[i]);
    }
  }
  return result;
}

/// `dst` and `src` are the starts of the buffers.
void put(Mode mode, const Strided& s, std::byte* dst, const std::byte* src, int rank) {
  run(mode, rank, rma_put_strided, rma_put_strided_nb, rma_put_strided_nbi, dst + s.dst.base,
      s.dst.strides.data(), src + s.src.base, s.src.strides.data(), s.counts.data(), s.levels);
}

void get(Mode mode, const Strided& s, std::byte* dst, const std::byte* src, int rank) {
  run(mode, rank, rma_get_strided, rma_get_strided_nb, rma_get_strided_nbi, dst + s.dst.base,
      s.dst.strides.data(), src + s.src.base, s.src.strides.data(), s.counts.data(), s.levels);
}

void acc(Mode mode, const Strided& s, std::byte* dst, const std::byte* src, rma_type_t type,
         const void* scale, int rank) {
  run(mode, rank, rma_acc_strided, rma_acc_strided_nb, rma_acc_strided_nbi, dst + s.dst.base,
      s.dst.strides.data(), src + s.src.base, s.src.strides.data(), s.counts.data(), s.levels, type, scale);
}

TEST(Strided, Put) {
  for (const Remote remote : kRemotes) {
    Slices slices(remote, kRoom);
    Random random({11, static_cast<std::uint64_t>(me())});
    each_round(many(), remote, random, [&](Local local, Mode mode, int target) {
      const Strided shape = draw_strided(random, {.room = kRoom});
      SCOPED_TRACE(text(shape));
      const Buffer source(local, kRoom);
      random.fill(source.bytes());
      put(mode, shape, slices.at(target), source.data(), target);
      shape.each([&](std::size_t to, std::size_t from) {
        std::copy_n(source.data() + from, shape.counts[0], slices.model(target).data() + to);
      });
    });
    slices.check();
  }
}

TEST(Strided, Get) {
  for (const Remote remote : kRemotes) {
    Slices slices(remote, kRoom);
    Random random({12, static_cast<std::uint64_t>(me())});
    each_round(many(), remote, random, [&](Local local, Mode mode, int target) {
      const Strided shape = draw_strided(random, {.room = kRoom});
      SCOPED_TRACE(text(shape));
      const Buffer sink(local, kRoom);
      random.fill(sink.bytes());
      std::vector<std::byte> expected(sink.bytes().begin(), sink.bytes().end());
      get(mode, shape, sink.data(), slices.at(target), target);
      shape.each([&](std::size_t to, std::size_t from) {
        std::copy_n(slices.model(target).data() + from, shape.counts[0], expected.data() + to);
      });
      EXPECT_EQ(first_difference(sink.bytes(), expected), kRoom);
    });
    slices.check();
  }
}

TEST(Strided, Accumulate) {
  for (const rma_type_t type : kTypes) {
    for (const Remote remote : kRemotes) {
      SCOPED_TRACE(testing::Message() << "type " << type);
      Slices slices(remote, kRoom,
                    [&](Random& draws, std::span<std::byte> bytes) { fill_numbers(draws, type, bytes); });
      Random random({13, static_cast<std::uint64_t>(me()), static_cast<std::uint64_t>(type)});
      int turn = 0;
      each_round(many(), remote, random, [&](Local local, Mode mode, int target) {
        if (turn++ % 4 != 0) return;  // seven types take long
        const Strided shape = draw_strided(random, {.room = kRoom, .unit = type_bytes(type)});
        SCOPED_TRACE(text(shape));
        const Buffer source(local, kRoom);
        fill_numbers(random, type, source.bytes());
        const Scale scale(random, type);
        acc(mode, shape, slices.at(target), source.data(), type, scale.get(), target);
        shape.each([&](std::size_t to, std::size_t from) {
          model_acc(type, slices.model(target).data() + to, source.data() + from, shape.counts[0],
                    scale.get());
        });
      });
      slices.check();
    }
  }
}

TEST(Strided, TransposesAnArray) {
  // Rows of the source become columns of the destination: strides in opposite order on the two sides.
  constexpr std::size_t kRows = 24;
  constexpr std::size_t kColumns = 40;
  Slices slices(Remote::window, kRows * kColumns * sizeof(double));
  const int target = neighbour(1);
  std::vector<double> matrix(kRows * kColumns);
  for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = static_cast<double>(i) + me();
  const std::array<std::size_t, 3> counts = {sizeof(double), kColumns, kRows};
  const std::array<std::ptrdiff_t, 2> to = {kRows * sizeof(double), sizeof(double)};
  const std::array<std::ptrdiff_t, 2> from = {sizeof(double), kColumns * sizeof(double)};
  EXPECT_TRUE(ok(
      rma_put_strided(slices.at(target), to.data(), matrix.data(), from.data(), counts.data(), 2, target)));
  auto* const model = reinterpret_cast<double*>(slices.model(target).data());
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t column = 0; column < kColumns; ++column) {
      model[column * kRows + row] = matrix[row * kColumns + column];
    }
  }
  slices.check();
}

TEST(Strided, EmptyShapesTouchNothing) {
  Slices slices(Remote::window, 256);
  const int target = neighbour(1);
  const std::array<std::size_t, 3> none_inside = {0, 4, 4};
  const std::array<std::size_t, 3> none_outside = {8, 4, 0};
  const std::array<std::ptrdiff_t, 2> strides = {8, 32};
  std::vector<std::byte> source(256);
  for (const auto& counts : {none_inside, none_outside}) {
    EXPECT_TRUE(ok(rma_put_strided(slices.at(target), strides.data(), source.data(), strides.data(),
                                   counts.data(), 2, target)));
    EXPECT_TRUE(ok(rma_put_strided(nullptr, nullptr, nullptr, nullptr, counts.data(), 2, target)));
  }
  slices.check();
}

}  // namespace
}  // namespace multi
