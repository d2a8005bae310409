#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "../job_of_one.hpp"
#include "../seed.hpp"
#include "strided/strided.hpp"
#include "strided/vector.hpp"

namespace librma {
namespace {

using Bytes = std::vector<std::byte>;

Bytes noise(std::size_t bytes, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytes result(bytes);
  for (std::byte& byte : result) byte = static_cast<std::byte>(random());
  return result;
}

class Transfer : public JobOfOne {};

/// A regular layout of `levels` levels. Both sides have gaps between segments, of different sizes.
struct Layout {
  std::vector<std::size_t> counts;
  std::vector<std::ptrdiff_t> dst;
  std::vector<std::ptrdiff_t> src;
  std::size_t dst_bytes;
  std::size_t src_bytes;

  Layout(std::size_t segment, int levels) : counts{segment}, dst_bytes(segment + 8), src_bytes(segment + 16) {
    for (int i = 0; i < levels; ++i) {
      counts.push_back(static_cast<std::size_t>(2 + i % 2));
      dst.push_back(static_cast<std::ptrdiff_t>(dst_bytes));
      src.push_back(static_cast<std::ptrdiff_t>(src_bytes));
      dst_bytes = dst_bytes * counts.back() + 8;
      src_bytes = src_bytes * counts.back() + 16;
    }
  }
  [[nodiscard]] Result<StridedShape> shape() const {
    return StridedShape::make(counts.data(), dst.data(), src.data(), static_cast<int>(dst.size()));
  }
  /// Applies the transfer to `to`, as a model.
  void apply(Bytes& to, const Bytes& from) const {
    std::vector<std::size_t> index(dst.size(), 0);
    while (true) {
      std::size_t d = 0;
      std::size_t s = 0;
      for (std::size_t i = 0; i < index.size(); ++i) {
        d += index[i] * static_cast<std::size_t>(dst[i]);
        s += index[i] * static_cast<std::size_t>(src[i]);
      }
      std::memcpy(&to[d], &from[s], counts[0]);
      std::size_t i = 0;
      while (i < index.size() && ++index[i] == counts[i + 1]) index[i++] = 0;
      if (i == index.size()) return;
    }
  }
};

TEST_F(Transfer, EverySegmentSizeAndDepthPutsAndGets) {
  for (const std::size_t segment : {1U, 4U, 7U, 8U, 16U, 24U, 32U, 64U, 512U}) {
    for (int levels = 0; levels <= 6; ++levels) {
      SCOPED_TRACE(testing::Message() << segment << " bytes, " << levels << " levels");
      const Layout layout(segment, levels);
      auto shape = layout.shape();
      ASSERT_TRUE(shape.ok());
      const std::size_t most = std::max(layout.dst_bytes, layout.src_bytes);
      const Bytes source = noise(most, segment);
      Bytes expected(most, std::byte{0});
      layout.apply(expected, source);

      std::byte* const remote = heap(most);
      rma_request_t request = RMA_REQUEST_NULL;
      ASSERT_TRUE(put_strided({*job, *remote_access, nullptr}, remote, source.data(), shape.value(), 0,
                              {.kind = Ending::Kind::request, .request = &request})
                      .ok());
      EXPECT_EQ(request, kCompleteRequest);
      ASSERT_EQ(Bytes(remote, remote + most), expected);

      std::copy(source.begin(), source.end(), remote);
      Bytes got(most, std::byte{0});
      ASSERT_TRUE(
          get_strided({*job, *remote_access, nullptr}, got.data(), remote, shape.value(), 0, {}).ok());
      ASSERT_EQ(got, expected);
      ASSERT_TRUE(job->memory().allocator().free(MemoryKind::local, remote).ok());
    }
  }
}

TEST_F(Transfer, GoesDownwardFromABaseInTheMiddle) {
  std::byte* const remote = heap(256);
  const Bytes source = noise(256, 3);
  const std::size_t counts[] = {8, 4};
  const std::ptrdiff_t down[] = {-16};
  const std::ptrdiff_t up[] = {24};
  auto shape = StridedShape::make(counts, down, up, 1);
  ASSERT_TRUE(shape.ok());
  ASSERT_TRUE(
      put_strided({*job, *remote_access, nullptr}, remote + 128, source.data(), shape.value(), 0, {}).ok());
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(std::memcmp(remote + 128 - 16 * i, &source[24 * i], 8), 0) << i;
}

TEST_F(Transfer, WhatReachesOutOfTheHeapMovesNothing) {
  const rma_direct_peer_t& window = job->direct_table()[0];
  auto* const end = reinterpret_cast<std::byte*>(window.base + window.bytes);
  std::byte* const remote = heap(64);
  const Bytes source = noise(128, 4);
  const std::size_t counts[] = {8, 2};
  const std::ptrdiff_t far[] = {end - remote};
  const std::ptrdiff_t near[] = {16};
  auto shape = StridedShape::make(counts, far, near, 1);
  ASSERT_TRUE(shape.ok());
  const Status status =
      put_strided({*job, *remote_access, nullptr}, remote, source.data(), shape.value(), 0, {});
  EXPECT_EQ(status.code(), RMA_ERR_ADDRESS);
  EXPECT_EQ(Bytes(remote, remote + 64), Bytes(64, std::byte{0}));
}

TEST_F(Transfer, AnExtentThatWrapsIsASizeError) {
  std::byte* const remote = heap(64);
  Bytes local(64);
  const std::size_t counts[] = {8, 2};
  const std::ptrdiff_t near[] = {16};
  const std::ptrdiff_t far[] = {std::numeric_limits<std::ptrdiff_t>::min() + 64};
  auto shape = StridedShape::make(counts, near, far, 1);
  ASSERT_TRUE(shape.ok());
  EXPECT_EQ(put_strided({*job, *remote_access, nullptr}, remote, local.data(), shape.value(), 0, {}).code(),
            RMA_ERR_SIZE);
}

TEST_F(Transfer, RegisteredMemoryInSeveralRegionsIsReachedPieceByPiece) {
  // Two regions with a gap: no single lookup covers the extent, but every segment lies in one of them.
  Bytes foreign(4096, std::byte{0});
  const auto base = reinterpret_cast<std::uintptr_t>(foreign.data());
  ASSERT_TRUE(job->memory().user_regions().add(reinterpret_cast<std::byte*>(base), 64).ok());
  ASSERT_TRUE(job->memory().user_regions().add(reinterpret_cast<std::byte*>(base + 2048), 64).ok());
  const Bytes source = noise(128, 5);
  const std::size_t counts[] = {64, 2};
  const std::ptrdiff_t apart[] = {2048};
  const std::ptrdiff_t near[] = {64};
  auto shape = StridedShape::make(counts, apart, near, 1);
  ASSERT_TRUE(
      put_strided({*job, *remote_access, nullptr}, foreign.data(), source.data(), shape.value(), 0, {}).ok());
  EXPECT_EQ(std::memcmp(&foreign[0], &source[0], 64), 0);
  EXPECT_EQ(std::memcmp(&foreign[2048], &source[64], 64), 0);
  Bytes back(128);
  auto reverse = StridedShape::make(counts, near, apart, 1);
  ASSERT_TRUE(
      get_strided({*job, *remote_access, nullptr}, back.data(), foreign.data(), reverse.value(), 0, {}).ok());
  EXPECT_EQ(back, source);
  const std::size_t three[] = {64, 3};  // the third segment lies in neither
  auto beyond = StridedShape::make(three, apart, near, 1);
  foreign[0] = ~foreign[0];
  const std::byte before = foreign[0];
  EXPECT_EQ(put_strided({*job, *remote_access, nullptr}, foreign.data(), source.data(), beyond.value(), 0, {})
                .code(),
            RMA_ERR_ADDRESS);
  EXPECT_EQ(foreign[0], before);
}

TEST_F(Transfer, AccumulatesEveryElementOnce) {
  auto* const remote = reinterpret_cast<double*>(heap(64 * sizeof(double)));
  for (int i = 0; i < 64; ++i) remote[i] = i;
  std::vector<double> source(32);
  std::iota(source.begin(), source.end(), 100.0);
  const std::size_t counts[] = {2 * sizeof(double), 4};
  const std::ptrdiff_t dst[] = {8 * sizeof(double)};
  const std::ptrdiff_t src[] = {3 * sizeof(double)};
  auto shape = StridedShape::make(counts, dst, src, 1);
  const double scale = 2;
  ASSERT_TRUE(acc_strided(*accumulator, remote, source.data(), shape.value(), RMA_DOUBLE, &scale, 0).ok());
  for (std::size_t i = 0; i < 64; ++i) {
    const bool touched = i < 32 && i % 8 < 2;
    const double added = touched ? 2 * source[i / 8 * 3 + i % 8] : 0;
    EXPECT_EQ(remote[i], static_cast<double>(i) + added) << i;
  }
}

TEST_F(Transfer, AccumulatesSegmentsThatLieUnderSeveralLocks) {
  // The rows go downward. Each ends in another stripe than it begins in, some by only one part of a complex
  // element.
  constexpr std::size_t kRow = StripeLocks::kStripeBytes + 48;
  constexpr std::size_t kRows = 5;
  constexpr std::ptrdiff_t kDown = -static_cast<std::ptrdiff_t>(kRow + 24);
  auto* const remote = reinterpret_cast<double*>(heap((kRow + 24) * kRows + sizeof(double)));
  const std::size_t words = (kRow + 24) * kRows / sizeof(double) + 1;
  for (std::size_t i = 0; i < words; ++i) remote[i] = static_cast<double>(i);
  std::vector<double> source(kRow / sizeof(double) * kRows);
  std::iota(source.begin(), source.end(), 1.0);
  const std::size_t counts[] = {kRow, kRows};
  const std::ptrdiff_t dst[] = {kDown};
  const std::ptrdiff_t src[] = {static_cast<std::ptrdiff_t>(kRow)};
  auto shape = StridedShape::make(counts, dst, src, 1);
  const double i_unit[] = {0.0, 1.0};
  double* const last_row = remote + (kRow + 24) * (kRows - 1) / sizeof(double) + 1;
  ASSERT_TRUE(
      acc_strided(*accumulator, last_row, source.data(), shape.value(), RMA_COMPLEX_DOUBLE, i_unit, 0).ok());
  std::vector<double> expected(words);
  std::iota(expected.begin(), expected.end(), 0.0);
  for (std::size_t row = 0; row < kRows; ++row) {
    double* const to = expected.data() + (last_row - remote) + static_cast<std::ptrdiff_t>(row) * kDown / 8;
    const double* const from = source.data() + row * kRow / sizeof(double);
    for (std::size_t i = 0; i < kRow / sizeof(double); i += 2) {
      to[i] -= from[i + 1];
      to[i + 1] += from[i];
    }
  }
  EXPECT_EQ(std::vector<double>(remote, remote + words), expected);
}

TEST_F(Transfer, AccumulateRefusesPartsOfElements) {
  std::byte* const remote = heap(128);
  Bytes source(128);
  const auto code = [&](std::byte* to, std::size_t bytes, std::ptrdiff_t stride) {
    const std::size_t counts[] = {bytes, 2};
    auto shape = StridedShape::make(counts, &stride, &stride, 1);
    return acc_strided(*accumulator, to, source.data(), shape.value(), RMA_DOUBLE, nullptr, 0).code();
  };
  EXPECT_EQ(code(remote, 12, 32), RMA_ERR_SIZE);
  EXPECT_EQ(code(remote, 4, 4), RMA_ERR_SIZE);  // joined, it would be one element
  EXPECT_EQ(code(remote + 4, 8, 32), RMA_ERR_ALIGNMENT);
  EXPECT_EQ(code(remote, 8, 20), RMA_ERR_ALIGNMENT);
  EXPECT_EQ(code(remote, 8, 32), RMA_SUCCESS);
}

struct Lists {
  std::vector<void*> dst;
  std::vector<const void*> src;
  [[nodiscard]] rma_iov_t descriptor(std::size_t bytes) const {
    return {.dst = dst.data(), .src = src.data(), .segments = dst.size(), .bytes = bytes};
  }
};

TEST_F(Transfer, VectorsOfEveryPieceSizeScatteredAndJoined) {
  std::mt19937_64 random(test_seed());
  for (const std::size_t piece : {4U, 8U, 13U, 16U, 32U, 64U, 200U}) {
    for (const bool scattered : {true, false}) {
      SCOPED_TRACE(testing::Message() << piece << " bytes, scattered " << scattered);
      constexpr std::size_t kPieces = 100;
      std::byte* const remote = heap(piece * kPieces);
      const Bytes source = noise(piece * kPieces, random());
      std::vector<std::size_t> order(kPieces);
      std::iota(order.begin(), order.end(), std::size_t{0});
      if (scattered) std::shuffle(order.begin(), order.end(), random);
      Lists put;
      Lists get;
      Bytes back(piece * kPieces);
      for (std::size_t i = 0; i < kPieces; ++i) {
        put.dst.push_back(remote + order[i] * piece);
        put.src.push_back(&source[i * piece]);
        get.dst.push_back(&back[i * piece]);
        get.src.push_back(remote + order[i] * piece);
      }
      const rma_iov_t out[] = {put.descriptor(piece), {nullptr, nullptr, 0, 8}, {nullptr, nullptr, 3, 0}};
      ASSERT_TRUE(put_vector({*job, *remote_access, nullptr}, out, 0, {}).ok());
      for (std::size_t i = 0; i < kPieces; ++i) {
        ASSERT_EQ(std::memcmp(remote + order[i] * piece, &source[i * piece], piece), 0) << i;
      }
      const rma_iov_t in = get.descriptor(piece);
      ASSERT_TRUE(get_vector({*job, *remote_access, nullptr}, {&in, 1}, 0, {}).ok());
      ASSERT_EQ(back, source);
      ASSERT_TRUE(job->memory().allocator().free(MemoryKind::local, remote).ok());
    }
  }
}

TEST_F(Transfer, VectorsCrossNeighbouringRegionsPieceByPiece) {
  Bytes foreign(256, std::byte{0});
  const auto base = reinterpret_cast<std::uintptr_t>(foreign.data());
  ASSERT_TRUE(job->memory().user_regions().add(reinterpret_cast<std::byte*>(base), 64).ok());
  ASSERT_TRUE(job->memory().user_regions().add(reinterpret_cast<std::byte*>(base + 64), 64).ok());
  const Bytes source = noise(128, 6);
  const Lists lists = {{&foreign[0], &foreign[64]}, {&source[0], &source[64]}};
  const rma_iov_t iov = lists.descriptor(64);
  ASSERT_TRUE(put_vector({*job, *remote_access, nullptr}, {&iov, 1}, 0, {}).ok());
  EXPECT_EQ(std::memcmp(foreign.data(), source.data(), 128), 0);
}

TEST_F(Transfer, AVectorWithOneBadPieceMovesNothing) {
  std::byte* const remote = heap(64);
  const Bytes source = noise(64, 7);
  std::byte elsewhere{};
  const auto code = [&](void* dst, const void* src) {
    const Lists lists = {{remote, dst}, {source.data(), src}};
    const rma_iov_t iov = lists.descriptor(8);
    return put_vector({*job, *remote_access, nullptr}, {&iov, 1}, 0, {}).code();
  };
  EXPECT_EQ(code(nullptr, source.data()), RMA_ERR_ARGUMENT);
  EXPECT_EQ(code(remote + 8, nullptr), RMA_ERR_ARGUMENT);
  EXPECT_EQ(code(&elsewhere, source.data()), RMA_ERR_ADDRESS);
  EXPECT_EQ(code(reinterpret_cast<void*>(UINTPTR_MAX - 3), source.data()), RMA_ERR_SIZE);
  EXPECT_EQ(code(remote + 8, reinterpret_cast<void*>(UINTPTR_MAX - 3)), RMA_ERR_SIZE);
  EXPECT_EQ(Bytes(remote, remote + 64), Bytes(64, std::byte{0}));
  EXPECT_EQ(code(remote + 8, source.data()), RMA_SUCCESS);
}

TEST_F(Transfer, VectorsAccumulateAndRefusePartsOfElements) {
  auto* const remote = reinterpret_cast<int*>(heap(64));
  const std::vector<int> source = {1, 2, 3, 4};
  const Lists lists = {{remote + 4, remote}, {&source[0], &source[2]}};
  rma_iov_t iov = lists.descriptor(8);
  const int scale = 10;
  ASSERT_TRUE(acc_vector(*accumulator, {&iov, 1}, RMA_INT, &scale, 0).ok());
  EXPECT_EQ(std::vector<int>(remote, remote + 6), (std::vector<int>{30, 40, 0, 0, 10, 20}));
  iov.bytes = 6;
  EXPECT_EQ(acc_vector(*accumulator, {&iov, 1}, RMA_INT, &scale, 0).code(), RMA_ERR_SIZE);
  const Lists crooked = {{reinterpret_cast<std::byte*>(remote) + 2}, {&source[0]}};
  iov = crooked.descriptor(4);
  EXPECT_EQ(acc_vector(*accumulator, {&iov, 1}, RMA_INT, &scale, 0).code(), RMA_ERR_ALIGNMENT);
}

}  // namespace
}  // namespace librma
