// Transfers of many short pieces to memory of the program on another rank of the host, which this rank does
// not map.

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

#include "harness.hpp"

namespace multi {
namespace {

struct Foreign {
  std::vector<std::uint32_t> words;
  std::vector<void*> everywhere;

  explicit Foreign(std::size_t count, std::uint32_t value)
      : words(count, value), everywhere(static_cast<std::size_t>(ranks())) {
    void* const mine = words.data();
    EXPECT_EQ(rma_register(mine, words.size() * sizeof words[0]), RMA_SUCCESS) << rma_last_error();
    EXPECT_EQ(rma_allgather(rma_team_world(), everywhere.data(), &mine, sizeof mine), RMA_SUCCESS);
  }
  ~Foreign() {
    barrier();
    EXPECT_EQ(rma_unregister(words.data()), RMA_SUCCESS);
  }
  Foreign(const Foreign&) = delete;
  Foreign& operator=(const Foreign&) = delete;
  [[nodiscard]] std::uint32_t* at(int rank) const {
    return static_cast<std::uint32_t*>(everywhere[static_cast<std::size_t>(rank)]);
  }
};

/// Puts and gets `pieces` pieces of `length` words, with gaps of `gap` words in the foreign memory.
void there_and_back(std::size_t pieces, std::size_t length, std::size_t gap, bool listed) {
  SCOPED_TRACE(testing::Message() << pieces << " pieces of " << length << " words, gaps of " << gap << ", "
                                  << (listed ? "listed" : "strided"));
  constexpr std::uint32_t kGap = 0xdeadbeef;
  const std::size_t stride = length + gap;
  Foreign foreign(pieces * stride, kGap);
  const auto value = [](int rank, std::size_t i) {
    return static_cast<std::uint32_t>(i * 2654435761U) ^ static_cast<std::uint32_t>(rank);
  };
  std::vector<std::uint32_t> out(pieces * length);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = value(me(), i);
  std::vector<std::uint32_t> back(out.size());
  const int target = neighbour(1);
  const std::array<std::size_t, 2> counts = {length * sizeof out[0], pieces};
  const std::array<std::ptrdiff_t, 1> wide = {static_cast<std::ptrdiff_t>(stride * sizeof out[0])};
  const std::array<std::ptrdiff_t, 1> dense = {static_cast<std::ptrdiff_t>(length * sizeof out[0])};
  if (listed) {
    std::vector<void*> there(pieces);
    std::vector<const void*> from(pieces);
    std::vector<void*> to(pieces);
    for (std::size_t i = 0; i < pieces; ++i) {
      there[i] = foreign.at(target) + i * stride;
      from[i] = out.data() + i * length;
      to[i] = back.data() + i * length;
    }
    const std::vector<const void*> read(there.begin(), there.end());
    const rma_iov_t put = {.dst = there.data(), .src = from.data(), .segments = pieces, .bytes = counts[0]};
    const rma_iov_t get = {.dst = to.data(), .src = read.data(), .segments = pieces, .bytes = counts[0]};
    EXPECT_EQ(rma_put_vector(&put, 1, target), RMA_SUCCESS) << rma_last_error();
    EXPECT_EQ(rma_get_vector(&get, 1, target), RMA_SUCCESS) << rma_last_error();
  } else {
    EXPECT_EQ(
        rma_put_strided(foreign.at(target), wide.data(), out.data(), dense.data(), counts.data(), 1, target),
        RMA_SUCCESS)
        << rma_last_error();
    EXPECT_EQ(
        rma_get_strided(back.data(), dense.data(), foreign.at(target), wide.data(), counts.data(), 1, target),
        RMA_SUCCESS)
        << rma_last_error();
  }
  EXPECT_EQ(back, out) << "what a blocking put has put is there";
  barrier();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < foreign.words.size(); ++i) {
    const std::size_t within = i % stride;
    const std::uint32_t expected =
        within < length ? value(neighbour(-1 + ranks()), i / stride * length + within) : kGap;
    if (foreign.words[i] != expected) ++wrong;
  }
  EXPECT_EQ(wrong, 0U);
}

TEST(ManyPieces, ThereAndBack) {
  // The sizes lie on both sides of the sizes at which the path changes, and of the limit of one system call.
  for (const std::size_t pieces : {1U, 2U, 3U, 63U, 600U, 601U, 1023U, 1024U, 1025U, 5000U}) {
    for (const std::size_t length : {1U, 5U, 300U}) {
      if (pieces * length > 400'000) continue;
      for (const std::size_t gap : {0U, 1U, 7U}) {
        there_and_back(pieces, length, gap, false);
        there_and_back(pieces, length, gap, true);
      }
    }
  }
}

TEST(ManyPieces, NeighboursInTwoRegionsAreReached) {
  constexpr std::size_t kHalf = 600;
  std::vector<std::uint32_t> words(2 * kHalf, 0);
  void* const mine = words.data();
  std::vector<void*> everywhere(static_cast<std::size_t>(ranks()));
  EXPECT_EQ(rma_register(mine, kHalf * sizeof words[0]), RMA_SUCCESS);
  EXPECT_EQ(rma_register(words.data() + kHalf, kHalf * sizeof words[0]), RMA_SUCCESS);
  EXPECT_EQ(rma_allgather(rma_team_world(), everywhere.data(), &mine, sizeof mine), RMA_SUCCESS);
  std::vector<std::uint32_t> out(2 * kHalf);
  std::iota(out.begin(), out.end(), 1U);
  auto* const there = static_cast<std::uint32_t*>(everywhere[static_cast<std::size_t>(neighbour(1))]);
  std::vector<void*> to;
  std::vector<const void*> from;
  for (std::size_t i = 0; i < out.size(); ++i) {
    to.push_back(there + i);
    from.push_back(out.data() + i);
  }
  const rma_iov_t put = {.dst = to.data(), .src = from.data(), .segments = to.size(), .bytes = sizeof out[0]};
  EXPECT_EQ(rma_put_vector(&put, 1, neighbour(1)), RMA_SUCCESS) << rma_last_error();
  barrier();
  EXPECT_EQ(words, out);
  barrier();
  EXPECT_EQ(rma_unregister(words.data()), RMA_SUCCESS);
  EXPECT_EQ(rma_unregister(words.data() + kHalf), RMA_SUCCESS);
}

/// Rounds of short puts and gets without a request, to all ranks and in two contexts. In a round none of them
/// touches what another one does. Each rank has a slice of the memory of each.
TEST(ManyPieces, WhatOnlyAFenceWaitsFor) {
  constexpr std::size_t kSlice = 40000;
  constexpr int kRounds = 30;
  const auto all = static_cast<std::size_t>(ranks());
  Foreign foreign(all * kSlice / sizeof(std::uint32_t), 0);
  std::vector<std::vector<std::byte>> model(all, std::vector<std::byte>(kSlice));
  std::mt19937_64 random(seed() + static_cast<std::uint64_t>(me()));
  std::array<rma_context_t, 2> contexts = {RMA_CONTEXT_DEFAULT, RMA_CONTEXT_DEFAULT};
  ASSERT_EQ(rma_context_create(&contexts[1]), RMA_SUCCESS);
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::vector<std::byte>> got = model;
    std::vector<std::size_t> reached(all);
    std::vector<std::byte> data;
    const std::size_t most = round % 3 == 0 ? 10 : round % 3 == 1 ? 80 : 4;
    for (std::size_t left = random() % 4000; left > 0; --left) {
      const std::size_t rank = random() % all;
      const std::size_t bytes = 1 + random() % most;
      std::size_t& at = reached[rank];
      at += random() % 2 == 0 ? 0 : random() % 9;
      if (at + bytes > kSlice) continue;
      auto* const there = reinterpret_cast<std::byte*>(foreign.at(static_cast<int>(rank))) +
                          static_cast<std::size_t>(me()) * kSlice + at;
      ASSERT_EQ(rma_context_use(contexts[random() % 2], nullptr), RMA_SUCCESS);
      if (random() % 3 != 0) {
        std::byte* const mine = model[rank].data() + at;
        std::generate_n(mine, bytes, [&] { return static_cast<std::byte>(random()); });
        std::copy_n(mine, bytes, got[rank].data() + at);
        ASSERT_EQ(rma_put_nbi(there, mine, bytes, static_cast<int>(rank)), RMA_SUCCESS) << rma_last_error();
      } else {
        std::fill_n(got[rank].data() + at, bytes, std::byte{0xee});
        ASSERT_EQ(rma_get_nbi(got[rank].data() + at, there, bytes, static_cast<int>(rank)), RMA_SUCCESS)
            << rma_last_error();
      }
      at += bytes;
    }
    for (const rma_context_t context : contexts) {
      ASSERT_EQ(rma_context_use(context, nullptr), RMA_SUCCESS);
      if (round % 2 == 0) {
        ASSERT_EQ(rma_fence_all(), RMA_SUCCESS) << rma_last_error();
      } else {
        for (int rank = 0; rank < ranks(); ++rank)
          ASSERT_EQ(rma_fence(rank), RMA_SUCCESS) << rma_last_error();
      }
    }
    ASSERT_EQ(got, model) << "round " << round;
    for (std::size_t rank = 0; rank < all; ++rank) {
      std::vector<std::byte> there(kSlice);
      const auto* const from = reinterpret_cast<const std::byte*>(foreign.at(static_cast<int>(rank))) +
                               static_cast<std::size_t>(me()) * kSlice;
      ASSERT_EQ(rma_get(there.data(), from, kSlice, static_cast<int>(rank)), RMA_SUCCESS);
      ASSERT_EQ(there, model[rank]) << "round " << round << ", rank " << rank;
    }
  }
  EXPECT_EQ(rma_context_use(RMA_CONTEXT_DEFAULT, nullptr), RMA_SUCCESS);
  EXPECT_EQ(rma_context_free(&contexts[1]), RMA_SUCCESS);
}

TEST(ManyPieces, AFenceReportsShortPutsToNowhere) {
  Foreign foreign(16, 0);
  std::uint32_t word = 1;
  auto* const nowhere = foreign.at(neighbour(1)) + (std::size_t{1} << 40U);
  EXPECT_EQ(rma_put_nbi(nowhere, &word, sizeof word, neighbour(1)), RMA_ERR_ADDRESS);
  EXPECT_EQ(rma_put_nbi(foreign.at(neighbour(1)) + me(), &word, sizeof word, neighbour(1)), RMA_SUCCESS);
  EXPECT_EQ(rma_fence(neighbour(1)), RMA_SUCCESS) << rma_last_error();
}

// Each would hold a request until the fence, of which there are 2^20, if puts that are complete were not
// reaped.
TEST(ManyPuts, ComeWithoutAFence) {
  constexpr std::size_t kPuts = (std::size_t{1} << 20U) + 10;
  constexpr std::size_t kWords = 1024;
  Foreign foreign(kWords, 0);
  const int target = neighbour(1);
  rma_status_t status = RMA_SUCCESS;
  for (std::size_t i = 0; i < kPuts && status == RMA_SUCCESS; ++i) {
    const auto value = static_cast<std::uint32_t>(i);
    status = rma_put_nbi(foreign.at(target) + i % kWords, &value, sizeof value, target);
  }
  EXPECT_EQ(status, RMA_SUCCESS) << rma_last_error();
  EXPECT_EQ(rma_fence(target), RMA_SUCCESS) << rma_last_error();
  barrier();
  for (std::size_t i = 0; i < kWords; ++i) {
    EXPECT_EQ(foreign.words[i], (kPuts - 1 - i) / kWords * kWords + i) << "word " << i;
  }
}

}  // namespace
}  // namespace multi
