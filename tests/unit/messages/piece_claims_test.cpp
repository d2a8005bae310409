#include "rings/piece_claims.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "messages/rings/envelope.hpp"

namespace librma {
namespace {

TEST(PieceClaims, TwoThreadsTakeEveryPieceOnce) {
  constexpr std::uint32_t kPieceCount = 20'000;
  PieceClaims claims;
  std::vector<std::atomic<int>> taken(kPieceCount);
  claims.open(7);
  const auto take_all = [&](PieceClaims::End end) {
    while (const auto piece = claims.take(7, kPieceCount, end))
      taken[*piece].fetch_add(1, std::memory_order_relaxed);
  };
  std::thread other(take_all, PieceClaims::End::back);
  take_all(PieceClaims::End::front);
  other.join();
  for (const std::atomic<int>& one : taken) EXPECT_EQ(one.load(), 1);
  EXPECT_FALSE(claims.take(7, kPieceCount, PieceClaims::End::front));
  EXPECT_FALSE(claims.take(7, kPieceCount, PieceClaims::End::back));
}

TEST(PieceClaims, EachEndIsTakenFromInItsOrder) {
  PieceClaims claims;
  claims.open(3);
  EXPECT_EQ(claims.take(3, 5, PieceClaims::End::front), 0U);
  EXPECT_EQ(claims.take(3, 5, PieceClaims::End::back), 4U);
  EXPECT_EQ(claims.take(3, 5, PieceClaims::End::back), 3U);
  EXPECT_EQ(claims.take(3, 5, PieceClaims::End::front), 1U);
  EXPECT_EQ(claims.take(3, 5, PieceClaims::End::back), 2U);
  EXPECT_FALSE(claims.take(3, 5, PieceClaims::End::front));
  EXPECT_FALSE(claims.take(3, 5, PieceClaims::End::back));
}

TEST(PieceClaims, OneEndTakesAllPieces) {
  for (const auto end : {PieceClaims::End::front, PieceClaims::End::back}) {
    PieceClaims claims;
    claims.open(1);
    for (std::uint32_t taken = 0; taken < PieceClaims::kMostPieces; ++taken) {
      const std::uint32_t expected =
          end == PieceClaims::End::front ? taken : PieceClaims::kMostPieces - 1 - taken;
      ASSERT_EQ(claims.take(1, PieceClaims::kMostPieces, end), expected);
    }
    EXPECT_FALSE(claims.take(1, PieceClaims::kMostPieces, end));
  }
}

TEST(PieceClaims, AProcessThatComesLateTakesNothing) {
  PieceClaims claims;
  claims.open(1);
  EXPECT_EQ(claims.take(1, 4, PieceClaims::End::front), 0U);
  claims.open(2);
  EXPECT_FALSE(claims.take(1, 4, PieceClaims::End::front));
  EXPECT_EQ(claims.take(2, 1, PieceClaims::End::front), 0U);
  EXPECT_FALSE(claims.take(2, 1, PieceClaims::End::front));
  claims.open(0xffffffff);
  EXPECT_EQ(claims.take(0xffffffff, 2, PieceClaims::End::front), 0U);
  EXPECT_EQ(claims.take(0xffffffff, 2, PieceClaims::End::front), 1U);
  EXPECT_FALSE(claims.take(0xffffffff, 2, PieceClaims::End::front));
  EXPECT_FALSE(claims.take(0, 2, PieceClaims::End::front))
      << "the number of the next transfer, which nobody has opened";
}

TEST(ShareHead, PiecesCoverTheMessage) {
  for (const std::uint64_t bytes : {1UL, 4096UL, 4097UL, 65536UL, 1000001UL}) {
    for (const std::uint32_t pages : {1U, 4U, 1000U}) {
      const ShareHead head = {.bytes = bytes, .pages = pages};
      ASSERT_TRUE(head.valid());
      std::size_t next = 0;
      for (std::uint32_t i = 0; i < head.pieces(); ++i) {
        const auto [begin, size] = head.piece(i);
        EXPECT_EQ(begin, next);
        EXPECT_GT(size, 0U);
        next = begin + size;
      }
      EXPECT_EQ(next, bytes);
    }
  }
}

TEST(ShareHead, NonsenseIsRefused) {
  EXPECT_FALSE((ShareHead{.bytes = 0, .pages = 1}.valid()));
  EXPECT_FALSE((ShareHead{.bytes = 100, .pages = 0}.valid()));
  EXPECT_FALSE((ShareHead{.bytes = UINT64_MAX, .pages = 1}.valid())) << "more pieces than can be counted";
  EXPECT_FALSE((ShareHead{.bytes = std::uint64_t{PieceClaims::kMostPieces} * 4096, .pages = 1}.valid()));
  EXPECT_TRUE((ShareHead{.bytes = std::uint64_t{PieceClaims::kMostPieces} * 4096 - 1, .pages = 1}.valid()));
  EXPECT_FALSE((ShareHead{.bytes = UINT64_MAX - 5, .pages = UINT32_MAX}.pieces() == 0));
}

}  // namespace
}  // namespace librma
