// Transfers of many short pieces to memory of the program on another rank of the host, which this rank does
// not map.

#include <array>
#include <numeric>

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
  for (const std::size_t pieces : {1U, 2U, 3U, 63U, 511U, 512U, 1023U, 1024U, 1025U, 5000U}) {
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
